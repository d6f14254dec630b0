package eval

import (
	"errors"

	"dbg/symbols/types"
)

// branch compiles c ? a : b. The sides are compiled by their functions.
func (k *compiler) branch(c *node, a, b func() error) error {
	if err := k.truth(c, "?"); err != nil {
		return err
	}
	other := k.jump(opJumpZero)
	depth := k.depth
	if err := a(); err != nil {
		return err
	}
	end := k.jump(opJump)
	k.land(other)
	k.depth = depth
	if err := b(); err != nil {
		return err
	}
	k.land(end)
	return nil
}

// chooseTruth compiles a choice of which only the truth value is used.
func (k *compiler) chooseTruth(n *node, op string) error {
	side := func(n *node) func() error {
		return func() error {
			if err := k.truth(n, op); err != nil {
				return err
			}
			k.emit(instruction{op: opNonzero})
			return nil
		}
	}
	return k.branch(n.a, side(n.b), side(n.c))
}

// choose compiles c ? a : b. The evaluator returns the value of one side with its type. A program
// has one type for both sides.
func (k *compiler) choose(n *node) (operand, error) {
	m := k.mark()
	var a, b operand
	var err error
	// First find the types of the sides.
	lvalue := true
	if a, err = k.eval(n.b); err == nil {
		lvalue = a.at == inMemory && a.v.BitSize == 0
		k.rollback(m)
		b, err = k.eval(n.c)
		lvalue = lvalue && b.at == inMemory && b.v.BitSize == 0
	}
	k.rollback(m)
	var mixed *mixedChoice
	if errors.As(err, &mixed) {
		return a, &mixedChoice{n, n}
	}
	if err != nil {
		return a, err
	}
	common := k.types.chosenType(a.v, b.v)
	if common == nil {
		common = k.types.chosenType(b.v, a.v)
	}
	if common != nil {
		lvalue = false
	}
	side := func(n *node, o *operand) func() error {
		return func() (err error) {
			if *o, err = k.eval(n); err == nil && !lvalue {
				*o, err = k.read(*o)
			}
			if err == nil && common != nil && o.at == onStack {
				err = k.convert(common, o)
				*o = stacked(common)
			}
			return err
		}
	}
	if err := k.branch(n.a, side(n.b, &a), side(n.c, &b)); err != nil {
		return a, err
	}
	if !lvalue && (a.at != onStack || b.at != onStack) || !sameType(a.typ(), b.typ(), 0) {
		return a, &mixedChoice{n, n}
	}
	a.v.Bytes = nil
	return a, nil
}

// mixedChoice is the error for an expression whose type depends on a choice.
type mixedChoice struct {
	of     *node // the expression
	choice *node // the same expression as c ? a : b
}

func (e *mixedChoice) Error() string { return "a choice between different types" }

func (e *mixedChoice) Unwrap() error { return ErrNotCompiled }

// lift compiles n, one of whose operands is a mixed choice, as a choice: (c ? a : b) + d becomes c
// ? a + d : b + d. Operands have no side effects.
func (k *compiler) lift(n *node, part *mixedChoice) (o operand, err error) {
	a, b := *n, *n
	switch part.of {
	case n.a:
		a.a, b.a = part.choice.b, part.choice.c
	case n.b:
		a.b, b.b = part.choice.b, part.choice.c
	case n.c:
		a.c, b.c = part.choice.b, part.choice.c
	default:
		return o, part
	}
	whole := &node{op: "?", a: part.choice.a, b: &a, c: &b}
	o, err = k.eval(whole)
	var mixed *mixedChoice
	if errors.As(err, &mixed) {
		err = &mixedChoice{n, mixed.choice}
	}
	return o, err
}

// sameType reports whether arithmetic is the same for values of both types.
func sameType(a, b *types.Type, depth int) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a = a.Strip(); a == b.Strip() {
		return true
	}
	b = b.Strip()
	if a.Kind != b.Kind || a.Size != b.Size || a.Signed != b.Signed || a.Lang != b.Lang || depth > 8 {
		return false
	}
	switch a.Kind {
	case types.Bool, types.Int, types.Uint, types.Char, types.Float:
		return true
	case types.Pointer:
		return sameType(a.Elem(), b.Elem(), depth+1)
	}
	return false
}
