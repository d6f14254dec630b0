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

// Config says what a table is made of. Addresses are in the file's address space.
type Config struct {
	Arch *arch.Arch

	Data  []byte // .eh_frame or .debug_frame
	Addr  uint64 // the section's address; not used for .debug_frame
	Debug bool   // it is .debug_frame

	// Hdr is .eh_frame_hdr, or nil.
	Hdr     []byte
	HdrAddr uint64

	// PtrSize is the size of an address in the tables where that is not the architecture's:
	// 4 for x32. 0 is the architecture's.
	PtrSize int

	// DarwinEH says that the section is the __eh_frame of a Mach-O file: on i386 ESP is 5 there and EBP 4, unlike in
	// all else (LLVM's DWARFFlavour::X86_32_DarwinEH, GCC's DWARF2_FRAME_REG_OUT). Rows come with the usual numbers.
	DarwinEH bool

	// Text and DataBase are what DW_EH_PE_textrel and DW_EH_PE_datarel are relative to
	// (.eh_frame_hdr's datarel is always relative to itself).
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

	darwin bool // registers are numbered as DarwinEH says

	ptr    int  // size of an address
	little bool // numbers are little-endian

	headerOnce  sync.Once
	headerWhole atomic.Bool // its table may be taken for the index, as far as anybody has seen

	indexOnce sync.Once
	index     []span       // of the whole section, disjoint, by address
	costly    map[int]bool // those that EachRow leaves to RowAt, see maxParts

	execs sync.Pool // of *exec: their buffers, and the CIEs that they know, are worth keeping
}

// ErrNotCovered says that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// New makes a table. It looks at the header's first bytes and at nothing else.
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

// Name is the name of the section that the table is made from.
func (t *Table) Name() string { return t.name() }

// exec gives a machine that nobody else uses; done gives it back.
func (t *Table) exec() *exec { return t.execs.Get().(*exec) }

func (t *Table) done(x *exec) {
	x.row = nil // the caller's
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

// Bounds are the bounds of the FDE at pc.
func (t *Table) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	f, ok := t.Find(pc)
	return f.Lo, f.Hi, ok
}

// find finds the entry that covers pc, and its CIE.
func (x *exec) find(pc uint64) (e entry, k *known, ok bool) {
	t := x.t
	if off, ok := t.searchHeader(pc); ok {
		if k, err := x.entry(off, &e); err == nil && e.lo <= pc && pc < e.hi {
			return e, k, true
		}
	}
	// Not found, or the header is missing, unsorted or wrong, or has a gap: the
	// section itself decides.
	if off, ok := t.searchIndex(pc); ok {
		k, err := x.entry(off, &e)
		return e, k, err == nil
	}
	return e, nil, false
}

// RowAt fills r with the row that is valid at pc. ErrNotCovered means that there is no
// entry; any other error is a defect of the one there is.
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
			return x.fail(defect("its instructions end before the address"))
		}
	}
}

// FDEs yields the entries of the section in their order. An entry that can't be read comes
// with its error and only its Offset; one whose length is wrong is the last.
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

// Rows yields the rows of an entry, by rising address. The Row is valid until
// the next is asked for. An error ends it: the rows before are good.
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
			if t.darwin { // the state is needed for the next row
				if row, err = x.darwinRow(); err != nil {
					break
				}
			}
			if !yield(row, nil) {
				return
			}
		}
		if err == nil {
			err = x.rest()
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
