package symbols

import (
	"cmp"
	"slices"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
)

// Place is where a variable is for a range of PCs.
type Place struct {
	Lo, Hi image.Addr // of the PCs
	Expr   []byte     // the DWARF expression; empty if the variable is known to have no value
	Always bool       // it holds for all PCs of the function; Lo and Hi are 0
}

// Places tells how a variable is described.
type Places struct {
	List  []Place // by their addresses
	Const bool    // DW_AT_const_value: it has one value everywhere
	None  bool    // the debug information tells no place at all
}

// Places returns all places of a variable. The expressions are the file's own, see entry.Location.
func (v *Variable) Places() (Places, error) {
	if v.impl == nil {
		return Places{None: true}, nil
	}
	o := entry.Inherited(v.impl.e, dwarf.AttrLocation)
	if o == nil {
		constant := entry.Inherited(v.impl.e, dwarf.AttrConstValue) != nil
		return Places{Const: constant, None: !constant}, nil
	}
	at := o.Find(dwarf.AttrLocation)
	if at.IsBlock() {
		return Places{List: []Place{{Expr: at.Block, Always: true}}, None: len(at.Block) == 0}, nil
	}
	list, err := o.Unit.Locations(at)
	out := Places{}
	for _, l := range list {
		out.List = append(out.List, Place{Lo: image.Addr(l.Lo), Hi: image.Addr(l.Hi), Expr: l.Expr, Always: l.Default})
	}
	slices.SortStableFunc(out.List, func(a, b Place) int { return cmp.Compare(a.Lo, b.Lo) })
	out.None = len(list) == 0 && err == nil
	return out, err
}
