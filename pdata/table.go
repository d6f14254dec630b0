package pdata

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dbg/arch"
)

// Config holds the inputs of a table.
type Config struct {
	Arch *arch.Arch // AMD64 or ARM64
	Data []byte     // the function table: the exception directory of the image
	Addr uint64     // its address
	Base uint64     // the image base, to which the addresses in the table are relative

	// Read returns n bytes of the image at an address, or nil if they can't be read. It reads
	// .xdata and code. The table keeps no slice of it.
	Read func(addr uint64, n int) []byte
}

// Table is one function table. Several goroutines may use it.
type Table struct {
	config Config
	size   int // of an entry

	once    sync.Once
	cells   []cell   // of the entries, by address
	buckets []uint32 // for each 2^shift bytes from the first entry on, the index of the last entry that begins at or before them
	shift   uint8

	cache functionCache
}

// cell is an entry. lo and hi are relative to Base; number is that of the entry in the table.
type cell struct{ lo, hi, unwind, number uint32 }

// Entry is one entry of the table.
type Entry struct {
	Lo, Hi uint64 // addresses from Lo up to but not including Hi
	Unwind uint32 // x64: the RVA of the unwind information; ARM64: packed data, or the RVA of a record
	Offset int    // offset of the entry in the table
	Index  int    // index by address
}

// ErrNotCovered reports that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// Error is a defect of an entry or of the record to which it refers.
type Error struct {
	Offset int // offset of the entry in the table
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf(".pdata at 0x%x: %s", e.Offset, e.What) }

// Sizes of entries (IMAGE_RUNTIME_FUNCTION_ENTRY) in bytes.
const (
	amd64EntrySize = 12
	arm64EntrySize = 8
)

// New makes a table. It reads nothing yet.
func New(c Config) (*Table, error) {
	t := &Table{config: c}
	switch {
	case c.Arch == arch.AMD64:
		t.size = amd64EntrySize
	case c.Arch == arch.ARM64:
		t.size = arm64EntrySize
	case c.Arch == nil:
		return nil, errors.New("pdata: no architecture")
	default:
		return nil, fmt.Errorf("pdata: no function tables are known for %s", c.Arch.Name)
	}
	if c.Base>>32 == 1<<32-1 {
		return nil, fmt.Errorf("pdata: the image base 0x%x is too high", c.Base)
	}
	if c.Read == nil {
		t.config.Read = func(uint64, int) []byte { return nil }
	}
	// Linkers fill the rest of a section with zeros.
	for n := len(c.Data) / t.size * t.size; ; n -= t.size {
		if n == 0 || u32(c.Data, n-t.size) != 0 || u32(c.Data, n-t.size+4) != 0 {
			t.config.Data = c.Data[:n:n]
			return t, nil
		}
	}
}

// Name returns the name of the section that usually has the table.
func (t *Table) Name() string { return ".pdata" }

// Entries returns the number of entries.
func (t *Table) Entries() int { return len(t.config.Data) / t.size }

// Entry returns the entry with an index by address. An entry of ARM64 whose record can't be read
// extends to the next entry.
func (t *Table) Entry(i int) Entry {
	t.once.Do(t.load)
	var e Entry
	t.fill(i, &e)
	return e
}

// fill fills e with the entry with an index.
func (t *Table) fill(i int, e *Entry) {
	c := &t.cells[i]
	e.Lo, e.Hi = t.config.Base+uint64(c.lo), t.config.Base+uint64(c.hi)
	e.Unwind, e.Offset, e.Index = c.unwind, int(c.number)*t.size, i
}

// load orders the entries, finds their ends and makes the buckets.
func (t *Table) load() {
	n := t.Entries()
	t.cells = make([]cell, n)
	for i := range t.cells {
		t.cells[i] = cell{lo: u32(t.config.Data, i*t.size), unwind: u32(t.config.Data, (i+1)*t.size-4), number: uint32(i)}
	}
	byStart := func(a, b cell) int { return cmp.Compare(a.lo, b.lo) }
	if !slices.IsSortedFunc(t.cells, byStart) {
		slices.SortStableFunc(t.cells, byStart)
	}
	if n == 0 {
		return
	}
	for i := range t.cells {
		next := uint32(1<<32 - 1)
		if i+1 < n {
			next = t.cells[i+1].lo
		}
		c := &t.cells[i]
		c.hi = max(c.lo, min(next, t.end(c, next)))
	}
	first := t.cells[0].lo
	for span := t.cells[n-1].lo - first; span>>t.shift > 2*uint32(n); t.shift++ {
	}
	t.buckets = make([]uint32, (t.cells[n-1].lo-first)>>t.shift+2)
	for i, b := 0, 0; b < len(t.buckets); b++ {
		for i+1 < n && uint64(t.cells[i+1].lo-first) <= uint64(b)<<t.shift {
			i++
		}
		t.buckets[b] = uint32(i)
	}
}

// end returns the end of an entry. next is the start of the next one.
func (t *Table) end(c *cell, next uint32) uint32 {
	second := u32(t.config.Data, int(c.number)*t.size+4)
	if t.size == amd64EntrySize {
		return second
	}
	words := second >> 2 & 0x7ff
	if second&3 == 0 {
		b := t.config.Read(t.config.Base+uint64(second), 4)
		if b == nil {
			return next
		}
		words = u32(b, 0) & (1<<18 - 1)
	}
	if end := uint64(c.lo) + 4*uint64(words); end < 1<<32 {
		return uint32(end)
	}
	return next
}

// Find fills e with the entry that covers pc, or returns ErrNotCovered.
func (t *Table) Find(pc uint64, e *Entry) error {
	t.once.Do(t.load)
	i := t.find(pc)
	if i < 0 || pc-t.config.Base >= uint64(t.cells[i].hi) {
		return ErrNotCovered
	}
	t.fill(i, e)
	return nil
}

// find returns the index of the last entry that begins at or before pc, or -1.
func (t *Table) find(pc uint64) int {
	off := pc - t.config.Base
	if off>>32 != 0 || len(t.cells) == 0 || uint32(off) < t.cells[0].lo {
		return -1
	}
	b := min(int((uint32(off)-t.cells[0].lo)>>t.shift), len(t.buckets)-2)
	i, n := int(t.buckets[b]), int(t.buckets[b+1])+1
	for n -= i; n > 1; {
		half := n / 2
		if t.cells[i+half].lo <= uint32(off) {
			i += half
		}
		n -= half
	}
	return i
}

// Bounds returns the bounds of the entry at an address.
func (t *Table) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	var e Entry
	if t.Find(pc, &e) != nil {
		return 0, 0, false
	}
	return e.Lo, e.Hi, true
}

// record returns n bytes of the record at an RVA.
func (t *Table) record(rva uint32, n int) []byte {
	return t.config.Read(t.config.Base+uint64(rva), n)
}

func u16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
func u32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
