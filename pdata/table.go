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

	// Leaves are ranges of code in which a function without an entry is a leaf: the ABI permits
	// that to functions that change neither the stack pointer nor a preserved register. May be nil.
	Leaves []Range
}

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uint64 }

// Table is one function table. Several goroutines may use it.
type Table struct {
	config Config
	size   int // of an entry

	once   sync.Once
	starts []uint32 // of the entries, in rising order, relative to Base
	ends   []uint32
	order  []uint32 // numbers of the entries in the table, in that order

	cache functionCache
}

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
	k := int(t.order[i]) * t.size
	e.Lo, e.Hi = t.config.Base+uint64(t.starts[i]), t.config.Base+uint64(t.ends[i])
	e.Unwind = u32(t.config.Data, k+t.size-4)
	e.Offset, e.Index = k, i
}

// load orders the entries and finds their ends.
func (t *Table) load() {
	n := t.Entries()
	t.order, t.starts, t.ends = make([]uint32, n), make([]uint32, n), make([]uint32, n)
	sorted := true
	for i := range n {
		t.order[i] = uint32(i)
		sorted = sorted && (i == 0 || u32(t.config.Data, (i-1)*t.size) <= u32(t.config.Data, i*t.size))
	}
	if !sorted {
		slices.SortStableFunc(t.order, func(a, b uint32) int {
			return cmp.Compare(u32(t.config.Data, int(a)*t.size), u32(t.config.Data, int(b)*t.size))
		})
	}
	for i := range n {
		t.starts[i] = u32(t.config.Data, int(t.order[i])*t.size)
	}
	for i := range n {
		next := uint32(1<<32 - 1)
		if i+1 < n {
			next = t.starts[i+1]
		}
		t.ends[i] = max(t.starts[i], min(next, t.end(i, next)))
	}
}

// end returns the end of entry i. next is the start of the next one.
func (t *Table) end(i int, next uint32) uint32 {
	at := int(t.order[i]) * t.size
	second := u32(t.config.Data, at+4)
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
	if end := uint64(t.starts[i]) + 4*uint64(words); end < 1<<32 {
		return uint32(end)
	}
	return next
}

// Find fills e with the entry that covers pc, or returns ErrNotCovered.
func (t *Table) Find(pc uint64, e *Entry) error {
	t.once.Do(t.load)
	i := t.find(pc)
	if i < 0 || pc-t.config.Base >= uint64(t.ends[i]) {
		return ErrNotCovered
	}
	t.fill(i, e)
	return nil
}

// find returns the index of the last entry that begins at or before pc, or -1.
func (t *Table) find(pc uint64) int {
	off := pc - t.config.Base
	n := len(t.starts)
	if off>>32 != 0 || n == 0 || uint32(off) < t.starts[0] {
		return -1
	}
	i := 0
	for n > 1 {
		half := n / 2
		if t.starts[i+half] <= uint32(off) {
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

// leaf returns the bounds of the code around pc that has no entry, or false if pc is not in Leaves.
func (t *Table) leaf(pc uint64) (lo, hi uint64, ok bool) {
	for _, r := range t.config.Leaves {
		if pc < r.Lo || pc >= r.Hi {
			continue
		}
		lo, hi = r.Lo, r.Hi
		i := t.find(pc)
		if i >= 0 {
			lo = max(lo, t.config.Base+uint64(t.ends[i]))
		}
		if i+1 < len(t.starts) {
			hi = min(hi, t.config.Base+uint64(t.starts[i+1]))
		}
		return lo, hi, lo <= pc && pc < hi
	}
	return 0, 0, false
}

// record returns n bytes of the record at an RVA.
func (t *Table) record(rva uint32, n int) []byte {
	return t.config.Read(t.config.Base+uint64(rva), n)
}

func u16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
func u32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
