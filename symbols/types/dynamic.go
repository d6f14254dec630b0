package types

import (
	"dbg/dwarf"
	"dbg/symbols/entry"
)

// A dynamic type is one whose size only the running program knows: mostly C's arrays of variable
// length. Its bounds are expressions, or name a variable (DWARF 5, section 2.19).

// Evaluator finds the value of a bound in a frame.
type Evaluator interface {
	// Expression computes a DWARF expression. FrameBase is not set yet.
	Expression(at entry.Location) (int64, error)
	// Variable reads the integer variable or parameter of an entry.
	Variable(e *dwarf.Entry) (int64, error)
}

// bound is an attribute of a dimension that is not a constant.
type bound struct {
	count        bool  // DW_AT_count, else DW_AT_upper_bound
	lower        int64 // of an upper bound
	unit         *dwarf.Unit
	off          uint64 // of the dimension's entry
	attr         dwarf.Attr
	lowerDynamic bool // the lower bound is not a constant either: not supported
}

// dynamicBound returns the bound of a dimension whose count is not a constant; nil if there is
// none.
func dynamicBound(c *dwarf.Entry) *bound {
	b := &bound{unit: c.Unit, off: c.Offset, attr: dwarf.AttrUpperBound}
	v := c.Find(dwarf.AttrCount)
	if v != nil {
		b.attr, b.count = dwarf.AttrCount, true
	} else {
		v = c.Find(dwarf.AttrUpperBound)
		if l := c.Find(dwarf.AttrLowerBound); l != nil {
			b.lowerDynamic = !l.IsConst()
			b.lower = l.Signed()
		}
	}
	if v == nil || v.IsConst() {
		return nil
	}
	return b
}

// IsDynamic reports whether the size of the type is known only in the frame of a variable: see
// Resolve.
func (t *Type) IsDynamic() bool { return t.isDynamic(0) }

func (t *Type) isDynamic(depth int) bool {
	if t == nil || depth > maxTypeDepth {
		return false
	}
	switch t.Kind {
	case Array:
		return t.bound != nil || t.Elem().isDynamic(depth+1)
	case Typedef, Const, Volatile, Restrict, Atomic, Pointer, Reference, RvalueReference:
		// A structure ends the search: what it points to has types of its own.
		if t.elem == nil || depth > 8 {
			return false
		}
		return t.ElemAsDeclared().isDynamic(depth + 1)
	}
	return false
}

// Resolve returns the type with the bounds that it has in a frame. If a bound cannot be found, its
// array stays without a count, and Resolve returns the first error too.
func (t *Type) Resolve(in Evaluator) (*Type, error) { return t.resolve(in, 0) }

func (t *Type) resolve(in Evaluator, depth int) (*Type, error) {
	if !t.isDynamic(depth) {
		return t, nil
	}
	elem, err := t.Elem().resolve(in, depth+1)
	n := &Type{Kind: t.Kind, Name: t.Name, Size: t.Size, Signed: t.Signed, Count: t.Count, Lang: t.Lang, vector: t.vector}
	n.elem = func() *Type { return elem }
	switch t.Kind {
	case Array:
		count := t.Count
		if t.bound != nil {
			c, e := t.bound.read(in)
			if e != nil && err == nil {
				err = e
			}
			if e == nil {
				count = c
			}
		}
		n.bounded(count, elem)
	case Typedef, Const, Volatile, Restrict, Atomic:
		if elem != nil {
			n.Size = elem.Size
		}
	}
	return n, err
}

// read returns the count of elements.
func (b *bound) read(in Evaluator) (int64, error) {
	none := &UnresolvedError{}
	e, err := b.unit.Entry(b.off)
	if err != nil || b.lowerDynamic {
		return 0, none
	}
	v := e.Find(b.attr)
	var n int64
	if v.IsBlock() {
		n, err = in.Expression(entry.Location{Expr: v.Block, Fill: entry.Fill(b.unit)})
	} else {
		d := e.Ref(b.attr)
		if d == nil || d.Tag != dwarf.TagVariable && d.Tag != dwarf.TagFormalParameter {
			return 0, none
		}
		n, err = in.Variable(d)
	}
	if err != nil {
		return 0, err
	}
	if !b.count {
		n = n - b.lower + 1
	}
	if n < 0 || n >= 1<<48 {
		return 0, none
	}
	return n, nil
}

// UnresolvedError reports that the debug information does not contain a bound of a dynamic type.
type UnresolvedError struct{}

func (*UnresolvedError) Error() string {
	return "the debug information does not tell the size of the array"
}
