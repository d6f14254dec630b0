package symbols

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
)

// A dynamic type is one whose size only the running program knows: C's arrays of
// variable length, above all. Its bounds are expressions, or name a variable that has them (DWARF 5, section 2.19).

// bound is an attribute of a dimension that is no constant.
type bound struct {
	count        bool  // DW_AT_count, else DW_AT_upper_bound
	lower        int64 // of an upper bound
	unit         *dwarf.Unit
	off          uint64 // of the dimension's entry
	attr         dwarf.Attr
	lowerDynamic bool // the lower bound is no constant either: not supported
}

// BoundReader finds what a bound is in a frame.
type BoundReader interface {
	// ReadBound reads an integer variable.
	ReadBound(v *Variable) (int64, error)
	// EvaluateBound computes an expression.
	EvaluateBound(at *entry.Location) (int64, error)
}

// dynamicBound returns what is known of the count of a dimension whose count is no constant; nil if
// nothing is.
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

// IsDynamic reports whether the size of the type is to be found in the frame of a variable.
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

// Resolve returns the type of the variable with the bounds that it has in a frame. An array whose
// bound can't be told stays without a count.
func (v *Variable) Resolve(a image.Addr, r BoundReader) (*Type, error) {
	if !v.Type.IsDynamic() || v.impl == nil {
		return v.Type, nil
	}
	return v.impl.resolve(v.Type, a, r, 0)
}

func (i *variable) resolve(t *Type, a image.Addr, r BoundReader, depth int) (*Type, error) {
	if !t.isDynamic(depth) {
		return t, nil
	}
	elem, err := i.resolve(t.Elem(), a, r, depth+1)
	n := &Type{Kind: t.Kind, Name: t.Name, Size: t.Size, Signed: t.Signed, Count: t.Count, Lang: t.Lang, vector: t.vector}
	n.elem = func() *Type { return elem }
	switch t.Kind {
	case Array:
		count := t.Count
		if t.bound != nil {
			c, e := i.readBound(t.bound, a, r)
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

// readBound gives the count of elements.
func (i *variable) readBound(b *bound, a image.Addr, r BoundReader) (int64, error) {
	none := &UnresolvedError{}
	e, err := b.unit.Entry(b.off)
	if err != nil || b.lowerDynamic {
		return 0, none
	}
	v := e.Find(b.attr)
	var n int64
	if v.IsBlock() {
		at := entry.Location{Expr: v.Block, Fill: entry.Fill(b.unit)}
		if i.fn != nil {
			at.FrameBase = i.fn.frameBase(a)
		}
		n, err = r.EvaluateBound(&at)
	} else {
		d := e.Ref(b.attr)
		if d == nil || d.Tag != dwarf.TagVariable && d.Tag != dwarf.TagFormalParameter {
			return 0, none
		}
		var own *Variable
		if own = i.instance(d, a); own == nil {
			return 0, none
		}
		n, err = r.ReadBound(own)
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

// instance makes a Variable of an entry that a type refers to. In an instance of an inlined function the type is still the
// abstract function's, and so is what it refers to: the instance's own variable is what counts.
func (i *variable) instance(d *dwarf.Entry, a image.Addr) *Variable {
	v := &Variable{Type: i.m.typeOf(entry.Inherited(d, dwarf.AttrType)), impl: &variable{m: i.m, e: d, fn: i.fn}}
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

// UnresolvedError says that a bound of a dynamic type is not told.
type UnresolvedError struct{}

func (*UnresolvedError) Error() string {
	return "the debug information does not tell the size of the array"
}
