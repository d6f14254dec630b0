package compact

import "iter"

// LSDA is an entry in the LSDA index.
type LSDA struct {
	Function uint64 // address
	Addr     uint64 // address of the language-specific data area
	Offset   int    // of the entry in the section
}

const lsdaSize = 8

// LSDA returns the address of the language-specific data area of e. ok is false if it has none.
// The opcode's bit decides: LLVM's linker also adds functions that use __eh_frame to the index,
// with a clear bit, and half of the addresses there belong to other functions' areas. Their FDEs
// have the right ones.
func (t *Table) LSDA(e *Entry) (addr uint64, ok bool, err error) {
	if !e.Opcode.HasLSDA() {
		return 0, false, nil
	}
	if uint(e.Page+1) >= uint(t.index.count) {
		return 0, false, defect(e.Offset, "the end of the page's LSDAs is unknown: the table has no sentinel")
	}
	a, err := t.lsdas(e.Page, e.Page+1)
	if err != nil {
		return 0, false, err
	}
	off := e.Lo - t.base
	lo, hi := 0, a.count
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if uint64(word(a.data, m*lsdaSize)) < off {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < a.count && uint64(word(a.data, lo*lsdaSize)) == off {
		return t.base + uint64(word(a.data, lo*lsdaSize+4)), true, nil
	}
	return 0, false, defect(e.Offset, "the entry has an LSDA, but the LSDA index has none for 0x%x", e.Lo)
}

// lsdas returns the part of the LSDA index between those of two first-level entries.
func (t *Table) lsdas(from, to int) (array, error) {
	lo, hi := t.lsdaAt(from), t.lsdaAt(to)
	if hi < lo || (hi-lo)%lsdaSize != 0 {
		return array{}, defect(t.indexOffset(from)+8, "invalid bounds of the LSDA index: 0x%x to 0x%x", lo, hi)
	}
	a, ok := t.array(uint64(lo), uint64(hi-lo)/lsdaSize, lsdaSize)
	if !ok {
		return array{}, defect(t.indexOffset(from)+8, "the LSDA index from 0x%x to 0x%x is not inside the section's %d bytes", lo, hi, len(t.data))
	}
	return a, nil
}

// LSDAs yields the whole LSDA index in order.
func (t *Table) LSDAs() iter.Seq2[LSDA, error] {
	return func(yield func(LSDA, error) bool) {
		if t.index.count == 0 {
			return
		}
		a, err := t.lsdas(0, t.index.count-1)
		if err != nil {
			yield(LSDA{Offset: err.(*Error).Offset}, err)
			return
		}
		for i := range a.count {
			b := a.data[i*lsdaSize:]
			if !yield(LSDA{t.base + uint64(word(b, 0)), t.base + uint64(word(b, 4)), a.off + i*lsdaSize}, nil) {
				return
			}
		}
	}
}

// Personality returns the address of the pointer to the personality routine of e (its slot in the
// GOT). ok is false if it has none.
func (t *Table) Personality(e *Entry) (slot uint64, ok bool, err error) {
	i := e.Opcode.Personality()
	if i == 0 {
		return 0, false, nil
	}
	if i > t.personalities.count {
		return 0, false, defect(e.Offset, "the entry's personality routine %d is not among the table's %d", i, t.personalities.count)
	}
	return t.base + uint64(word(t.personalities.data, 4*(i-1))), true, nil
}

// Personalities returns the addresses of the pointers to all personality routines. Opcodes can
// refer to the first three.
func (t *Table) Personalities() []uint64 {
	slots := make([]uint64, t.personalities.count)
	for i := range slots {
		slots[i] = t.base + uint64(word(t.personalities.data, 4*i))
	}
	return slots
}
