package abi

import "dbg/arch"

// RustResult tells where a function of Rust, of Rust's own ABI, has put its result when it returns.
// That ABI is not specified. What every rustc does: a scalar, and each of a pair of scalars, is in a
// register of its own; a larger aggregate is in memory, at the address in rax. How an aggregate of
// up to 16 bytes is returned that is neither depends on the version.
func RustResult(t *Type) (Place, error) {
	if t == nil || t.Kind == Void || t.Size == 0 {
		return Place{}, nil
	}
	var l leaves
	if !l.add(t, 0, 0) {
		return Place{}, ErrUnknown
	}
	if len(l.list) > 2 || l.array || l.variant {
		if t.Size > 16 && !l.wide {
			return Place{Memory: true, Pointer: arch.RAX}, nil
		}
		return Place{}, ErrUnknown
	}
	if l.wide || t.Kind == Vector {
		return Place{}, ErrUnknown
	}
	p := Place{}
	integers, vectors := 0, 0
	for _, s := range l.list {
		if s.float {
			p.Parts = append(p.Parts, Part{arch.XMM0 + arch.Reg(vectors), s.off, s.size})
			vectors++
			continue
		}
		p.Parts = append(p.Parts, Part{sysvResults[integers], s.off, s.size})
		integers++
	}
	return p, nil
}

// leaf is a scalar of a type.
type leaf struct {
	off, size int64
	float     bool
}

// leaves collects the scalars of a type in the order of their offsets.
type leaves struct {
	list    []leaf
	wide    bool // one has more than eight bytes
	array   bool
	variant bool
	steps   int
}

func (l *leaves) add(t *Type, off int64, depth int) bool {
	if l.steps++; t == nil || depth > maxDepth || l.steps > maxParts {
		return false
	}
	switch t.Kind {
	case Void:
		return true
	case Integer, Float:
		l.wide = l.wide || t.Size > 8
		i := len(l.list)
		for i > 0 && l.list[i-1].off > off {
			i--
		}
		l.list = append(l.list[:i], append([]leaf{{off, t.Size, t.Kind == Float}}, l.list[i:]...)...)
		return t.Size > 0
	case Array:
		if t.Count == 0 || t.Size == 0 {
			return true
		}
		l.array = true
		return l.add(t.Elem, off, depth+1)
	case Struct, Variant, Union:
		// A union is never a pair, and its scalars overlap.
		l.variant = l.variant || t.Kind != Struct
		for _, f := range t.Fields {
			if f.BitSize > 0 || f.Type == nil || f.Type.Size > 0 && !l.add(f.Type, off+f.Offset, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
