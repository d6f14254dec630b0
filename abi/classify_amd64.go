package abi

// Class is a class of an eightbyte: System V ABI, AMD64 supplement, section 3.2.3.
type Class uint8

const (
	NoClass Class = iota
	ClassInteger
	ClassSSE
	ClassSSEUp
	ClassX87
	ClassX87Up
	ClassComplexX87
	ClassMemory
)

func (c Class) String() string {
	return [...]string{"NO_CLASS", "INTEGER", "SSE", "SSEUP", "X87", "X87UP", "COMPLEX_X87", "MEMORY"}[c]
}

// Classify returns the classes of the eightbytes of a type. A type in memory has the one class
// MEMORY, and a type that takes no place has none or NO_CLASS ones.
func Classify(t *Type) ([]Class, error) {
	if t == nil || t.Kind == Void || t.Size == 0 {
		return nil, nil
	}
	memory := []Class{ClassMemory}
	switch {
	case t.Size < 0:
		return nil, ErrUnknown
	case t.Kind == Variant:
		return nil, ErrUnknown
	case t.ByReference || t.Size > 64:
		return memory, nil
	case t.Kind == Complex && t.Elem != nil && t.Elem.X87:
		return []Class{ClassComplexX87}, nil
	}
	c := classifier{classes: make([]Class, (t.Size+7)/8)}
	c.add(t, 0, 0)
	switch {
	case c.unknown:
		return nil, ErrUnknown
	case c.memory:
		return memory, nil
	}
	// "Then a post merger cleanup is done."
	list := c.classes
	for i, k := range list {
		switch {
		case k == ClassMemory || k == ClassComplexX87:
			return memory, nil
		case k == ClassX87Up && (i == 0 || list[i-1] != ClassX87):
			return memory, nil
		case len(list) > 2 && (i == 0 && k != ClassSSE || i > 0 && k != ClassSSEUp):
			return memory, nil
		case k == ClassSSEUp && (i == 0 || list[i-1] != ClassSSE && list[i-1] != ClassSSEUp):
			list[i] = ClassSSE
		}
	}
	return list, nil
}

// classifier merges the classes of a type's scalars.
type classifier struct {
	classes []Class
	parts   int
	memory  bool // there is an unaligned field
	unknown bool
}

// add merges a type at an offset.
func (c *classifier) add(t *Type, off int64, depth int) {
	if c.parts++; t == nil || depth > maxDepth || c.parts > maxParts {
		c.unknown = true
		return
	}
	switch t.Kind {
	case Void:
		return
	case Struct, Union:
		c.memory = c.memory || t.ByReference
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.BitSize > 0 {
				// A bit-field is INTEGER in each eightbyte that it touches, and never unaligned.
				first := off*8 + f.BitOffset
				if a := f.Type.alignment(); f.Type != nil && off%a != 0 {
					// A structure with bit-fields at an unaligned offset: MEMORY for clang, INTEGER for gcc.
					c.unknown = true
					return
				}
				for n := first / 64; n <= (first+f.BitSize-1)/64 && !c.unknown; n++ {
					c.merge(n, ClassInteger)
				}
				continue
			}
			c.add(f.Type, off+f.Offset, depth+1)
		}
		return
	case Array, Complex:
		n := t.Count
		if t.Kind == Complex {
			n = 2
		}
		if n <= 0 || t.Elem == nil || t.Elem.Size <= 0 {
			return
		}
		for i := int64(0); i < n && !c.unknown; i++ {
			c.add(t.Elem, off+i*t.Elem.Size, depth+1)
		}
		return
	}
	natural := t.Size
	if natural <= 0 || natural&(natural-1) != 0 {
		c.unknown = true
		return
	}
	if off%natural != 0 {
		c.memory = true
		return
	}
	first, up := ClassInteger, ClassInteger
	switch {
	case t.Kind == Integer && t.Size <= 16:
	case t.Kind == Float && t.Size == 16 && t.X87:
		first, up = ClassX87, ClassX87Up
	case t.Kind == Float && t.Size <= 16:
		first, up = ClassSSE, ClassSSEUp
	case t.Kind == Vector && t.Size >= 8 && t.Count > 1:
		// gcc and clang differ about vectors of one element and of less than eight bytes.
		first, up = ClassSSE, ClassSSEUp
	default:
		c.unknown = true
		return
	}
	for i := int64(0); i < (t.Size+7)/8; i++ {
		if i == 0 {
			c.merge(off/8, first)
		} else {
			c.merge(off/8+i, up)
		}
	}
}

// merge is step 4 of the algorithm, for one eightbyte.
func (c *classifier) merge(n int64, b Class) {
	if n < 0 || n >= int64(len(c.classes)) {
		c.unknown = true // a field outside of its structure
		return
	}
	a := &c.classes[n]
	x87 := func(k Class) bool { return k == ClassX87 || k == ClassX87Up || k == ClassComplexX87 }
	switch {
	case *a == b || b == NoClass:
	case *a == NoClass:
		*a = b
	case *a == ClassMemory || b == ClassMemory:
		*a = ClassMemory
	case *a == ClassInteger || b == ClassInteger:
		*a = ClassInteger
	case x87(*a) || x87(b):
		*a = ClassMemory
	default:
		*a = ClassSSE
	}
}
