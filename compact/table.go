package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"dbg/arch"
)

// Config holds the inputs of a table.
type Config struct {
	Arch *arch.Arch
	Data []byte // __unwind_info
	Base uint64 // address of the Mach-O header, to which the table's addresses are relative

	// Code returns n bytes of the image's code, or nil if they can't be read. If it is nil, the
	// rows of functions with an indirect stack size are errors.
	Code func(addr uint64, n int) []byte
}

// Table is one __unwind_info section.
type Table struct {
	arch *arch.Arch
	data []byte
	base uint64
	code func(addr uint64, n int) []byte

	common        array // palette of all pages: words
	personalities array // words
	index         array // first-level entries: 12 bytes each

	indexStarts atomic.Pointer[starts] // starts of the index, once its order is checked
	pages       []atomic.Pointer[page] // pages that were looked up and are trusted
	cells       atomic.Int64           // number of entries in their starts
}

// array is a part of the section.
type array struct {
	off   int // in the section
	count int
	data  []byte
}

// Entry is the decoded form of an entry in a second-level page.
type Entry struct {
	Lo, Hi uint64 // addresses from Lo up to but not including Hi
	Opcode Opcode
	Offset int // offset of the entry in the section
	Page   int // index of the first-level entry
	Index  int // index of the entry in its page
}

// ErrNotCovered reports that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// Error is a defect of the section.
type Error struct {
	Offset int // offset of the defect in the section
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf("__unwind_info at 0x%x: %s", e.Offset, e.What) }

func defect(off int, format string, args ...any) error {
	return &Error{off, fmt.Sprintf(format, args...)}
}

const headerSize = 28

// New makes a table. It reads only the header.
func New(c Config) (*Table, error) {
	t := &Table{arch: c.Arch, data: c.Data, base: c.Base, code: c.Code}
	switch {
	case c.Arch == nil:
		return nil, errors.New("compact: no architecture")
	case len(c.Data) < headerSize:
		return nil, defect(0, "the section has %d bytes, fewer than the %d bytes of its header", len(c.Data), headerSize)
	case c.Base>>32 == 1<<32-1:
		return nil, fmt.Errorf("compact: the Mach-O header's address 0x%x is too high", c.Base)
	}
	if v := word(c.Data, 0); v != 1 {
		return nil, defect(0, "unsupported version %d, expected 1", v)
	}
	for _, a := range []struct {
		to   *array
		at   int
		size int
		name string
	}{
		{&t.common, 4, 4, "common opcodes"},
		{&t.personalities, 12, 4, "personality routines"},
		{&t.index, 20, indexSize, "first-level entries"},
	} {
		var ok bool
		off, n := word(c.Data, a.at), word(c.Data, a.at+4)
		if *a.to, ok = t.array(uint64(off), uint64(n), a.size); !ok {
			return nil, defect(a.at, "the %d %s at 0x%x are not inside the section's %d bytes", n, a.name, off, len(c.Data))
		}
	}
	t.pages = make([]atomic.Pointer[page], t.index.count)
	return t, nil
}

// array returns count elements of size bytes at an offset. An empty array may be anywhere.
func (t *Table) array(off, count uint64, size int) (array, bool) {
	if count == 0 {
		return array{}, true
	}
	if n := uint64(len(t.data)); off > n || count > (n-off)/uint64(size) {
		return array{}, false
	}
	end := off + count*uint64(size)
	return array{int(off), int(count), t.data[off:end:end]}, true
}

func word(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }

func half(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }

// Find fills e with the entry that covers pc. ErrNotCovered means that there is no such entry.
// Any other error means that the entry can't be trusted.
func (t *Table) Find(pc uint64, e *Entry) error {
	off := pc - t.base
	if off>>32 != 0 {
		return ErrNotCovered
	}
	x := t.indexStarts.Load()
	if x == nil {
		var err error
		if x, err = t.orderedIndex(); err != nil {
			return err
		}
	}
	if uint32(off) < x.lo {
		return ErrNotCovered
	}
	i := x.find(uint32(off))
	if uint(i) >= uint(len(t.pages)) {
		return ErrNotCovered
	}
	p := t.pages[i].Load()
	if p == nil {
		var err error
		if p, err = t.trusted(i); err != nil {
			return err
		}
	}
	if off >= p.end {
		return ErrNotCovered // the sentinel
	}
	if !p.plain {
		k := p.search(uint32(off))
		if k < 0 {
			return ErrNotCovered
		}
		return t.entry(p, k, e)
	}
	k := p.starts.find(uint32(off))
	if k < 0 {
		return ErrNotCovered
	}
	c := (*[2]uint64)(p.starts.cells[k:])
	e.Lo, e.Hi, e.Opcode = t.base+c[0]>>32, t.base+c[1]>>32, Opcode(c[0])
	e.Offset, e.Page, e.Index = p.entries.off+k*p.size(), i, k
	return nil
}
