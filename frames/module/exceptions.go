package module

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/cfi/lsda"
	"dbg/compact"
	"dbg/ehabi"
	"dbg/image"
)

// Exceptions is what a table says of the exceptions that pass through a function. Addresses are those
// of the file.
type Exceptions struct {
	Personality uint64      // address of the personality routine, or 0
	Indirect    bool        // Personality is the address of a pointer to it
	Sites       *lsda.Table // the call sites, or nil if the function has none
}

// ExceptionsAt returns what the module's tables say of exceptions at pc, an address in the file. The
// result is empty if no table covers pc. The error is that of the language-specific data.
func (m *Module) ExceptionsAt(a *arch.Arch, pc uint64) (x Exceptions, err error) {
	for _, s := range m.load(a).list {
		fn, data, ok := uint64(0), uint64(0), false
		switch t := s.table.(type) {
		case *cfi.Table:
			fn, data, ok = x.ofFDE(t, pc)
		case compactTable:
			fn, data, ok = x.ofCompact(a, t.Refiner.Table(), pc)
		case ehabiTable:
			fn, data, ok = x.ofEntry(t.Table, pc)
		}
		if !ok {
			continue
		}
		if data != 0 && m.contents.file != nil {
			x.Sites, err = m.readSites(a, fn, data)
		}
		return x, err
	}
	return x, nil
}

func (m *Module) readSites(a *arch.Arch, fn, data uint64) (*lsda.Table, error) {
	f := m.contents.file
	return lsda.Read(&lsda.Config{Func: fn, PtrSize: a.PtrSize, Big: f.BigEndian(), ARM: a == arch.ARM, Text: m.contents.Text,
		Data: m.contents.Data, Read: func(addr uint64, n int) []byte { return f.BytesAt(image.Addr(addr), n) }}, data)
}

// ofFDE returns the start of the function and the address of its data, or false if no FDE covers pc.
func (x *Exceptions) ofFDE(t *cfi.Table, pc uint64) (fn, data uint64, ok bool) {
	f, ok := t.Find(pc)
	if !ok {
		return 0, 0, false
	}
	if f.CIE.HasPersonality {
		x.Personality, x.Indirect = f.CIE.Personality, f.CIE.Indirect
	}
	if f.HasLSDA {
		data = f.LSDA
	}
	return f.Lo, data, true
}

func (x *Exceptions) ofCompact(a *arch.Arch, t *compact.Table, pc uint64) (fn, data uint64, ok bool) {
	var e compact.Entry
	if t.Find(pc, &e) != nil || e.Opcode.Kind(a) == compact.DWARF {
		return 0, 0, false // __eh_frame has the function
	}
	if slot, ok, err := t.Personality(&e); ok && err == nil {
		x.Personality, x.Indirect = slot, true
	}
	if at, ok, err := t.LSDA(&e); ok && err == nil {
		data = at
	}
	return e.Lo, data, true
}

func (x *Exceptions) ofEntry(t *ehabi.Table, pc uint64) (fn, data uint64, ok bool) {
	var e ehabi.Entry
	if t.Find(pc, &e) != nil {
		return 0, 0, false
	}
	x.Personality = e.Personality &^ 1
	data, _ = e.LSDA()
	return e.Lo, data, true
}
