package eval

import (
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// goTypes are Go's numbers, which a program need not have, and their other names.
var goTypes = func() map[string]*types.Type {
	m := map[string]*types.Type{}
	add := func(k types.Kind, name string, size int64, signed bool) {
		m[name] = types.New(k, name, size, signed, nil)
		m[name].Lang = lang.Go
	}
	for name, size := range map[string]int64{"": 8, "8": 1, "16": 2, "32": 4, "64": 8} {
		add(types.Int, "int"+name, size, true)
		add(types.Uint, "uint"+name, size, false)
	}
	add(types.Uint, "uintptr", 8, false)
	add(types.Float, "float32", 4, true)
	add(types.Float, "float64", 8, true)
	m["byte"], m["rune"] = m["uint8"], m["int32"]
	return m
}()

// goType returns a type of Go that the debug information does not have by this name.
func goType(name string, env Env) *types.Type {
	t := goTypes[name]
	if t == nil {
		return nil
	}
	if own := env.Type(t.Name); own != nil {
		return own
	}
	return t
}

// promotedField finds a field of an embedded structure: The Go Programming Language Specification,
// "Selectors". The shallowest one counts; two at the same depth are ambiguous, and none is found. A field
// with the name of its type is taken for an embedded one.
func promotedField(v Value, name string, env Env) (Value, bool) {
	level := []Value{v}
	for range 8 {
		var next, found []Value
		for _, s := range level {
			fields := s.Type.Strip().Fields()
			for i := range fields {
				f := &fields[i]
				m := fieldOf(s, f, env)
				if f.Name == name {
					found = append(found, m)
					continue
				}
				if kindOf(m.Type) == types.Pointer && isEmbedded(f.Name, elemOf(m.Type)) && env != nil {
					if p, err := indirect(m, env); err == nil {
						m = p
					}
				}
				if isEmbedded(f.Name, m.Type) && len(next) < 64 {
					next = append(next, m)
				}
			}
		}
		if len(found) > 0 || len(next) == 0 {
			if len(found) == 1 {
				return found[0], true
			}
			return Value{}, false
		}
		level = next
	}
	return Value{}, false
}

func isEmbedded(name string, t *types.Type) bool {
	if !isStruct(t) {
		return false
	}
	full := t.Strip().Name
	return full == name || strings.HasSuffix(full, "."+name)
}

// goComplex evaluates real(z) and imag(z) of Go.
func (e *evaluator) goComplex(n *node) (v Value, done bool, err error) {
	if n.a.op != "name" || n.a.text != "real" && n.a.text != "imag" || len(n.args) != 1 || !e.speaks(lang.Go) {
		return Value{}, false, nil
	}
	if _, err := e.env.Variable(n.a.text); err == nil {
		return Value{}, false, nil // the program has its own
	}
	z, err := e.operand(n.args[0])
	if err != nil {
		return Value{}, true, err
	}
	if kindOf(z.Type) != types.Complex {
		return Value{}, true, errorf("invalid argument of %s: a value of type %s", n.a.text, TypeName(z))
	}
	re, im, err := complexParts(z)
	if err != nil {
		return Value{}, true, err
	}
	if n.a.text == "imag" {
		re = im
	}
	v, err = newValue(complexElem(z.Type), re)
	return v, true, err
}

// literalMethod evaluates len() and is_empty() of a string literal of Rust.
func (e *evaluator) literalMethod(n *node) (v Value, done bool, err error) {
	if n.a.op != "." || n.a.a.op != "value" || len(n.args) != 0 || !e.speaks(lang.Rust) {
		return Value{}, false, nil
	}
	b, ok := textOf(n.a.a.value, e.env)
	switch {
	case ok && n.a.text == "len":
		return intValue(typeUlong, uint64(len(b))), true, nil
	case ok && n.a.text == "is_empty":
		return Bool(len(b) == 0), true, nil
	}
	return Value{}, false, nil
}
