package orc

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Config holds the inputs of a table. Relocations of the sections must have been applied.
type Config struct {
	IP     []byte // .orc_unwind_ip
	IPAddr uint64 // its address
	Unwind []byte // .orc_unwind
	Header []byte // .orc_header, or nil if there is none

	// Release is the kernel's, such as "6.1.0-56-amd64", or "". Without .orc_header it decides which version the
	// format has. Without it, an offset from the word at SP is an error unless the version tells its meaning.
	Release string

	// Version is the version of the format if the caller knows it, or Unknown.
	Version Version

	// End is the end of the code that the last entry covers, or 0: then nothing is known of the last entry.
	End uint64
}

// Table is the ORC of the kernel or of a module.
type Table struct {
	Config
	version Version // the version that is used
	basis   string
	sum     sum
	count   int
	lo      uint64   // the address of the first entry
	order   []uint32 // the entries by ascending address, or nil if they are sorted
	shift   uint8    // a block has 1<<shift bytes
	blocks  []uint32 // of each block from lo on: the last entry that begins at or before its start

	expressions map[uint32][]byte // by keyOf
}

// sum is when an offset from the word at SP is added.
type sum uint8

const (
	sumUnknown sum = iota
	sumBefore      // to SP, before the word is read: Linux before 5.12
	sumAfter       // to the word
)

// Errors of tables and look-ups.
var (
	ErrNotCovered = errors.New("no entry covers this address")
	ErrVersion    = errors.New("the version of the ORC format is unknown")

	errAmbiguous = errors.New("another entry for the same address differs")
	errSum       = errors.New("without the kernel's release, an offset from the word at SP has no meaning")
)

// New makes a table. It is an error if the sections do not fit each other, or if the version of the format
// can't be told (ErrVersion). New reads all entries.
func New(c Config) (*Table, error) {
	n := len(c.IP) / ipSize
	switch {
	case len(c.IP)%ipSize != 0 || len(c.Unwind)%entrySize != 0 || len(c.Unwind)/entrySize != n:
		return nil, fmt.Errorf(".orc_unwind_ip has %d bytes and .orc_unwind has %d: expected %d and %d for each entry",
			len(c.IP), len(c.Unwind), ipSize, entrySize)
	case n > math.MaxInt32:
		return nil, fmt.Errorf(".orc_unwind_ip has %d entries, too many", n)
	}
	t := &Table{Config: c, count: n}
	if err := t.findVersion(); err != nil {
		return nil, err
	}
	if err := t.sort(); err != nil {
		return nil, err
	}
	t.index()
	t.makeExpressions()
	return t, nil
}

// findVersion determines the version, and the meaning of an offset from the word at SP.
func (t *Table) findVersion() error {
	one, possible := VersionOfEntries(t.Unwind)
	byRelease := VersionOfRelease(t.Release)
	switch {
	case t.Config.Version != Unknown:
		t.version, t.basis = t.Config.Version, "the caller"
	case len(t.Header) > 0:
		t.version, t.basis = VersionOfHeader(t.Header), ".orc_header"
		if t.version == Unknown {
			return fmt.Errorf("%w: .orc_header is %x", ErrVersion, t.Header)
		}
	case byRelease != Unknown:
		t.version, t.basis = byRelease, "the kernel's release "+t.Release
		if !slices.Contains(possible, byRelease) {
			return fmt.Errorf("%w: the entries are not those of Linux %s", ErrVersion, t.Release)
		}
	case one != Unknown:
		t.version, t.basis = one, "the entries"
	default:
		return fmt.Errorf("%w: there is no .orc_header, the kernel's release is unknown, and the entries may have versions %v",
			ErrVersion, possible)
	}
	switch r := parseRelease(t.Release); {
	case t.version >= V2 || r >= kernel(5, 12):
		t.sum = sumAfter
	case r != 0:
		t.sum = sumBefore
	}
	return nil
}

// ChosenVersion returns the version of the format, and Basis what it was told from, such as ".orc_header".
func (t *Table) ChosenVersion() Version { return t.version }
func (t *Table) Basis() string          { return t.basis }

// Name returns the name of the section.
func (t *Table) Name() string { return ".orc_unwind" }

// Entries returns the number of entries.
func (t *Table) Entries() int { return t.count }

