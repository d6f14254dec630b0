package symbols

import (
	"cmp"
	"slices"

	"dbg/image"
	"dbg/symbols/spelling"
)

// stubAt returns the name "puts@stub" of a symbol stub of a Mach-O file, and
// where it starts and ends: the counterpart of pltAt.
func (m *Module) stubAt(a image.Addr) (name string, lo, hi image.Addr, ok bool) {
	x := m.elf
	if !x.pltOK {
		x.pltOK = true
		x.stubs = m.file.Stubs()
		slices.SortStableFunc(x.stubs, func(a, b image.Stub) int { return cmp.Compare(a.Addr, b.Addr) })
	}
	i, found := slices.BinarySearchFunc(x.stubs, a, func(s image.Stub, a image.Addr) int { return cmp.Compare(s.Addr, a) })
	if !found {
		i--
	}
	if i < 0 || uint64(a-x.stubs[i].Addr) >= x.stubs[i].Size {
		return "", 0, 0, false
	}
	s := &x.stubs[i]
	return spelling.Demangle(s.Name) + "@stub", s.Addr, s.Addr + image.Addr(s.Size), true
}

// startedAt gives the extent of the function at an address by the list of
// function starts, which a Mach-O file has even when it is stripped: up to the
// next start, or the end of its section.
func (m *Module) startedAt(a image.Addr) (lo, hi image.Addr, ok bool) {
	x := m.elf
	if !x.startsOK {
		x.startsOK = true
		x.starts = m.file.FunctionStarts()
	}
	i, found := slices.BinarySearch(x.starts, a)
	if !found {
		i--
	}
	if i < 0 || !m.isCode(a) {
		return 0, 0, false
	}
	lo = x.starts[i]
	for _, s := range m.file.Sections() {
		if s.Addr <= lo && uint64(lo-s.Addr) < s.Size {
			hi = s.Addr + image.Addr(s.Size)
		}
	}
	if i+1 < len(x.starts) {
		hi = min(hi, x.starts[i+1])
	}
	return lo, hi, a < hi
}
