package types

import (
	"dbg/dwarf"
)

// Variants are the forms that a value of a type may have. A discriminant in the value selects one
// (DWARF 5, section 5.7.10). Rust's enums with data are such types.
type Variants struct {
	// Discr is the member with the discriminant; nil if there is only one form.
	Discr *Field
	All   []Variant
}

// Variant is one form.
type Variant struct {
	// Values are the discriminants of the form. They are empty for the form that all other
	// discriminants select.
	Values []DiscrRange
	Fields []Field // Rust has one, named for the form
}

// DiscrRange are discriminants from Lo to Hi, both included, as the bits of the discriminant's
// size.
type DiscrRange struct{ Lo, Hi uint64 }

// Variants returns the forms of a Struct, nil if it has only one.
func (t *Type) Variants() *Variants {
	if t.variants == nil {
		return nil
	}
	return t.variants()
}

// Select returns the form of a discriminant; nil if there is none.
func (v *Variants) Select(discr uint64) *Variant {
	var other *Variant
	for i := range v.All {
		f := &v.All[i]
		if len(f.Values) == 0 && other == nil {
			other = f
		}
		for _, r := range f.Values {
			if r.Lo <= discr && discr <= r.Hi {
				return f
			}
		}
	}
	return other
}

const (
	maxVariants   = 1 << 16
	attrDiscr     = dwarf.Attr(0x15)
	attrDiscrVal  = dwarf.Attr(0x16)
	attrDiscrList = dwarf.Attr(0x3d)
)

// variantPart reads a DW_TAG_variant_part.
func (r *Reader) variantPart(part *dwarf.Entry, t *Type) *Variants {
	out := &Variants{}
	_, discr, ok := part.RefOffset(attrDiscr)
	size := int64(8)
	part.Walk(func(c *dwarf.Entry, _ int) bool {
		switch c.Tag {
		case dwarf.TagMember:
			if ok && c.Offset == discr {
				f := r.member(c, t)
				out.Discr = &f
				if n := f.Type.Strip().Size; n > 0 && n < 8 {
					size = n
				}
			}
		case dwarf.TagVariant:
			if len(out.All) >= maxVariants {
				return false
			}
			v := Variant{Values: discriminants(c, size)}
			if e, err := c.Unit.Entry(c.Offset); err == nil {
				e.Walk(func(f *dwarf.Entry, _ int) bool {
					if f.Tag == dwarf.TagMember {
						v.Fields = append(v.Fields, r.member(f, t))
					}
					return false
				}, nil)
			}
			out.All = append(out.All, v)
		}
		return false
	}, nil)
	return out
}

// discriminants reads DW_AT_discr_value or DW_AT_discr_list. A value is written in as few bytes as
// its form likes, signed or not; what counts are the bits of the discriminant's size.
func discriminants(c *dwarf.Entry, size int64) []DiscrRange {
	cut := func(u uint64) uint64 {
		if size < 8 {
			u &= 1<<(8*uint(size)) - 1
		}
		return u
	}
	if v := c.Find(attrDiscrVal); v != nil {
		u := v.Num
		if v.IsBlock() { // of 16 bytes: rustc writes what does not fit in 8
			u = 0
			for i, b := range v.Block {
				if i < 8 {
					u |= uint64(b) << (8 * i)
				}
			}
		}
		return []DiscrRange{{cut(u), cut(u)}}
	}
	v := c.Find(attrDiscrList)
	if v == nil || !v.IsBlock() {
		return nil
	}
	// Section 7.23: DW_DSC_label 0 and a value, or DW_DSC_range 1 and two.
	var out []DiscrRange
	b := v.Block
	next := func() (u uint64) {
		for shift := uint(0); len(b) > 0 && shift < 64; shift += 7 {
			c := b[0]
			b = b[1:]
			u |= uint64(c&0x7f) << shift
			if c < 0x80 {
				break
			}
		}
		return u
	}
	for len(b) > 0 && len(out) < 1024 {
		kind := b[0]
		b = b[1:]
		lo := cut(next())
		hi := lo
		if kind == 1 {
			hi = cut(next())
		}
		out = append(out, DiscrRange{lo, hi})
	}
	return out
}