// at returns the number in the section of the entry with number i in the order of addresses.
func (t *Table) at(i int) int {
	if t.order == nil {
		return i
	}
	return int(t.order[i])
}

// place returns the address of the entry with a number in the section, relative to that of .orc_unwind_ip.
func (t *Table) place(n int) int64 {
	return int64(n)*ipSize + int64(int32(binary.LittleEndian.Uint32(t.IP[n*ipSize:])))
}

// start returns the address of entry i in the order of addresses.
func (t *Table) start(i int) uint64 { return t.IPAddr + uint64(t.place(t.at(i))) }

// isGap reports whether the entry with a number in the section is a gap. Linked sections end in one, often at the
// address of the next section's first entry, which counts.
func (t *Table) isGap(n int) bool {
	var e Entry
	e.decode(t.version, t.Unwind[n*entrySize:])
	return e.Type == Gap
}

// compare orders entries by address; gaps come before other entries of the same address, as in the kernel.
func (t *Table) compare(a, b int) int {
	pa, pb := t.place(a), t.place(b)
	if pa != pb {
		return cmp.Compare(pa, pb)
	}
	ga, gb := t.isGap(a), t.isGap(b)
	switch {
	case ga && !gb:
		return -1
	case gb && !ga:
		return 1
	}
	return 0
}

// sort determines the order of addresses.
func (t *Table) sort() error {
	sorted := true
	for i := 1; i < t.count && sorted; i++ {
		sorted = t.compare(i-1, i) <= 0
	}
	if !sorted {
		t.order = make([]uint32, t.count)
		for i := range t.order {
			t.order[i] = uint32(i)
		}
		slices.SortStableFunc(t.order, func(a, b uint32) int { return t.compare(int(a), int(b)) })
	}
	if t.count == 0 {
		return nil
	}
	t.lo = t.start(0)
	if t.start(t.count-1) < t.lo {
		return fmt.Errorf("the addresses of .orc_unwind_ip wrap around: from 0x%x to 0x%x", t.lo, t.start(t.count-1))
	}
	return nil
}

// index makes the blocks: about as many as there are entries.
func (t *Table) index() {
	if t.count == 0 {
		return
	}
	span := t.start(t.count-1) - t.lo
	t.shift = uint8(max(0, bits.Len64(span)-bits.Len(uint(t.count))))
	t.blocks = make([]uint32, span>>t.shift+2)
	k := 0
	for b := range t.blocks {
		from := uint64(b) << t.shift
		for k+1 < t.count && t.start(k+1)-t.lo <= from {
			k++
		}
		t.blocks[b] = uint32(k)
	}
}

// find returns the entry that covers pc, in the order of addresses: the last one that begins at or before it.
func (t *Table) find(pc uint64) (int, error) {
	if t.count == 0 || pc < t.lo {
		return 0, ErrNotCovered
	}
	b := (pc - t.lo) >> t.shift
	if b >= uint64(len(t.blocks)-1) {
		if i := t.count - 1; pc < t.end(i) {
			return i, nil
		}
		return 0, ErrNotCovered
	}
	lo, hi := int(t.blocks[b]), int(t.blocks[b+1])
	for lo < hi {
		if m := (lo + hi + 1) / 2; t.start(m) <= pc {
			lo = m
		} else {
			hi = m - 1
		}
	}
	if lo == t.count-1 && pc >= t.end(lo) {
		return 0, ErrNotCovered
	}
	return lo, nil
}

// end returns where the code of entry i ends, in the order of addresses.
func (t *Table) end(i int) uint64 {
	if i+1 < t.count {
		return t.start(i + 1)
	}
	return max(t.start(i), t.End)
}

// Entry fills e with entry i in the order of addresses. An error means that the entry can't be used; Lo, Hi and Index
// are valid.
func (t *Table) Entry(i int, e *Entry) error {
	n := t.at(i)
	e.decode(t.version, t.Unwind[n*entrySize:])
	e.Lo, e.Hi, e.Index = t.start(i), t.end(i), n
	if err := e.check(); err != nil {
		return &Error{n, err}
	}
	if i > 0 && t.start(i-1) == e.Lo {
		if m := t.at(i - 1); !t.isGap(m) && !bytes.Equal(t.Unwind[m*entrySize:][:entrySize], t.Unwind[n*entrySize:][:entrySize]) {
			return &Error{n, errAmbiguous}
		}
	}
	return nil
}
