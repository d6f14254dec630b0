package eval

import "dbg/symbols/types"

// alignOf returns the alignment of a type in bytes, as the compilers of all architectures in package
// arch choose it (System V ABI, section 3.1.2), or 0 if it is not known.
func alignOf(t *types.Type, ptrSize int) int64 { return alignAt(t, int64(ptrSize), 0) }

func alignAt(t *types.Type, ptrSize int64, depth int) int64 {
	if t == nil || depth > maxNesting {
		return 0
	}
	// A typedef may have an alignment of its own.
	for t.Align == 0 && t.Kind >= types.Typedef && t != t.Strip() {
		next := t.Elem()
		if next == nil {
			return 1 // a typedef of void
		}
		if !isAlias(t.Kind) {
			break
		}
		t = next
	}
	if t.Align > 0 {
		return t.Align
	}
	switch t.Kind {
	case types.Bool, types.Int, types.Uint, types.Char, types.Float, types.Enum:
		return scalarAlign(t.Size, ptrSize)
	case types.Complex:
		return scalarAlign(t.Size/2, ptrSize)
	case types.Pointer, types.Reference, types.RvalueReference, types.MemberPointer:
		return ptrSize
	case types.Array:
		if t.Vector() {
			return t.Size
		}
		return alignAt(t.Elem(), ptrSize, depth+1)
	case types.Struct, types.Union:
		most := int64(1)
		for _, f := range t.Fields() {
			if f.Static {
				continue
			}
			a := alignAt(f.Type, ptrSize, depth+1)
			if f.Virtual {
				a = max(a, ptrSize)
			}
			if a == 0 {
				return 0
			}
			most = max(most, a, f.Align)
		}
		// A packed structure is not aligned: its size or the place of a member tells.
		for most > 1 && (t.Size%most != 0 || misplaced(t, ptrSize, most)) {
			most /= 2
		}
		return most
	case types.Void, types.Func:
		return 1 // as gcc has it
	}
	return 0
}

func isAlias(k types.Kind) bool {
	switch k {
	case types.Typedef, types.Const, types.Volatile, types.Restrict, types.Atomic:
		return true
	}
	return false
}

// misplaced reports whether a member that needs an alignment is not at a multiple of it.
func misplaced(t *types.Type, ptrSize, align int64) bool {
	for _, f := range t.Fields() {
		if !f.Static && !f.Virtual && f.BitSize == 0 && alignOf(f.Type, int(ptrSize)) >= align && f.Offset%align != 0 {
			return true
		}
	}
	return false
}

// scalarAlign is the alignment of a number. The 80-bit format of the x87 has 16 bytes on x86-64, and 12
// on x86, where nothing needs more than the word.
func scalarAlign(size, ptrSize int64) int64 {
	switch {
	case size <= 0:
		return 0
	case size == 12:
		return 4
	case ptrSize == 4:
		return min(size, 8)
	}
	return min(size, 16)
}
