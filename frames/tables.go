package frames

import (
	"sync"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// tables is what is derived from a module's sections. It is made when it is first
// needed and never changes then.
type tables struct {
	once      sync.Once
	debug, eh *cfi.Table // nil if there is no such section
	entryLo   uint64     // the function at Module.Entry, in the file's address space
	entryHi   uint64
}

// entryGuess is how far the entry function is taken to reach where no table says it:
// _start is about 40 bytes everywhere.
const entryGuess = 64

func (m *Module) load(a *arch.Arch) *tables {
	t := &m.tables
	t.once.Do(func() {
		if len(m.DebugFrame.Data) > 0 {
			t.debug = cfi.New(cfi.Config{Arch: a, Data: m.DebugFrame.Data, Addr: m.DebugFrame.Addr, Debug: true})
		}
		if len(m.EHFrame.Data) > 0 {
			t.eh = cfi.New(cfi.Config{Arch: a, Data: m.EHFrame.Data, Addr: m.EHFrame.Addr,
				Hdr: m.EHFrameHdr.Data, HdrAddr: m.EHFrameHdr.Addr, Text: m.Text, DataBase: m.Data})
		}
		if m.Entry == 0 {
			return
		}
		t.entryLo, t.entryHi = m.Entry, m.Entry+entryGuess
		for _, table := range []*cfi.Table{t.debug, t.eh} {
			if table == nil {
				continue
			}
			if f, ok := table.Find(m.Entry); ok {
				t.entryLo, t.entryHi = f.Lo, f.Hi
				break
			}
		}
	})
	return t
}

// rowAt finds the row at pc, an address of the file. .debug_frame goes first: where
// both cover an address it is the one that describes every instruction.
func (m *Module) rowAt(a *arch.Arch, pc uint64, r *row.Row) error {
	t := m.load(a)
	var debugErr error
	if t.debug != nil {
		if debugErr = t.debug.RowAt(pc, r); debugErr == nil {
			return nil
		}
	}
	if t.eh != nil {
		err := t.eh.RowAt(pc, r)
		if err != cfi.ErrNotCovered || debugErr == nil {
			return err
		}
	}
	if debugErr != nil {
		return debugErr
	}
	return cfi.ErrNotCovered
}

// inEntry reports whether pc, an address of the file, is in the function at Entry.
func (m *Module) inEntry(a *arch.Arch, pc uint64) bool {
	t := m.load(a)
	return t.entryLo <= pc && pc < t.entryHi
}

// Tables returns the module's call frame information, nil for what it has not,
// for those who print it.
func (m *Module) Tables(a *arch.Arch) (debugFrame, ehFrame *cfi.Table) {
	t := m.load(a)
	return t.debug, t.eh
}
