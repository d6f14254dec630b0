package eval

import (
	"strings"
	"sync"

	"dbg/arch"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Code is an expression of a view, compiled for a class: members are offsets, and intrinsics are part of
// it. Its result is the same as that of Expression.Evaluate. It is immutable.
type Code struct {
	code   []instruction
	result Value // without what Run finds
	place  bool  // Run finds the address; otherwise the number
	arch   *arch.Arch
}

// CodeScope is the class for which an expression is compiled.
type CodeScope struct {
	Scope Scope       // of any object; it is asked for types and constants only
	This  *types.Type // of the object, or of the node
	// Intrinsic finds a function of the view. It may be nil.
	Intrinsic func(name string, args int) (params []string, body *Expression, ok bool)
}

// The names that stand for the registers of a Code: no expression has them.
const (
	codeThis  = "this"
	codeIndex = "\x00i"
)

// maxInlined limits the nodes of an expression with its intrinsics.
const maxInlined = 2000

// CompileView compiles an expression of a view. It returns nil if only Evaluate can evaluate it.
func CompileView(x *Expression, s *CodeScope) *Code {
	a := s.Scope.Arch()
	if a.PtrSize != 8 || a.ByteOrder.String() != "LittleEndian" || len(a.General) < 2 || s.This == nil {
		return nil
	}
	in := &inliner{s: s}
	n := in.copy(x.tree, nil)
	if in.failed {
		return nil
	}
	env := &placeEnv{Env: &codeEnv{s.Scope, s}, found: map[string]symbol{}, types: map[string]*types.Type{},
		c: &ProgramContext{Arch: a, Language: s.Scope.(Speaker).Language()}}
	env.c.Env = env.Env
	k := &compiler{c: env.c, env: env, types: evaluator{env: env}}
	o, err := k.eval(n)
	if err == nil {
		o, err = k.follow(o)
	}
	if err != nil {
		return nil
	}
	c := &Code{place: o.at == inMemory, arch: a}
	if !c.place {
		if o, err = k.read(o); err != nil || o.at != onStack || !isIntegral(o.typ()) || o.v.BitSize > 0 {
			return nil
		}
	}
	c.result = Value{Type: o.typ(), Name: o.v.Name, BitSize: o.v.BitSize, BitOffset: o.v.BitOffset}
	if k.lost != nil || k.deepest > stackSize || len(k.code) > maxCode || k.depth != 1 || o.typ() == nil || o.typ().IsDynamic() {
		return nil
	}
	c.code = k.code
	return c
}

// inliner copies the tree of an expression, and replaces calls of intrinsics by their bodies.
type inliner struct {
	s      *CodeScope
	nodes  int
	depth  int
	failed bool
}

// copy copies a tree. args are the arguments of the intrinsic whose body it is.
func (in *inliner) copy(n *node, args map[string]*node) *node {
	in.nodes++
	if n == nil || in.failed || in.nodes > maxInlined {
		in.failed = in.failed || n != nil
		return nil
	}
	switch n.op {
	case "name":
		if a, ok := args[n.text]; ok {
			return in.copy(a, nil) // it is a copy already
		}
		return n
	case "$":
		return in.dollar(n)
	case "call":
		return in.call(n, args)
	case "value", "type":
		return n
	case "slice", "as", "assert", "@", "u++", "u--", "p++", "p--", ",":
		in.failed = true
		return nil
	}
	if strings.HasSuffix(n.op, "=") && n.op != "==" && n.op != "!=" && n.op != "<=" && n.op != ">=" {
		in.failed = true
		return nil
	}
	c := *n
	if n.a != nil {
		c.a = in.copy(n.a, args)
	}
	if n.b != nil {
		c.b = in.copy(n.b, args)
	}
	if n.c != nil {
		c.c = in.copy(n.c, args)
	}
	return &c
}

// dollar replaces $i by a register, and template arguments by their values.
func (in *inliner) dollar(n *node) *node {
	if n.text == "i" {
		return &node{op: "name", text: codeIndex}
	}
	v, ok := in.s.Scope.Convenience(n.text)
	if !ok || !strings.HasPrefix(n.text, "T") || v.Bytes == nil {
		in.failed = true
		return nil
	}
	return &node{op: "value", value: v}
}

func (in *inliner) call(n *node, args map[string]*node) *node {
	in.failed = in.failed || in.depth > maxNesting || n.a == nil || n.a.op != "name" || in.s.Intrinsic == nil
	if in.failed {
		return nil
	}
	params, body, ok := in.s.Intrinsic(n.a.text, len(n.args))
	if !ok || body == nil || body.tree.op == "type" || len(params) != len(n.args) {
		in.failed = true
		return nil
	}
	inner := map[string]*node{}
	for i, p := range params {
		inner[p] = in.copy(n.args[i], args)
	}
	in.depth++
	defer func() { in.depth-- }()
	return in.copy(body.tree, inner)
}

// codeEnv is the Env in which a view's expression is compiled.
type codeEnv struct {
	Scope
	s *CodeScope
}

// Variable implements Env. Members of the object are found through "this".
func (e *codeEnv) Variable(name string) (Value, error) {
	a := e.Scope.Arch()
	switch name {
	case codeThis:
		return Value{Type: pointerTo(e.s.This, a.PtrSize), InReg: true, Reg: a.General[0]}, nil
	case codeIndex:
		return Value{Type: typeLong, InReg: true, Reg: a.General[1]}, nil
	case "self":
		return Value{}, &NotFoundError{Name: name}
	}
	if _, ok, err := memberPath(e.s.This, name, 0); ok || err != nil || e.Scope.Type(name) != nil {
		return Value{}, &NotFoundError{Name: name}
	}
	return Value{}, notCompiled("a name that is not a member")
}

// View implements Viewer.
func (e *codeEnv) View(v Value) View {
	if w, ok := e.Scope.(Viewer); ok {
		return w.View(v)
	}
	return nil
}

// Language implements Speaker.
func (e *codeEnv) Language() lang.Lang { return e.Scope.(Speaker).Language() }

var codeRegisters = sync.Pool{New: func() any { return new(arch.Registers) }}

// Run evaluates the code for an object at an address, and $i. ok is false if Evaluate must be used: the
// memory can't be read, or the expression has no value.
func (c *Code) Run(this target.Addr, index int64, mem target.Memory) (v Value, ok bool) {
	regs := codeRegisters.Get().(*arch.Registers)
	regs.Arch = c.arch
	regs.Set(c.arch.General[0], uint64(this))
	regs.Set(c.arch.General[1], uint64(index))
	m := machines.Get().(*machine)
	m.mem, m.lines[0].full, m.lines[1].full = mem, false, false
	u, ok := m.run(c.code, regs)
	m.mem = nil
	machines.Put(m)
	codeRegisters.Put(regs)
	if !ok {
		return v, false
	}
	v = c.result
	if c.place {
		v.Addr, v.HasAddr = target.Addr(u), true
		return v, true
	}
	b, err := encode(number{i: u, signed: isSigned(v.Type)}, v.Type)
	v.Bytes = b
	return v, err == nil
}
