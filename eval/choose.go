package eval

import (
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// choose evaluates c ? a : b. Only one side is evaluated, but both decide about the type: C17, section
// 6.5.15.
func (e *evaluator) choose(n *node) (Value, error) {
	yes, err := e.truth(n.a)
	if err != nil {
		return Value{}, err
	}
	taken, left := n.b, n.c
	if !yes {
		taken, left = left, taken
	}
	v, err := e.eval(taken)
	if err != nil {
		return Value{}, err
	}
	e.dry++
	other, err := e.eval(left)
	e.dry--
	if err != nil {
		return v, nil // the side that is not taken may be anything
	}
	t := e.chosenType(v, other)
	if t == nil {
		return v, nil
	}
	if v, err = e.read(v); err != nil {
		return Value{}, err
	}
	return e.cast(t, v)
}

// chosenType returns the type to which a side of a choice is converted, or nil if it stays as it is.
func (e *evaluator) chosenType(v, other Value) *types.Type {
	a, b := v.Type, other.Type
	if isReference(a) {
		a = elemOf(a)
	}
	if isReference(b) {
		b = elemOf(b)
	}
	switch {
	case a == nil || b == nil || isRust(a) || isRust(b) || isGo(a) || isGo(b) || e.speaks(lang.Rust) || e.speaks(lang.Go):
		return nil
	case kindOf(b) == types.Pointer && isNull(v):
		return b
	case !isNumeric(a) || !isNumeric(b) || equivalent(a, b) && v.BitSize == 0:
		return nil
	}
	one := func(v Value, t *types.Type) Value {
		o := operand{v: Value{Type: t, BitSize: v.BitSize}}
		s := o.one()
		s.enumerator = v.enumerator
		return s
	}
	sum, err := e.operate("+", one(v, a), one(other, b))
	if err != nil {
		return nil
	}
	return sum.Type
}

// isNull reports whether a value is a constant 0, which is a null pointer.
func isNull(v Value) bool {
	return kindOf(v.Type) == types.Int && !v.HasAddr && !v.InReg && v.register == "" && len(v.Bytes) > 0 &&
		strings.Trim(string(v.Bytes), "\x00") == ""
}

// isNumeric reports whether C computes with values of a type.
func isNumeric(t *types.Type) bool {
	switch kindOf(t) {
	case types.Bool, types.Int, types.Uint, types.Char, types.Enum, types.Float, types.Complex:
		return true
	}
	return false
}
