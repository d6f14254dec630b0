package ehabi

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Model is the form of an entry.
type Model uint8

const (
	CantUnwind Model = iota // EXIDX_CANTUNWIND: exceptions do not pass the function
	Inline                  // the instructions are in the index
	Compact                 // in .ARM.extab, with one of the ABI's personality routines
	Generic                 // in .ARM.extab, with a personality routine of its own
)

func (m Model) String() string {
	return [...]string{"cantunwind", "inline", "compact", "generic"}[m]
}

// Entry is the decoded form of an index entry and of the entry in .ARM.extab to which it refers.
type Entry struct {
	Lo, Hi uint64 // addresses from Lo up to but not including Hi, without the bit for Thumb
	Thumb  bool   // the address has the bit for Thumb; linkers often leave it clear in Thumb code
	Offset int    // offset in .ARM.exidx
	Word   uint32 // the second word of the index entry
	Model  Model
	Index  uint8  // Inline, Compact: number of the personality routine, __aeabi_unwind_cpp_pr0 to pr2
	Table  uint64 // Compact, Generic: address of the entry in .ARM.extab

	// Personality is the address of the personality routine of a Generic entry. Bit 0 is set for
	// Thumb code.
	Personality uint64

	// Code holds the instructions. It is empty for CantUnwind, and for a Generic entry whose data is
	// not that of a GNU personality routine.
	Code Code

	// Data is the address after the instructions in .ARM.extab: the language-specific data (LSDA) of
	// a Generic entry whose instructions are known, the descriptors of a Compact one. Otherwise 0.
	Data uint64
}

// LSDA returns the address of the language-specific data. ok is false if there is none, or if only
// the personality routine knows where it is.
func (e *Entry) LSDA() (addr uint64, ok bool) { return e.Data, e.Model == Generic && e.Data != 0 }

// Errors of entries without a row.
var (
	ErrCantUnwind = errors.New("the entry is marked as one that can't be unwound")
	ErrRefuses    = errors.New("the entry's instructions refuse to unwind")
)

// PersonalityError reports that only a personality routine of unknown kind knows how to unwind.
type PersonalityError struct {
	Routine uint64 // its address
}

func (e *PersonalityError) Error() string {
	return fmt.Sprintf("only the personality routine at 0x%x knows how to unwind", e.Routine)
}

// maxExtab is the maximum size of a personality routine's address, a word with a count, and as many words.
const maxExtab = 4 + 4 + 255*4

// entry decodes entry i.
func (t *Table) entry(i int, e *Entry) error {
	off := i * entrySize
	at, first := t.start(i), t.word(off)
	*e = Entry{Lo: at &^ 1, Hi: t.end(i), Thumb: at&1 != 0, Offset: off, Word: t.word(off + 4)}
	switch {
	case first>>31 != 0:
		return defect(off, "bit 31 of the function's address 0x%08x is set", first)
	case e.Word == 1:
		return nil
	case e.Word>>31 != 0:
		e.Model, e.Index = Inline, uint8(e.Word>>24&15)
		if e.Word>>24 != 0x80 { // section 5: only personality routine 0 fits into the index
			return defect(off, "an entry in the index has the first byte 0x%02x instead of 0x80", e.Word>>24)
		}
		e.Code = Code{head: e.Word, n: 3}
		return nil
	}
	e.Table = prel31(t.Addr+uint64(off)+4, e.Word)
	return t.extab(e)
}

// extab decodes the entry in .ARM.extab (EHABI32, section 6).
func (t *Table) extab(e *Entry) error {
	e.Model = Compact
	var b []byte
	if t.Bytes != nil {
		b = t.Bytes(e.Table, maxExtab)
	}
	if len(b) < 4 {
		return defect(e.Offset, "its entry at 0x%x is not in the file", e.Table)
	}
	w := binary.LittleEndian.Uint32(b)
	if w>>31 == 0 {
		e.Model, e.Personality = Generic, prel31(e.Table, w)
		if len(b) >= 8 && e.Code.set(binary.LittleEndian.Uint32(b[4:]), 3, b[8:]) && e.Code.wellFormed() {
			e.Data = e.Table + 8 + uint64(len(e.Code.words))
		} else {
			e.Code = Code{}
		}
		return nil
	}
	e.Index = uint8(w >> 24 & 15)
	switch {
	case w>>28 != 8 || e.Index > 2:
		return defect(e.Offset, "its entry at 0x%x has the reserved first byte 0x%02x", e.Table, w>>24)
	case e.Index == 0:
		e.Code = Code{head: w, n: 3}
	case !e.Code.set(w<<8, 2, b[4:]):
		return defect(e.Offset, "the %d words of instructions after 0x%x are not in the file", w>>16&255, e.Table)
	}
	e.Data = e.Table + 4 + uint64(len(e.Code.words))
	return nil
}
