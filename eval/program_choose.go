package eval

import "dbg/symbols"

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

// chooseTruth compiles a choice of which only the truth counts.
func (k *compiler) chooseTruth(n *node, op string) error {
	side := func(n *node) func() error {
		return func() error {
			k.steps++
			if k.steps > maxSteps {
				return notCompiled("the expression takes too many steps")
			}
			if err := k.truth(n, op); err != nil {
				return err
			}
			k.emit(instruction{op: opNonzero})
			return nil
		}
	}
	return k.branch(n.a, side(n.b), side(n.c))
}

// choose compiles c ? a : b. The evaluator gives the value of the side that it takes, with its
// type; a program has one type for both.
func (k *compiler) choose(n *node) (operand, error) {
	m := k.mark()
	var a, b operand
	var err error
	// First find out what the sides are.
	lvalue := true
	if a, err = k.eval(n.b); err == nil {
		lvalue = a.at == inMemory && a.v.BitSize == 0
		k.rollback(m)
		b, err = k.eval(n.c)
		lvalue = lvalue && b.at == inMemory && b.v.BitSize == 0
	}
	k.rollback(m)
	if err != nil {
		return a, err
	}
	side := func(n *node, o *operand) func() error {
		return func() (err error) {
			if *o, err = k.eval(n); err == nil && !lvalue {
				*o, err = k.read(*o)
			}
			return err
		}
	}
	if err := k.branch(n.a, side(n.b, &a), side(n.c, &b)); err != nil {
		return a, err
	}
	if !lvalue && (a.at != onStack || b.at != onStack) || !sameType(a.typ(), b.typ(), 0) {
		return a, notCompiled("a choice between different types")
	}
	a.v.Bytes = nil
	return a, nil
}

// sameType reports whether values of both types are computed with in the same way.
func sameType(a, b *symbols.Type, depth int) bool {
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
	case symbols.Bool, symbols.Int, symbols.Uint, symbols.Char, symbols.Float:
		return true
	case symbols.Pointer:
		return sameType(a.Elem(), b.Elem(), depth+1)
	}
	return false
}
