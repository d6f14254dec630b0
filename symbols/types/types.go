package types

import (
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// Kind tells how a type is made.
type Kind uint8

// The kinds.
const (
	Void Kind = iota
	Bool
	Int  // signed
	Uint // unsigned
	Char // a character type; Signed tells whether it is signed
	Float
	Complex
	Pointer
	Reference       // C++ T&
	RvalueReference // C++ T&&
	Array           // Count elements of Elem; Count -1: not known
	Struct          // struct and class: Fields
	Union
	Enum    // Enumerators; Elem is the underlying type or nil
	Typedef // of Elem
	Const   // qualifiers of Elem
	Volatile
	Func          // Elem is the result
	MemberPointer // pointer to member
	Opaque        // declared, but not defined here
	Unsupported   // a type that is not understood; Name describes it
	Restrict      // more qualifiers of Elem
	Atomic
)

// Type is a type of the program. Types are made lazily, belong to a module, and are compared by
// their names and shapes, not by pointer. The fields must not be changed.
type Type struct {
	Kind   Kind
	Name   string    // as its language writes it: "unsigned int", "struct foo" is "foo"; "" if anonymous
	Size   int64     // bytes; -1 if not known
	Signed bool      // Int, Char, Enum
	Count  int64     // of Array
	Quad   bool      // Float, Complex: numbers of 16 bytes are IEEE 754's binary128, as on all machines but x86
	Lang   lang.Lang // of the unit that defines it
	Align  int64     // DW_AT_alignment, 0 if the type has its natural alignment

	elem        func() *Type
	declared    func() *Type // of a pointer or reference, see ElemAsDeclared
	fields      func() []Field
	enumerators func() []Enumerator
	params      func() []*Type
	container   func() *Type // of MemberPointer: the class

	variants func() *Variants
	virtual  func(index uint64) string // the name of a method
	define   func(d *typeWriter)       // of a structure
	methods  func() []Method           // of a class
	inside   func() *inside            // of a class: template arguments and member types
	// nonTrivial tells whether what a class declares makes it non-trivial for the purposes of calls.
	nonTrivial func() (by, sure bool)
	paramNames []string     // of Func; known once Params has been called
	results    []bool       // of Func in Go: which parameters are results
	goName     string       // of an Array
	goKey      func() *Type // of a map of Go
	goElem     func() *Type // of a map, a slice or a channel of Go
	bound      *bound       // of an Array: where its count is told; nil if Count is all that is known

	class      bool // declared with "class"
	enumClass  bool // a scoped enumeration
	vector     bool // GNU vector_size
	variadic   bool // Func with "..."; known once Params has been called
	prototyped bool
	opaque     Kind // of Opaque: what it is a declaration of
}

// Elem returns the pointee, element, result or underlying type; nil for void
// (a void pointer) and for types that have none.
func (t *Type) Elem() *Type {
	if t.elem == nil {
		return nil
	}
	return t.elem()
}

// ElemAsDeclared is Elem without a search for a definition. A structure that is declared in the
// pointer's unit and defined elsewhere is Opaque. It is enough to print a pointer, or to get its
// type's name or size.
func (t *Type) ElemAsDeclared() *Type {
	if t.declared == nil {
		return t.Elem()
	}
	return t.declared()
}

// DeclaredKind returns the kind of the definition of an Opaque type: Struct, Union or Enum.
func (t *Type) DeclaredKind() Kind { return t.opaque }

// Fields returns the members of a Struct or Union, base classes first.
func (t *Type) Fields() []Field {
	if t.fields == nil {
		return nil
	}
	return t.fields()
}

// Enumerators returns the names of an Enum, and the constants of a named type of Go.
func (t *Type) Enumerators() []Enumerator {
	if t.enumerators == nil {
		return nil
	}
	return t.enumerators()
}

// Params returns the parameter types of a Func.
func (t *Type) Params() []*Type {
	if t.params == nil {
		return nil
	}
	return t.params()
}

// Prototyped reports whether a Func was declared with its parameter types.
func (t *Type) Prototyped() bool { return t.prototyped || t.Lang == lang.CPlusPlus }

// Strip returns the type without typedefs and qualifiers; never nil for a
// non-nil t (a typedef of nothing is void).
func (t *Type) Strip() *Type {
	for range 100 {
		if t == nil {
			return &Type{Kind: Void, Name: "void"}
		}
		switch t.Kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			t = t.Elem()
		default:
			return t
		}
	}
	return &Type{Kind: Unsupported, Name: "typedef of itself", Size: -1}
}

// Field is a member of a structure.
type Field struct {
	Name      string // "" for an anonymous member
	Type      *Type
	Offset    int64 // bytes from the start of the structure
	BitSize   int64 // 0 if not a bit-field
	BitOffset int64 // of a bit-field: bits from the start of the structure (little-endian: from the lowest bit)
	Align     int64 // DW_AT_alignment; 0: that of the type
	Base      bool  // a base class
	Virtual   bool  // a virtual base class: its place is in the vtable, Offset means nothing
	// Place computes the member's address from that of the object, if it is not a constant offset.
	Place  *entry.Location
	Static bool // a static member; it has no place in the structure
}

// Enumerator is a name of an enumeration.
type Enumerator struct {
	Name  string
	Value int64
}

// New makes a type that no file describes, such as the type of a constant in a user's expression.
func New(kind Kind, name string, size int64, signed bool, elem *Type) *Type {
	t := &Type{Kind: kind, Name: name, Size: size, Signed: signed, Count: -1}
	if elem != nil {
		t.elem = func() *Type { return elem }
	}
	return t
}

// Variadic reports whether a Func takes more arguments than it has parameters.
func (t *Type) Variadic() bool {
	t.Params()
	return t.variadic
}

// Scoped reports whether an Enum is an "enum class".
func (t *Type) Scoped() bool { return t.enumClass }

// Vector reports whether an Array is a vector of GNU C.
func (t *Type) Vector() bool { return t.vector }

// Container returns the class of a MemberPointer, nil if it is not known.
func (t *Type) Container() *Type {
	if t.container == nil {
		return nil
	}
	return t.container()
}

// NewArray makes an array type.
func NewArray(elem *Type, count int64) *Type {
	t := New(Array, "", elem.Size*count, false, elem)
	t.Count = count
	return t
}
