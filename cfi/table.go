package cfi

import (
	"errors"
	"iter"
	"sync"

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

	indexOnce sync.Once
	index     []indexed

	execs sync.Pool // of *exec: their buffers are worth keeping
}

// ErrNotCovered says that no entry covers the address.
var ErrNotCovered = errors.New("no entry covers this address")

// New makes a table. It looks at the header's first bytes and at nothing else.
func New(c Config) *Table {
	t := &Table{arch: c.Arch, data: c.Data, addr: c.Addr, debug: c.Debug, text: c.Text, dataBase: c.DataBase}
	t.execs.New = func() any { return new(exec) }
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

// Find returns the FDE that covers pc.
func (t *Table) Find(pc uint64) (FDE, bool) {
	var f FDE
	ok := t.find(pc, &f)
	return f, ok
}

func (t *Table) find(pc uint64, f *FDE) bool {
	if len(t.data) == 0 {
		return false
	}
	if t.search.count > 0 && t.searchHeader(pc, f) {
		return true
	}
	// Not found, or the header is missing, unsorted or wrong, or has a gap: the
	// section itself decides.
	return t.searchIndex(pc, f)
}

// RowAt fills r with the row that is valid at pc. ErrNotCovered means that there is no
// entry; any other error is a defect of the one there is.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	x := t.execs.Get().(*exec)
	defer t.execs.Put(x)
	if !t.find(pc, &x.fde) {
		return ErrNotCovered
	}
	if err := x.start(t, r); err != nil {
		return err
	}
	for {
		more, err := x.next()
		if err != nil {
			return err
		}
		if pc < r.Hi {
			return nil
		}
		if !more {
			return t.err(x.fde.Offset, "its instructions end before the address")
		}
	}
}

// FDEs yields the entries of the section in their order. An entry that can't be read comes
// with its error and only its Offset.
func (t *Table) FDEs() iter.Seq2[FDE, error] {
	return func(yield func(FDE, error) bool) {
		var cie CIE
		t.scan(func(h *header) bool {
			if h.isCIE {
				return true
			}
			var f FDE
			err := t.fde(h.off, &f, &cie)
			if err != nil {
				f = FDE{Offset: h.off}
			} else {
				cie = f.CIE
			}
			return yield(f, err)
		})
	}
}

// Rows yields the rows of an entry, by rising address. The Row is valid until
// the next is asked for. An error ends it: the rows before are good.
func (t *Table) Rows(f FDE) iter.Seq2[*row.Row, error] {
	return func(yield func(*row.Row, error) bool) {
		x := t.execs.Get().(*exec)
		defer t.execs.Put(x)
		var r row.Row
		x.fde = f
		if err := x.start(t, &r); err != nil {
			yield(nil, err)
			return
		}
		for {
			more, err := x.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if r.Lo < r.Hi && !yield(&r, nil) || !more {
				return
			}
		}
	}
}
