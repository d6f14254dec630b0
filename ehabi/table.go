package ehabi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
)

// Config holds the inputs of a table. All addresses are in the file's address space.
type Config struct {
	Data []byte // .ARM.exidx, little-endian
	Addr uint64 // its address

	// End is the end of the code that the last entry covers. If it is 0, nothing is known of the
	// last entry.
	End uint64

	// Bytes returns the bytes of the file from an address on, at most n and as many as follow, or
	// nil. It reads .ARM.extab. If it is nil, entries outside the index are errors.
	Bytes func(addr uint64, n int) []byte
}

// Table is one .ARM.exidx section. Several goroutines may use it.
type Table struct {
	Config
	count int
	index atomic.Pointer[index] // made by the first look-up
}

// ErrNotCovered reports that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// Error is a defect of an entry.
type Error struct {
	Offset int // offset of the entry in .ARM.exidx
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf(".ARM.exidx entry at 0x%x: %s", e.Offset, e.What) }

func defect(off int, format string, args ...any) error {
	return &Error{off, fmt.Sprintf(format, args...)}
}

// entrySize is the number of bytes of an index entry (EHABI32, section 5).
const entrySize = 8

// New makes a table. It does not read the entries. A section that is no whole number of entries is an
// error.
func New(c Config) (*Table, error) {
	if len(c.Data)%entrySize != 0 {
		return nil, defect(len(c.Data)&^(entrySize-1), "the section ends after %d of %d bytes", len(c.Data)%entrySize, entrySize)
	}
	return &Table{Config: c, count: len(c.Data) / entrySize}, nil
}

// Name returns the name of the section.
func (t *Table) Name() string { return ".ARM.exidx" }

// Entries returns the number of entries.
func (t *Table) Entries() int { return t.count }

func (t *Table) word(i int) uint32 { return binary.LittleEndian.Uint32(t.Data[i:]) }

// prel31 decodes a 31-bit offset from the word that contains it (EHABI32, section 4.4.2).
func prel31(at uint64, w uint32) uint64 {
	return uint64(uint32(at) + uint32(int32(w<<1)>>1))
}

// start returns the address in the first word of entry i.
func (t *Table) start(i int) uint64 {
	return prel31(t.Addr+uint64(i*entrySize), t.word(i*entrySize))
}

// end returns where the code of entry i ends: at the next entry.
func (t *Table) end(i int) uint64 {
	lo := t.start(i) &^ 1
	if i+1 < t.count {
		return t.start(i+1) &^ 1
	}
	return max(lo, t.End)
}

// All iterates over all entries in the order of the section. An entry that is not what the ABI
// defines comes with its error; Lo, Hi and Offset are valid. The entry belongs to the iterator.
func (t *Table) All() iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var e Entry
		for i := range t.count {
			err := t.entry(i, &e)
			if err == nil && e.Hi < e.Lo {
				err = defect(e.Offset, "the next entry's address 0x%x is before 0x%x", e.Hi, e.Lo)
			}
			if !yield(&e, err) {
				return
			}
		}
	}
}

// Bounds returns the addresses that the entry at pc covers: a function, or several.
func (t *Table) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	i, err := t.find(pc)
	if err != nil {
		return 0, 0, false
	}
	return t.start(i) &^ 1, t.end(i), true
}

// Find fills e with the entry that covers pc. ErrNotCovered means that there is no such entry. Any
// other error means that the entry can't be used.
func (t *Table) Find(pc uint64, e *Entry) error {
	i, err := t.find(pc)
	if err != nil {
		return err
	}
	return t.entry(i, e)
}
