package cfi

import (
	"encoding/binary"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"dbg/arch"
	"dbg/row"
)

// Config holds the parameters of a table. Addresses are in the file's address space.
type Config struct {
	Arch *arch.Arch

	Data  []byte // .eh_frame or .debug_frame
	Addr  uint64 // the section's address; not used for .debug_frame
	Debug bool   // it is .debug_frame

	// Hdr is .eh_frame_hdr, or nil.
	Hdr     []byte
	HdrAddr uint64

	// PtrSize is the size of an address in the tables if it differs from the architecture's: 4 for
	// x32. 0 means the architecture's.
	PtrSize int

	// DarwinEH is set for the __eh_frame of a Mach-O file. On i386 ESP is register 5 there and EBP
	// 4, unlike everywhere else (LLVM's DWARFFlavour::X86_32_DarwinEH, GCC's
	// DWARF2_FRAME_REG_OUT). Rows have the usual numbers.
	DarwinEH bool

	// Text and DataBase are the bases of DW_EH_PE_textrel and DW_EH_PE_datarel (in .eh_frame_hdr,
	// datarel is always relative to that section).
	Text, DataBase uint64
}

// Table is the call frame information of one section.
type Table struct {
	arch           *arch.Arch
	data           []byte
	addr           uint64
	debug          bool
	text, dataBase uint64
	search         searchTable

	darwin bool // registers are numbered as described for DarwinEH

	ptr    int  // size of an address
	little bool // numbers are little-endian

	headerOnce  sync.Once
	headerWhole atomic.Bool // its table can serve as the index; no counterexample found yet

	indexOnce sync.Once
	index     []span       // covers the whole section; disjoint, by address
	costly    map[int]bool // indices of the spans that EachRow leaves to RowAt, see maxParts

	execs sync.Pool // of *exec: saves their buffers and cached CIEs
}

// ErrNotCovered reports that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// New returns a table. It reads only the first bytes of the header.
func New(c Config) *Table {
	t := &Table{arch: c.Arch, data: c.Data, addr: c.Addr, debug: c.Debug, text: c.Text, dataBase: c.DataBase}
	if t.ptr = c.PtrSize; t.ptr == 0 {
		t.ptr = c.Arch.PtrSize
	}
	t.darwin = c.DarwinEH && c.Arch == arch.I386
	t.little = c.Arch.ByteOrder == binary.LittleEndian
	t.execs.New = func() any { return newExec(t) }
	if !c.Debug && len(c.Hdr) > 0 {
		t.search = t.parseHeader(c.Hdr, c.HdrAddr)
	}
	return t
}

func (t *Table) name() string {
	if t.debug {
		return ".debug_frame"
	}
	return ".eh_frame"
}

// Name returns the name of the section: ".eh_frame" or ".debug_frame".
func (t *Table) Name() string { return t.name() }

// exec returns an exec for exclusive use; done returns it to the pool.
func (t *Table) exec() *exec { return t.execs.Get().(*exec) }

func (t *Table) done(x *exec) {
	x.row = nil // it belongs to the caller
	t.execs.Put(x)
}

// Find returns the FDE that covers pc.
func (t *Table) Find(pc uint64) (FDE, bool) {
	x := t.exec()
	defer t.done(x)
	var f FDE
	e, _, ok := x.find(pc)
	if ok {
		ok = t.fde(e.off, &f, x) == nil
	}
	return f, ok
}

// Bounds returns the bounds of the FDE at pc.
func (t *Table) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	f, ok := t.Find(pc)
	return f.Lo, f.Hi, ok
}

// find returns the entry that covers pc, and its CIE.
func (x *exec) find(pc uint64) (e entry, k *cieState, ok bool) {
	t := x.t
	if off, ok := t.searchHeader(pc); ok {
		if k, err := x.entry(off, &e); err == nil && e.lo <= pc && pc < e.hi {
			return e, k, true
		}
	}
	// The header has no usable FDE for pc: it is missing, unsorted or wrong, or has a gap. The
	// section itself decides.
	if off, ok := t.searchIndex(pc); ok {
		k, err := x.entry(off, &e)
		return e, k, err == nil
	}
	return e, nil, false
}

// RowAt fills r with the row that is valid at pc. It returns ErrNotCovered if no entry covers pc;
// any other error is a defect of the entry.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	x := t.exec()
	defer t.done(x)
	e, k, ok := x.find(pc)
	if !ok {
		return ErrNotCovered
	}
	x.begin(r)
	if err := x.start(&e, k); err != nil {
		return err
	}
	for {
		more, err := x.next()
		if err != nil {
			return err
		}
		if pc < r.Hi {
			return x.numbered()
		}
		if !more {
			return x.fail(defect("instructions end before the address"))
		}
	}
}

// FDEs yields the FDEs of the section in their order. An unreadable one comes with its error and
// only its Offset; one with a wrong length is the last.
func (t *Table) FDEs() iter.Seq2[FDE, error] {
	return func(yield func(FDE, error) bool) {
		x := t.exec()
		defer t.done(x)
		var f FDE
		more := true
		err := t.scan(func(h *header) bool {
			if h.isCIE {
				return true
			}
			err := t.fde(h.off, &f, x)
			if err != nil {
				f = FDE{Offset: h.off}
			}
			more = yield(f, err)
			return more
		})
		if e, ok := err.(*Error); ok && more {
			yield(FDE{Offset: e.Offset}, err)
		}
	}
}

// Rows yields the rows of an entry, by ascending address. A Row is valid until the next iteration.
// An error ends the sequence: the rows before it are valid.
func (t *Table) Rows(f FDE) iter.Seq2[*row.Row, error] {
	return func(yield func(*row.Row, error) bool) {
		x := t.exec()
		defer t.done(x)
		var r row.Row
		x.begin(&r)
		var e entry
		k, err := x.entry(f.Offset, &e)
		if err == nil {
			err = x.start(&e, k)
		}
		for more := err == nil; more; {
			if more, err = x.next(); err != nil || r.Lo >= r.Hi {
				continue
			}
			row := &r
			if t.darwin { // a copy: the next row needs the state
				if row, err = x.darwinRow(); err != nil {
					break
				}
			}
			if !yield(row, nil) {
				return
			}
		}
		if err == nil {
			err = x.checkRest()
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
