package types

import (
	"strings"

	"dbg/arch"
	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// maxTypeDepth bounds how deep a type may lead through arrays, typedefs and
// qualifiers, whose size is that of another type.
const maxTypeDepth = 200

// Of returns the type that an entry's DW_AT_type names. nil is void: the entry has no DW_AT_type,
// or is nil itself.
func (r *Reader) Of(e *dwarf.Entry) *Type {
	if e == nil || !e.Has(dwarf.AttrType) {
		return nil
	}
	u, off, ok := e.RefOffset(dwarf.AttrType)
	if !ok {
		return &Type{Kind: Unsupported, Name: "<unknown type>", Size: -1}
	}
	return r.At(entry.Ref{Unit: u, Off: off})
}

// At returns the type that an entry describes; never nil. There is one Type for each entry, and one
// more if the type was asked for as it is declared.
func (r *Reader) At(d entry.Ref) *Type {
	if t := r.types[d]; t != nil {
		return t
	}
	types := r.types
	if r.asDeclared {
		if r.declared == nil {
			r.declared = map[entry.Ref]*Type{}
		}
		if types = r.declared; types[d] != nil {
			return types[d]
		}
	}
	e, err := d.Unit.Entry(d.Off)
	if err != nil || r.depth > maxTypeDepth {
		return &Type{Kind: Unsupported, Name: "<invalid type>", Size: -1}
	}
	r.depth++
	defer func() { r.depth-- }()
	dw := d.Unit.Full()
	t := &Type{Size: -1, Count: -1, Lang: r.scopes.Lang(dw)}
	types[d] = t // before anything that may lead back here
	t.Name, _ = e.String(dwarf.AttrName)
	if n, ok := e.Uint(dwarf.AttrByteSize); ok && n < 1<<48 {
		t.Size = int64(n)
	}
	if n, ok := e.Uint(attrAlignment); ok && n < 1<<16 {
		t.Align = int64(n)
	}
	elem := func() *Type { return r.Of(e) }
	switch e.Tag {
	case dwarf.TagBaseType:
		baseType(t, e)
		t.Quad = r.quad()
		if t.Lang == lang.Go && strings.Contains(t.Name, ".") {
			t.enumerators = func() []Enumerator { return r.goConstants()[d] }
		}
	case dwarf.TagPointerType:
		r.pointer(t, Pointer, dw, e)
	case dwarf.TagReferenceType:
		r.pointer(t, Reference, dw, e)
	case dwarf.TagRvalueReferenceType:
		r.pointer(t, RvalueReference, dw, e)
	case dwarf.TagPtrToMemberType:
		r.memberPointer(t, dw, e, elem)
	case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagInterfaceType:
		t.class = e.Tag == dwarf.TagClassType
		r.composite(t, Struct, e)
		if t.Lang == lang.Go {
			r.goParts(t, e)
		}
	case dwarf.TagUnionType:
		r.composite(t, Union, e)
	case dwarf.TagEnumerationType:
		r.enum(t, e)
	case dwarf.TagArrayType:
		t.goName = t.Name
		r.array(t, e)
	case dwarf.TagStringType:
		t.Kind, t.Count = Array, t.Size
		char := New(Char, "char", 1, true, nil)
		t.elem = func() *Type { return char }
	case dwarf.TagTypedef, dwarf.TagTemplateAlias:
		t.Name = r.scopes.Qualified(e)
		t.like(Typedef, r.Of(e))
		if t.Lang == lang.Go {
			r.goParts(t, e)
		}
	case dwarf.TagConstType:
		t.like(Const, r.Of(e))
	case dwarf.TagVolatileType:
		t.like(Volatile, r.Of(e))
	case dwarf.TagRestrictType:
		t.like(Restrict, r.Of(e))
	case dwarf.TagAtomicType:
		t.like(Atomic, r.Of(e))
	case dwarf.TagSubroutineType, dwarf.TagSubprogram:
		t.Kind, t.Size = Func, 1
		if e.Tag == dwarf.TagSubprogram {
			t.Name = ""
		}
		t.elem = func() *Type { return r.Of(entry.Inherited(e, dwarf.AttrType)) }
		t.params = func() []*Type { return r.parameters(e, t) }
		t.prototyped = entry.Inherited(e, dwarf.AttrPrototyped) != nil
	case dwarf.TagUnspecifiedType:
		// decltype(nullptr) is as large as a pointer. Others have no values.
		if strings.Contains(t.Name, "nullptr") {
			t.Kind, t.Size = Pointer, int64(dw.AddrSize)
		} else {
			t.Kind = Void
		}
	case dwarf.TagSubrangeType:
		// A type of its own in Ada and Pascal: like its base.
		t.like(Typedef, r.Of(e))
	default:
		t.Kind, t.Name = Unsupported, "<unknown type>"
	}
	return t
}

func (r *Reader) pointer(t *Type, kind Kind, dw *dwarf.Unit, e *dwarf.Entry) {
	t.Kind, t.elem = kind, func() *Type { return r.whole(e) }
	t.declared = func() *Type {
		before := r.asDeclared
		r.asDeclared = true
		defer func() { r.asDeclared = before }()
		return r.Of(e)
	}
	if t.Size < 0 {
		t.Size = int64(dw.AddrSize)
	}
}

// whole is Of, but with definitions, even if r is in the middle of a type as declared.
func (r *Reader) whole(e *dwarf.Entry) *Type {
	before := r.asDeclared
	r.asDeclared = false
	defer func() { r.asDeclared = before }()
	return r.Of(e)
}

// like makes t a typedef or a qualified form of another type.
func (t *Type) like(kind Kind, of *Type) {
	t.Kind = kind
	t.elem = func() *Type { return of }
	if t.Size < 0 && of != nil {
		t.Size = of.Size
	}
	if of == nil {
		t.Size = 1 // as gdb and gcc have sizeof(void)
	}
	if of != nil {
		t.Signed = of.Signed
	}
}

// quad reports whether the ABI's floating point numbers of 16 bytes are binary128 (AAPCS64, RISC-V
// psABI) and not x87's.
func (r *Reader) quad() bool {
	a := r.file.Arch()
	return a != nil && a != arch.AMD64 && a != arch.I386
}

// baseType sorts the encodings of table 7.11.
func baseType(t *Type, e *dwarf.Entry) {
	enc, _ := e.Uint(dwarf.AttrEncoding)
	switch enc {
	case dwarf.EncBoolean:
		t.Kind = Bool
	case dwarf.EncSigned:
		t.Kind, t.Signed = Int, true
	case dwarf.EncUnsigned, dwarf.EncAddress:
		t.Kind = Uint
	case dwarf.EncSignedChar:
		t.Kind, t.Signed = Char, true
	case dwarf.EncUnsignedChar, dwarf.EncUTF, dwarf.EncASCII, dwarf.EncUCS:
		t.Kind = Char
	case dwarf.EncFloat:
		t.Kind = Float
	case dwarf.EncComplexFloat:
		t.Kind = Complex
	default:
		t.Kind = Unsupported
	}
	if t.Lang == lang.Rust && t.Name == "()" {
		t.Kind = Void
	}
}

func (r *Reader) memberPointer(t *Type, dw *dwarf.Unit, e *dwarf.Entry, elem func() *Type) {
	t.Kind, t.elem = MemberPointer, elem
	t.class = false
	t.container = func() *Type {
		if u, off, ok := e.RefOffset(dwarf.AttrContainingType); ok {
			return r.At(entry.Ref{Unit: u, Off: off})
		}
		return nil
	}
	if t.Size < 0 {
		t.Size = int64(dw.AddrSize)
		// Itanium C++ ABI, section 2.3: to a member function, two words.
		if f := t.Elem(); f != nil && f.Kind == Func {
			t.Size *= 2
		}
	}
}

// parameters returns the types of a function's parameters; a last nil stands
// for "...". Lists longer than any compiler's are cut.
func (r *Reader) parameters(e *dwarf.Entry, t *Type) []*Type {
	var out []*Type
	t.paramNames, t.results = nil, nil
	e.Walk(func(c *dwarf.Entry, depth int) bool {
		switch c.Tag {
		case dwarf.TagFormalParameter:
			t.paramNames = append(t.paramNames, entry.Name(c))
			t.results = append(t.results, t.Lang == lang.Go && c.Flag(attrVariableParameter))
			p := r.Of(entry.Inherited(c, dwarf.AttrType))
			if p == nil {
				p = &Type{Kind: Void, Name: "void"}
			}
			// gcc and clang leave out that "this" is constant.
			if len(out) == 0 && p.Kind == Pointer && t.Lang == lang.CPlusPlus && c.Flag(dwarf.AttrArtificial) {
				this := &Type{Count: -1, Size: -1, Lang: t.Lang}
				this.like(Const, p)
				p = this
			}
			out = append(out, p)
		case dwarf.TagUnspecifiedParams:
			t.variadic = true
		}
		return false
	}, nil)
	return out
}

// array makes one Array for each dimension. (DWARF 5, section 5.5.)
func (r *Reader) array(t *Type, e *dwarf.Entry) {
	var counts []int64
	var bounds []*bound
	e.Walk(func(c *dwarf.Entry, depth int) bool {
		if (c.Tag == dwarf.TagSubrangeType || c.Tag == dwarf.TagEnumerationType) && len(counts) < maxTypeDepth {
			counts = append(counts, count(c))
			bounds = append(bounds, dynamicBound(c))
		}
		return false
	}, nil)
	if len(counts) == 0 {
		counts, bounds = []int64{-1}, []*bound{nil}
	}
	t.Kind, t.Name = Array, ""
	t.vector = e.Flag(dwarf.AttrGNUVector)
	elem := r.Of(e)
	for i := len(counts) - 1; i > 0; i-- {
		inner := &Type{Kind: Array, Lang: t.Lang}
		inner.bounded(counts[i], elem)
		inner.bound = bounds[i]
		elem = inner
	}
	size := t.Size
	if r.strided(e, elem) {
		t.Kind, t.Name, t.elem = Unsupported, "<array whose elements are not side by side>", nil
		return
	}
	t.bounded(counts[0], elem)
	t.bound = bounds[0]
	if size >= 0 && t.Size < 0 {
		t.Size = size
	}
}

// strided reports whether an array's elements are further apart than their size, or are not at the
// array's own place (DWARF 5, sections 2.19 and 5.18): Fortran and Ada have such arrays.
func (r *Reader) strided(e *dwarf.Entry, elem *Type) bool {
	const attrBitStride, attrByteStride, attrDataLocation = 0x2e, 0x51, 0x50
	if e.Has(attrDataLocation) {
		return true
	}
	apart := func(e *dwarf.Entry) bool {
		for attr, unit := range map[dwarf.Attr]uint64{attrByteStride: 8, attrBitStride: 1} {
			if v := e.Find(attr); v != nil && (!v.IsConst() || elem == nil || elem.Size < 0 || v.Num*unit != uint64(elem.Size)*8) {
				return true
			}
		}
		return false
	}
	found := apart(e)
	e.Walk(func(c *dwarf.Entry, _ int) bool {
		found = found || c.Tag == dwarf.TagSubrangeType && apart(c)
		return false
	}, nil)
	return found
}

func (t *Type) bounded(count int64, elem *Type) {
	t.Count, t.Size = count, -1
	t.elem = func() *Type { return elem }
	if count < 0 || elem == nil || elem.Size < 0 {
		return
	}
	if elem.Size == 0 || count < (1<<48)/elem.Size {
		t.Size = count * elem.Size
	}
}

// count returns the number of elements of a dimension, -1 if it is not known
// before the program runs.
func count(c *dwarf.Entry) int64 {
	if v := c.Find(dwarf.AttrCount); v != nil {
		if v.IsConst() && v.Num < 1<<48 {
			return int64(v.Num)
		}
		return -1
	}
	v := c.Find(dwarf.AttrUpperBound)
	if v == nil || !v.IsConst() {
		return -1
	}
	var lower int64
	if l := c.Find(dwarf.AttrLowerBound); l != nil && l.IsConst() {
		lower = l.Signed()
	}
	// -1, in whichever size it is written: no elements.
	upper := int64(v.Num)
	if v.Signed() == -1 && (upper == -1 || upper == 0xffffffff) {
		upper = -1
	}
	if n := upper - lower + 1; n >= 0 && n < 1<<48 {
		return n
	}
	return -1
}
