package types

import "fmt"

// layoutWidth is the width of the column of offsets and sizes.
const layoutWidth = 27

// layout writes the places of a structure's members, and the holes between them, as gdb's ptype/o.
type layout struct {
	start int64 // of the structure in the outermost one, in bits
	end   int64 // of the last member, in bits from the start of the structure; 0: there was none
}

// column returns the place and the size of a member, after the hole before it.
func (l *layout) column(f *Field, union, hex bool) string {
	size := f.Type.size()
	if union { // all members are at its start
		return fmt.Sprintf("/*%22d */", size)
	}
	bit, bits := f.Offset*8, size*8
	if f.BitSize > 0 {
		bit, bits = f.BitOffset, f.BitSize
	}
	hole := l.gap(bit, "hole")
	l.end = bit + bits
	byteAt, bitAt := (l.start+bit)/8, (l.start+bit)%8
	switch {
	case f.BitSize > 0 && hex:
		return hole + fmt.Sprintf("/* 0x%04x: 0x%x |  0x%04x */", byteAt, bitAt, size)
	case hex:
		return hole + fmt.Sprintf("/* 0x%04x      |  0x%04x */", byteAt, size)
	case f.BitSize > 0:
		return hole + fmt.Sprintf("/* %6d:%2d   |  %6d */", byteAt, bitAt, size)
	}
	return hole + fmt.Sprintf("/* %6d      |  %6d */", byteAt, size)
}

// gap returns the lines that tell of unused space before a bit. Before the first member are the bases
// and the pointer to the virtual table.
func (l *layout) gap(before int64, what string) string {
	n := before - l.end
	if l.end == 0 || n <= 0 {
		return ""
	}
	text := ""
	if n%8 != 0 {
		text += fmt.Sprintf("/* XXX %2d-bit %-7s    */\n", n%8, what)
	}
	if n/8 != 0 {
		text += fmt.Sprintf("/* XXX %2d-byte %-7s   */\n", n/8, what)
	}
	return text
}

// size returns the size of a member's type; 0 if it is not known, as that of a flexible array.
func (t *Type) size() int64 {
	s := t.Strip()
	n := s.Size
	if s.Kind == Array && n < 0 && s.Count >= 0 && s.Elem() != nil {
		if e := s.Elem().size(); e > 0 && s.Count < (1<<48)/e {
			n = e * s.Count
		}
	}
	return max(n, 0)
}
