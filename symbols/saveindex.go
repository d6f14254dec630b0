package symbols

import (
	"sync/atomic"

	"dbg/dwarf"
	"dbg/dwarf/linetable"
	"dbg/image"
	"dbg/internal/fault"
	"dbg/symbols/names"
)

// SaveIndex builds the index of names, with the places of breakpoints on all functions, and saves
// it in Options.IndexDir. The module must not be used while it runs. It returns the path of the
// file, "" if there is one already.
func (m *Module) SaveIndex() (string, error) { return m.names.Save(&placer{m: m}) }

// worthSaving is how many bytes of debug information make an index worth saving without being
// asked.
const worthSaving = 4 << 20

// saveBuilt saves an index that was built for a question, in the background, if it is worth it. It
// uses a module of its own, as m goes on being used.
func (m *Module) saveBuilt(built *names.Index) {
	d := m.dwarf()
	if m.opt.IndexDir == "" || d == nil || d.Size() < worthSaving || d.HasSkeletons() {
		return
	}
	f := m.files.InfoFile()
	id, size, path, opt := f.BuildID(), d.Size(), f.Path(), m.opt
	opt.Fetcher, opt.Arrived, opt.Progress, opt.Cancelled = nil, nil, nil, nil
	save := func() {
		f, err := image.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		m := Load(f, opt)
		defer m.Close()
		if d := m.dwarf(); d == nil || f.BuildID() != id || d.Size() != size {
			return
		}
		_ = m.names.SaveCopy(built, &placer{m: m})
	}
	go func() { _ = fault.Catch(save) }() // it is a cache: without it the next index takes longer
}

// placer is the names.Placer of a module.
type placer struct {
	m *Module
	// Memory that is reused from unit to unit.
	rows   []linetable.Row
	placed []bool
	spent  atomic.Int64
}

func (p *placer) Place(du *dwarf.Unit, starts, ends []uint64, set func(i int, at uint64) bool) {
	u := p.m.unit(du)
	if u.goodFromEntry() {
		for i, lo := range starts {
			set(i, lo)
		}
		return
	}
	p.placed = append(p.placed[:0], make([]bool, len(starts))...)
	all := u.dw.Files().EachAt(starts, &p.rows, &p.spent, func(i int, l linetable.Sequence) {
		if set(i, uint64(p.m.prologueEndIn(u, l, starts[i], ends[i]))) {
			p.placed[i] = true
		}
	})
	for i, lo := range starts { // functions without lines
		if all && !p.placed[i] {
			set(i, uint64(p.m.afterInstructions(image.Addr(lo))))
		}
	}
}
