package mipseh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sort"

	"dbg/row"
)

// Config holds the inputs of a table.
type Config struct {
	ABI   ABI
	Order binary.ByteOrder
	Data  []byte // the linked .eh_frame_hdr
	Addr  uint64 // its address

	// Bytes returns the bytes of the file from an address on, at most n and as many as follow, or nil.
	// It reads .gnu_extab.
	Bytes func(addr uint64, n int) []byte
}

// Table is an .eh_frame_hdr of version 2. Several goroutines may use it.
type Table struct {
	Config
	count int
}

// Form is the form of an entry.
type Form uint8

const (
	Inline    Form = iota // the instructions are in the entry
	OutOfLine             // they are in .gnu_extab
	FDE                   // the entry refers to .eh_frame
)

func (f Form) String() string { return [...]string{"inline", "out of line", "FDE"}[f] }

// Entry is an entry of the table.
type Entry struct {
	Lo, Hi uint64 // the code up to the next entry
	Offset int    // in the section
	Form   Form
	Data   uint64 // the address of the data, except for Inline

	// Index is the number of the personality routine: 1 for functions that only unwind, 2 and 3 for
	// those of C++ with compact data. 0 means that Personality has its address (GNU as calls the
	// entry generic).
	Index       uint8
	Personality uint64
	Code        []byte // the instructions, up to and with Finish

	// LSDA is the address after the instructions of an entry that is OutOfLine. Its data for exceptions
	// begins there if it has any.
	LSDA uint64
}

// ErrNotCovered reports that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

const (
	headerSize = 8
	entrySize  = 8
	pcRelative = 0x1b // DW_EH_PE_pcrel and DW_EH_PE_sdata4
	maxCode    = 256  // bytes of instructions; compilers write about ten

	// terminator is the data of the last entry, in memory order: personality 1, and twice "can't unwind".
	terminator = "\x01\x5d\x5d\x01"
)

// IsTable reports whether a section .eh_frame_hdr is a table of this format.
func IsTable(data []byte) bool { return len(data) >= headerSize && data[0] == 2 }

// New makes a table. It reads the header only.
func New(c Config) (*Table, error) {
	if !IsTable(c.Data) {
		return nil, fmt.Errorf(".eh_frame_hdr is not a compact table: it is not of version 2")
	}
	if c.Data[1] != pcRelative {
		return nil, fmt.Errorf("unsupported pointer encoding 0x%x in .eh_frame_hdr", c.Data[1])
	}
	n := c.Order.Uint32(c.Data[4:])
	if room := (len(c.Data) - headerSize) / entrySize; uint64(n) > uint64(room) {
		return nil, fmt.Errorf(".eh_frame_hdr has room for %d entries, but its header counts %d", room, n)
	}
	return &Table{c, int(n)}, nil
}

// Name returns the name of the section that compilers write.
func (t *Table) Name() string { return ".eh_frame_entry" }

// Entries returns the number of entries, with the one that marks the end.
func (t *Table) Entries() int { return t.count }

// mask limits addresses to the size of the ABI's.
func (t *Table) mask(a uint64) uint64 {
	if t.ABI == N64 {
		return a
	}
	return a & 0xffffffff
}

// relative decodes the pointer at an offset, without its lowest bit, which is a flag.
func (t *Table) relative(off int) (addr uint64, flag bool) {
	v := t.Order.Uint32(t.Data[off:])
	return t.mask(t.Addr + uint64(off) + uint64(int64(int32(v&^1)))), v&1 != 0
}

func (t *Table) start(i int) uint64 {
	a, _ := t.relative(headerSize + i*entrySize)
	return a
}

// end returns where the code of entry i ends: at the next entry.
func (t *Table) end(i int) uint64 {
	if i+1 < t.count {
		return t.start(i + 1)
	}
	return t.start(i)
}

// All iterates over all entries except the one that marks the end. An invalid entry comes with its error;
// Lo, Hi and Offset are valid. The entry belongs to the iterator.
func (t *Table) All() iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var e Entry
		for i := range t.count {
			err := t.entry(i, &e)
			if err == nil && e.Hi < e.Lo {
				err = t.defect(&e, "the next entry's address 0x%x is before 0x%x", e.Hi, e.Lo)
			}
			if t.isEnd(i) {
				return
			}
			if !yield(&e, err) {
				return
			}
		}
	}
}

// isEnd reports whether entry i only marks the end of the code.
func (t *Table) isEnd(i int) bool {
	off := headerSize + i*entrySize
	return i == t.count-1 && string(t.Data[off+4:off+8]) == terminator
}

// Find fills e with the entry that covers pc.
func (t *Table) Find(pc uint64, e *Entry) error {
	i := sort.Search(t.count, func(i int) bool { return t.start(i) > pc }) - 1
	if i < 0 || pc >= t.end(i) {
		return ErrNotCovered
	}
	return t.entry(i, e)
}

// RowAt fills r with the row of the entry that covers pc.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	var e Entry
	if err := t.Find(pc, &e); err != nil {
		return err
	}
	return t.Row(&e, r)
}

func (t *Table) defect(e *Entry, format string, args ...any) error {
	return fmt.Errorf(".eh_frame_entry entry at 0x%x: %s", e.Offset, fmt.Sprintf(format, args...))
}

func (t *Table) entry(i int, e *Entry) error {
	off := headerSize + i*entrySize
	lo, outside := t.relative(off)
	*e = Entry{Lo: lo, Hi: t.end(i), Offset: off}
	if !outside {
		e.Index, e.Code = t.Data[off+4], t.Data[off+5:off+8]
		return t.trim(e, false)
	}
	var legacy bool
	e.Form = OutOfLine
	if e.Data, legacy = t.relative(off + 4); legacy {
		e.Form = FDE
		return nil
	}
	var b []byte
	if t.Bytes != nil {
		b = t.Bytes(e.Data, 5+maxCode)
	}
	if len(b) == 0 {
		return t.defect(e, "its data at 0x%x is not in the file", e.Data)
	}
	e.Index, e.Code = b[0], b[1:]
	if e.Index == 0 {
		if len(b) < 5 {
			return t.defect(e, "its data at 0x%x is cut short", e.Data)
		}
		e.Personality = t.mask(e.Data + 1 + uint64(int64(int32(t.Order.Uint32(b[1:])))))
		e.Code = b[5:]
	}
	before := len(b) - len(e.Code)
	err := t.trim(e, true)
	e.LSDA = e.Data + uint64(before+len(e.Code))
	return err
}

// trim cuts the code after Finish. The three bytes of an inline entry may end without it.
func (t *Table) trim(e *Entry, mustFinish bool) error {
	for i := 0; i < len(e.Code); {
		op := decode(e.Code[i:])
		i += op.Size
		if op.Kind == Finish || op.Kind == NoUnwind {
			e.Code = e.Code[:i]
			return nil
		}
	}
	if mustFinish {
		e.Code = e.Code[:min(len(e.Code), maxCode)]
		return t.defect(e, "its instructions at 0x%x have no end", e.Data)
	}
	return nil
}

// Ops iterates over the entry's instructions, with their offsets in Code.
func (e *Entry) Ops() iter.Seq2[int, *Op] {
	return func(yield func(int, *Op) bool) {
		for i := 0; i < len(e.Code); {
			op := decode(e.Code[i:])
			if !yield(i, &op) {
				return
			}
			i += op.Size
		}
	}
}
