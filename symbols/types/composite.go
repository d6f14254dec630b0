package types

import (
	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// composite makes a structure or union. Its members are read when they are
// asked for. One that is only declared here is completed from its definition
// elsewhere in the module, if there is one.
func (r *Reader) composite(t *Type, kind Kind, e *dwarf.Entry) {
	t.Name = r.typeName(e)
	t.Kind = kind
	if e.Flag(dwarf.AttrDeclaration) || e.Has(dwarf.AttrSignature) {
		t.Kind = Opaque
		t.opaque = kind
		if def := r.definition(e, t); def != nil {
			*t = *def
		}
		return
	}
	if t.Size < 0 {
		t.Size = 0
	}
	var part uint64
	if t.Lang == lang.Rust {
		e.Walk(func(c *dwarf.Entry, _ int) bool {
			if c.Tag == dwarf.TagVariantPart {
				part = c.Offset
			}
			return false
		}, nil)
	}
	if part != 0 {
		var v *Variants
		t.variants = func() *Variants {
			if v == nil {
				v = &Variants{}
				if c, err := e.Unit.Entry(part); err == nil {
					v = r.variantPart(c, t)
				}
			}
			return v
		}
	}
	t.define = func(d *typeWriter) { r.writeDefinition(e, t, d) }
	if t.Lang == lang.CPlusPlus {
		t.virtual = func(index uint64) string { return r.virtualMethod(e, t, index) }
		t.methods = func() []Method { return r.classMethods(e) }
		t.nonTrivial = func() (bool, bool) { return r.nonTrivialClass(e) }
	}
	if t.Lang == lang.CPlusPlus || t.Lang == lang.Rust {
		var in *inside
		t.inside = func() *inside {
			if in == nil {
				in = r.readInside(e)
			}
			return in
		}
	}
	var fields []Field
	done := false
	t.fields = func() []Field {
		if !done {
			done = true
			fields = r.members(e, t)
		}
		return fields
	}
}

// typeName is the qualified name of a structure, union or enumeration, "" if
// it has none of its own.
func (r *Reader) typeName(e *dwarf.Entry) string {
	if entry.Inherited(e, dwarf.AttrName) == nil {
		return ""
	}
	return r.scopes.Qualified(e)
}

// definition finds the complete type of a declaration; nil if there is none. A declaration may name
// its type unit; else the definition may be in any unit, and without an index the search goes over
// all units.
func (r *Reader) definition(e *dwarf.Entry, t *Type) *Type {
	// The skeleton of a type in a type unit names that unit.
	if u, off, ok := e.RefOffset(dwarf.AttrSignature); ok {
		if def := r.At(entry.Ref{Unit: u, Off: off}); def.Kind != Opaque && def != t {
			return def
		}
	}
	if t.Name == "" || r.asDeclared {
		return nil
	}
	name := entry.Name(e)
	for _, qualified := range []string{t.Name, name} { // what is in an anonymous namespace has no qualified name in an index
		for _, d := range r.finder.TypesNamed(name, qualified) {
			c, err := d.Unit.Entry(d.Off)
			if err != nil || kindOf(c.Tag) != kindOf(e.Tag) || r.scopes.Qualified(c) != t.Name {
				continue
			}
			if def := r.At(d); def != t && def.Kind != Opaque {
				return def
			}
		}
		if name == t.Name {
			break
		}
	}
	return nil
}

// kindOf makes struct and class the same.
func kindOf(tag dwarf.Tag) dwarf.Tag {
	if tag == dwarf.TagClassType || tag == dwarf.TagInterfaceType {
		return dwarf.TagStructureType
	}
	return tag
}

// members reads the members of a structure: base classes first.
func (r *Reader) members(e *dwarf.Entry, t *Type) []Field {
	var bases, fields []Field
	e.Walk(func(c *dwarf.Entry, _ int) bool {
		switch c.Tag {
		case dwarf.TagInheritance:
			f := Field{Type: r.Of(c), Base: true}
			if f.Type != nil {
				f.Name = f.Type.Strip().Name // the class's own, where a typedef is derived from
			}
			if v, _ := c.Uint(dwarf.AttrVirtuality); v != 0 {
				f.Virtual = true
			}
			off, ok := memberOffset(c)
			f.Offset = off
			f.Virtual = f.Virtual || !ok
			if !ok {
				f.Place = memberPlace(c)
			}
			bases = append(bases, f)
		case dwarf.TagMember, dwarf.TagVariable:
			fields = append(fields, r.member(c, t))
		}
		return false
	}, nil)
	return append(bases, fields...)
}

func (r *Reader) member(c *dwarf.Entry, t *Type) Field {
	f := Field{Type: r.Of(c)}
	if f.Type == nil {
		f.Type = &Type{Kind: Void, Name: "void", Size: 1}
	}
	f.Name, _ = c.String(dwarf.AttrName)
	// A static member is DW_TAG_variable in DWARF 5, and a member that is
	// external or declared in DWARF 4.
	f.Static = c.Tag == dwarf.TagVariable || c.Flag(dwarf.AttrExternal) || c.Flag(dwarf.AttrDeclaration)
	if f.Static {
		return f
	}
	if n, ok := c.Uint(attrAlignment); ok && n < 1<<16 {
		f.Align = int64(n)
	}
	off, ok := memberOffset(c)
	if !ok {
		if f.Place = memberPlace(c); f.Place == nil || c.Has(dwarf.AttrBitSize) {
			f.Place, f.Type = nil, &Type{Kind: Unsupported, Name: "<member at a computed place>", Size: -1}
		}
		return f
	}
	f.Offset = off
	size, hasSize := c.Uint(dwarf.AttrBitSize)
	if !hasSize || size == 0 || size > 1<<16 {
		return f
	}
	f.BitSize = int64(size)
	f.BitOffset = off * 8
	if v := c.Find(dwarf.AttrDataBitOffset); v != nil && v.IsConst() && v.Num < 1<<48 {
		f.BitOffset += int64(v.Num)
	} else if v := c.Find(dwarf.AttrBitOffset); v != nil && v.IsConst() {
		// DWARF 3: counted from the highest bit of the storage unit, whatever
		// the byte order.
		storage, ok := c.Uint(dwarf.AttrByteSize)
		if !ok || storage > 64 {
			storage = uint64(max(f.Type.Size, 0))
		}
		f.BitOffset += int64(storage)*8 - v.Signed() - f.BitSize
		if c.Unit.Data.BigEndian() {
			f.BitOffset = off*8 + v.Signed()
		}
	}
	f.Offset = f.BitOffset / 8
	return f
}

// memberPlace returns DW_AT_data_member_location as an expression to evaluate with the object's
// address on the stack; nil if it is not an expression.
func memberPlace(c *dwarf.Entry) *entry.Location {
	v := c.Find(dwarf.AttrMemberLocation)
	if v == nil || !v.IsBlock() || len(v.Block) == 0 {
		return nil
	}
	return &entry.Location{Expr: v.Block, Fill: entry.Fill(c.Unit)}
}

// memberOffset returns DW_AT_data_member_location; false if it is an
// expression that depends on the object. Without it the member is at the
// start, as in unions.
func memberOffset(c *dwarf.Entry) (int64, bool) {
	v := c.Find(dwarf.AttrMemberLocation)
	if v == nil {
		return 0, true
	}
	if !v.IsBlock() {
		if v.Num >= 1<<48 {
			return 0, false
		}
		return int64(v.Num), true
	}
	// DWARF 2: DW_OP_plus_uconst, or DW_OP_constu and DW_OP_plus.
	const opConstu, opPlus, opPlusUconst = 0x10, 0x22, 0x23
	b := v.Block
	if len(b) < 2 || b[0] != opConstu && b[0] != opPlusUconst {
		return 0, false
	}
	var n int64
	i := 1
	for shift := 0; i < len(b) && shift < 48; shift += 7 {
		n |= int64(b[i]&0x7f) << shift
		i++
		if b[i-1] < 0x80 {
			rest := b[i:]
			ok := b[0] == opPlusUconst && len(rest) == 0 || b[0] == opConstu && len(rest) == 1 && rest[0] == opPlus
			return n, ok
		}
	}
	return 0, false
}

// enum makes an enumeration.
func (r *Reader) enum(t *Type, e *dwarf.Entry) {
	t.Name = r.typeName(e)
	t.Kind = Enum
	t.enumClass = e.Flag(dwarf.AttrEnumClass)
	if e.Flag(dwarf.AttrDeclaration) && t.Size < 0 || e.Has(dwarf.AttrSignature) {
		t.Kind, t.opaque = Opaque, Enum
		if def := r.definition(e, t); def != nil {
			*t = *def
		}
		return
	}
	underlying := r.Of(e)
	if underlying != nil {
		t.elem = func() *Type { return underlying }
		t.Signed = underlying.Signed
		if t.Size < 0 {
			t.Size = underlying.Size
		}
	}
	var names []Enumerator
	e.Walk(func(c *dwarf.Entry, _ int) bool {
		if c.Tag == dwarf.TagEnumerator {
			name, _ := c.String(dwarf.AttrName)
			if v := c.Find(dwarf.AttrConstValue); v != nil && v.IsConst() {
				names = append(names, Enumerator{Name: name, Value: int64(v.Num)})
				if underlying == nil && v.IsSigned() && int64(v.Num) < 0 {
					t.Signed = true
				}
			}
		}
		return false
	}, nil)
	t.enumerators = func() []Enumerator { return names }
}
