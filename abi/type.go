package abi

import (
	"errors"

	"dbg/arch"
)

// Kind tells how a type is passed.
type Kind uint8

const (
	Void    Kind = iota
	Integer      // integers, booleans, characters, enumerations, pointers and references
	Float        // IEEE 754 binary formats, and x87's if X87 is set
	Complex      // two Elem
	Vector       // Count Elem, of GNU C's vector_size
	Array        // Count Elem
	Struct       // Fields; also classes, with base classes as fields
	Union        // Fields
	Variant      // Fields of all variants of a Rust enum, with the tag
)

// Type describes a type as far as calling conventions need it.
type Type struct {
	Kind   Kind
	Size   int64 // bytes
	Align  int64 // bytes; 0: the natural alignment
	X87    bool  // of a Float of 16 bytes: the x87 format, not binary128
	Elem   *Type
	Count  int64
	Fields []Field

	// ByReference marks a C++ class that is not trivial for the purposes of calls (Itanium C++ ABI,
	// section 1.1): it is passed and returned in memory, at an address that is passed.
	ByReference bool
}

// Field is a member of a Struct, Union or Variant.
type Field struct {
	Type      *Type // of a bit-field: the declared type, may be nil
	Offset    int64 // bytes
	BitSize   int64 // 0 if it is not a bit-field
	BitOffset int64 // of a bit-field: bits from the start of the structure
}

// ErrUnknown is the error of a value whose place can't be known from its type.
var ErrUnknown = errors.New("the ABI does not tell where this value is")

// Part is a piece of a value in a register: Size bytes of the value, from Offset on, are the lowest
// bytes of Reg.
type Part struct {
	Reg    arch.Reg
	Offset int64
	Size   int64
}

// Place tells where a value is. The zero value is the place of a value that takes no place: an
// empty class, or void.
type Place struct {
	Parts []Part

	// Memory: the value is in memory. For an argument, and for a result of Go, Offset is the
	// distance from the stack pointer at the call instruction, before the return address is
	// pushed. For another result, its address is in the register Pointer when the function returns.
	Memory  bool
	Offset  int64
	Pointer arch.Reg

	// ByReference: an argument's Parts or Offset hold the address of a copy.
	ByReference bool
}

// Layout tells where the arguments of one call are.
type Layout struct {
	Args []Place
	// Hidden: the first integer register holds the address of the result.
	Hidden bool
	// Stack is the size of the arguments on the stack. The stack pointer is a multiple of
	// StackAlign at the call instruction.
	Stack, StackAlign int64
	// Vectors is the number of vector registers that hold arguments; a variadic function expects it
	// in al.
	Vectors int
}

// maxDepth bounds how deep types are nested, and maxParts how many scalars of a type are looked at.
const (
	maxDepth = 32
	maxParts = 4096
)

// alignment returns the alignment of a type. A structure whose size is no multiple of that, or which
// has a field at an unaligned offset, is packed.
func (t *Type) alignment() int64 { return t.alignmentAt(0) }

func (t *Type) alignmentAt(depth int) int64 {
	switch {
	case t == nil || depth > maxDepth:
		return 1
	case t.Align > 0:
		return t.Align
	}
	switch t.Kind {
	case Integer, Float, Vector:
		if t.Size > 0 && t.Size&(t.Size-1) == 0 {
			return t.Size
		}
	case Complex, Array:
		return t.Elem.alignmentAt(depth + 1)
	case Struct, Union, Variant:
		a := int64(1)
		for _, f := range t.Fields {
			if f.BitSize > 0 {
				continue // the declared type's alignment counts, but a stack slot has eight anyway
			}
			fa := f.Type.alignmentAt(depth + 1)
			if f.Offset%fa != 0 {
				return 1
			}
			a = max(a, fa)
		}
		if t.Size%a == 0 {
			return a
		}
	}
	return 1
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }
