package view

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
	"dbg/target"
)

// Verify makes every compiled expression be evaluated by the tree, too, and panics if the results differ.
// It is set by tests, for which Compiled counts the results.
var (
	Verify   atomic.Bool
	Compiled atomic.Int64
)

// compileAfter is how often an expression is evaluated before it is compiled: most are needed once.
const compileAfter = 2

// run evaluates a compiled expression for an object or a node in memory. It returns false if the
// expression must be evaluated by its tree: that one also finds out why there is no value.
func (o *object) run(p *parsed, s *scope) (v eval.Value, ok bool) {
	if s.vars != nil || s.blind || !s.this.HasAddr || s.this.Avail != eval.Available || s.this.BitSize > 0 {
		return v, false
	}
	if p.uses++; p.uses < compileAfter {
		return v, false
	}
	if !p.tried {
		p.tried = true
		p.code = o.compile(p.x, s)
	}
	if p.code == nil {
		return v, false
	}
	var mem target.Memory = s
	if b := s.this.Bytes; b != nil {
		mem = &snapshot{s, s.this.Addr, b}
	}
	v, ok = p.code.Run(s.this.Addr, s.index, mem)
	if ok && Verify.Load() {
		Compiled.Add(1)
		o.verify(p, s, v)
	}
	return v, ok
}

func (o *object) compile(x *eval.Expression, s *scope) *eval.Code {
	this := o.typ
	find := o.inlined
	if s.node != nil {
		this, find = s.node, nil // an intrinsic is about the object
	}
	return eval.CompileView(x, &eval.CodeScope{Scope: s, This: this, Intrinsic: find})
}

// inlined returns what a call of an intrinsic stands for.
func (o *object) inlined(name string, args int) (params []string, body *eval.Expression, ok bool) {
	in := o.intrinsic(name, args)
	if functions[name] != nil || in == nil || in.Varargs {
		return nil, nil, false
	}
	if f := &in.Expression.Spec; f.Size != nil || f.Format != natvis.DefaultFormat || f.Has(natvis.Raw) {
		return nil, nil, false
	}
	s := o.scope()
	if len(in.Params) > 0 {
		s.vars = map[string]eval.Value{}
	}
	for _, p := range in.Params {
		params = append(params, p.Name)
		if p.Name != "" {
			s.vars[p.Name] = eval.Value{}
		}
	}
	body, err := o.parse(&in.Expression, s)
	return params, body, err == nil
}

// snapshot is memory in which an object has the bytes that were read before: a value of the history does
// not change.
type snapshot struct {
	*scope
	at    addr
	bytes []byte
}

// ReadMemory implements target.Memory.
func (m *snapshot) ReadMemory(a addr, b []byte) (int, error) {
	if off := a - m.at; off < addr(len(m.bytes)) && addr(len(b)) <= addr(len(m.bytes))-off {
		return copy(b, m.bytes[off:]), nil
	}
	n, err := m.scope.ReadMemory(a, b)
	switch off := a - m.at; {
	case off < addr(len(m.bytes)): // it begins in the object
		copy(b[:n], m.bytes[off:])
	case -off < addr(n): // it begins before the object
		copy(b[-off:n], m.bytes)
	}
	return n, err
}

// verify compares with what the tree says.
func (o *object) verify(p *parsed, s *scope, got eval.Value) {
	want, err := p.x.Evaluate(s)
	g, w := eval.Fetch(got, s), eval.Fetch(want, s)
	same := err == nil && g.Avail == w.Avail && reflect.DeepEqual(g.Bytes, w.Bytes) && sameType(g.Type, w.Type) &&
		got.HasAddr == want.HasAddr && got.Addr == want.Addr && got.BitSize == want.BitSize && got.BitOffset == want.BitOffset
	if !same {
		panic(fmt.Sprintf("%s: %s at %v: compiled %v %+v, evaluated %v %+v (%v)", o.name, p.text, s.this.Addr, g.Type, g, w.Type, w, err))
	}
}

func sameType(a, b *types.Type) bool {
	return a == b || a != nil && b != nil && a.String() == b.String()
}
