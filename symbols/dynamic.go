package symbols

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/types"
)

// BoundReader finds the value of an array bound in a frame.
type BoundReader interface {
	// ReadBound reads an integer variable.
	ReadBound(v *Variable) (int64, error)
	// EvaluateBound computes an expression.
	EvaluateBound(at *entry.Location) (int64, error)
}

// Resolve returns the type of the variable with the bounds that it has in a frame whose PC is a. If
// a bound cannot be found, its array stays without a count, and Resolve returns an error too.
func (v *Variable) Resolve(a image.Addr, r BoundReader) (*types.Type, error) {
	if !v.Type.IsDynamic() || v.impl == nil {
		return v.Type, nil
	}
	return v.Type.Resolve(&boundEvaluator{v.impl, a, r})
}

// boundEvaluator is the types.Evaluator of the function that contains a variable.
type boundEvaluator struct {
	of *variable
	pc image.Addr
	r  BoundReader
}

func (b *boundEvaluator) Expression(at entry.Location) (int64, error) {
	if b.of.fn != nil {
		at.FrameBase = b.of.fn.frameBase(b.pc)
	}
	return b.r.EvaluateBound(&at)
}

func (b *boundEvaluator) Variable(e *dwarf.Entry) (int64, error) {
	return b.r.ReadBound(b.of.instance(e, b.pc))
}

// instance makes a Variable of an entry that a type refers to. In an instance of an inlined
// function the type is still that of the abstract function, and refers to the abstract variable:
// instance returns the instance's own variable.
func (i *variable) instance(d *dwarf.Entry, a image.Addr) *Variable {
	v := &Variable{Type: i.m.types.Of(entry.Inherited(d, dwarf.AttrType)), impl: &variable{m: i.m, e: d, fn: i.fn}}
	if d.Has(dwarf.AttrLocation) || d.Has(dwarf.AttrConstValue) || i.fn == nil {
		return v
	}
	var found *dwarf.Entry
	for b := i.fn.body().at(uint64(a)); b != nil && found == nil; b = b.parent {
		for _, off := range b.vars {
			e, err := b.fn.u.dw.Entry(off)
			if err != nil || found != nil {
				continue
			}
			entry.Origins(e, func(o *dwarf.Entry) bool {
				if o.Unit == d.Unit && o.Offset == d.Offset {
					found = e
				}
				return found != nil
			})
		}
	}
	if found == nil {
		return v
	}
	v.impl.e = found
	return v
}
