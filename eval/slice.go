package eval

import (
	"encoding/binary"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// subscript parses what is in brackets: an index, or a slice: [1..3], [..=2] in Rust, [1:2] in Go.
func (p *parser) subscript(n *node) *node {
	atSlice := func() bool { return p.is("..") || p.is("..=") || p.is(":") }
	var lo *node
	if !atSlice() {
		lo = p.comma()
	}
	if !atSlice() {
		p.expect("]")
		return p.node(node{op: "[]", a: n, b: lo})
	}
	op := p.tok.text
	p.advance()
	s := p.node(node{op: "slice", text: op, a: n, b: lo})
	if !p.is("]") {
		s.c = p.comma()
	}
	p.expect("]")
	return s
}

// slice evaluates v[1..3] and s[1:2]. A string, and a slice of Go, stays of its type. Other slices
// are arrays.
func (e *evaluator) slice(n *node) (Value, error) {
	v, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	if v, err = e.rustPlace(v); err != nil {
		return Value{}, err
	}
	s, ok := sequenceOf(v, e.env)
	if !ok {
		t := v.Type.Strip()
		if t.Kind != types.Array || !v.HasAddr || sizeOf(elemOf(t)) <= 0 {
			return Value{}, errorf("cannot slice something of type `%s'", TypeName(v))
		}
		s = sequence{elem: elemOf(t), addr: v.Addr, count: sizeOf(t) / sizeOf(elemOf(t))}
		s.capacity = s.count
	}
	lo, hi := int64(0), s.count
	if lo, err = e.bound(n.b, lo); err != nil {
		return Value{}, err
	}
	if hi, err = e.bound(n.c, hi); err != nil {
		return Value{}, err
	}
	most := s.count
	if n.text == "..=" && n.c != nil {
		hi++
	}
	if isGo(v.Type) && !s.text {
		most = s.capacity
	}
	if lo < 0 || hi < lo || hi > most {
		return Value{}, errorf("slice bounds out of range: %d to %d of %d", lo, hi, most)
	}
	if ok && (s.text || isGo(v.Type)) {
		return e.resliced(v, &s, lo, hi)
	}
	if hi == lo {
		return Words("", "[]"), nil
	}
	a, ok := arrayOf(s.elem, hi-lo)
	if !ok {
		return Value{}, errorf("cannot slice something of type `%s'", TypeName(v))
	}
	a.Lang = v.Type.Strip().Lang
	return Value{Type: a, Addr: s.addr + target.Addr(lo*sizeOf(s.elem)), HasAddr: true}, nil
}

// bound evaluates a bound of a slice.
func (e *evaluator) bound(n *node, otherwise int64) (int64, error) {
	if n == nil {
		return otherwise, nil
	}
	v, err := e.operand(n)
	if err != nil {
		return 0, err
	}
	i, err := numberOf(v)
	return int64(i.integer()), err
}

// resliced returns a string or a slice with other bounds. It is not in memory.
func (e *evaluator) resliced(v Value, s *sequence, lo, hi int64) (Value, error) {
	v = load(v, e.env)
	if err := availabilityError(v); err != nil {
		return Value{}, err
	}
	if v.Type.Strip().Lang == lang.Rust && v.Type.Strip().Name != "&str" {
		if t := e.env.Type("&str"); t != nil && sizeOf(t) == 16 {
			v = Value{Type: t, Bytes: make([]byte, 16)}
		}
	}
	out := Value{Type: v.Type, Bytes: append([]byte(nil), v.Bytes...)}
	fields := v.Type.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		n := int64(0)
		switch f.Name {
		case "str", "array", "data_ptr":
			n = int64(s.addr) + lo*sizeOf(s.elem)
		case "len", "length":
			n = hi - lo
		case "cap":
			n = s.capacity - lo
		default:
			return Value{}, errorf("cannot slice something of type `%s'", TypeName(v))
		}
		if f.Offset < 0 || f.Offset+8 > int64(len(out.Bytes)) {
			return Value{}, errorf("cannot slice something of type `%s'", TypeName(v))
		}
		binary.LittleEndian.PutUint64(out.Bytes[f.Offset:], uint64(n))
	}
	return out, nil
}

// sameText compares two strings of Go or Rust, or one with a literal. ok is false if they are none.
func (e *evaluator) sameText(op string, a, b Value) (v Value, ok bool, err error) {
	if !isStruct(a.Type) && !isStruct(b.Type) {
		return Value{}, false, nil
	}
	x, ok1 := textOf(a, e.env)
	y, ok2 := textOf(b, e.env)
	if !ok1 || !ok2 {
		return Value{}, false, nil
	}
	return truthValue((string(x) == string(y)) == (op == "=="), nil), true, nil
}

// speaks reports whether the selected frame has a language.
func (e *evaluator) speaks(l lang.Lang) bool {
	s, ok := e.env.(Speaker)
	return ok && s.Language() == l
}

// isRust reports whether a type is one of Rust.
func isRust(t *types.Type) bool { return t != nil && t.Strip().Lang == lang.Rust }

// isRustReference reports whether a type is a reference or a Box, which the language follows by
// itself. A raw pointer is not.
func isRustReference(t *types.Type) bool {
	if kindOf(t) != types.Pointer || !isRust(t) {
		return false
	}
	name := t.Strip().Name
	return strings.HasPrefix(name, "&") || strings.HasPrefix(unqualified(name), "Box<")
}
