package symtab

import (
	"cmp"
	"slices"

	"dbg/image"
	"dbg/symbols/spelling"
)

// machoStubAt is StubAt for a Mach-O file.
func (x *Table) machoStubAt(a image.Addr) (Stub, bool) {
	if !x.pltOK {
		x.pltOK = true
		x.stubs = x.file.Stubs()
		slices.SortStableFunc(x.stubs, func(a, b image.Stub) int { return cmp.Compare(a.Addr, b.Addr) })
	}
	i, found := slices.BinarySearchFunc(x.stubs, a, func(s image.Stub, a image.Addr) int { return cmp.Compare(s.Addr, a) })
	if !found {
		i--
	}
	if i < 0 || uint64(a-x.stubs[i].Addr) >= x.stubs[i].Size {
		return Stub{}, false
	}
	s := &x.stubs[i]
	return Stub{spelling.Demangle(s.Name) + "@stub", s.Addr, s.Addr + image.Addr(s.Size)}, true
}

// startedAt returns the extent of the function at an address by the list of function starts, which
// a Mach-O file has even when it is stripped: up to the next start, or the end of its section.
func (x *Table) startedAt(a image.Addr) (lo, hi image.Addr, ok bool) {
	if !x.startsOK {
		x.startsOK = true
		x.starts = x.file.FunctionStarts()
	}
	i, found := slices.BinarySearch(x.starts, a)
	if !found {
		i--
	}
	if i < 0 || !x.IsCode(a) {
		return 0, 0, false
	}
	lo = x.starts[i]
	for _, s := range x.file.Sections() {
		if s.Addr <= lo && uint64(lo-s.Addr) < s.Size {
			hi = s.Addr + image.Addr(s.Size)
		}
	}
	if i+1 < len(x.starts) {
		hi = min(hi, x.starts[i+1])
	}
	return lo, hi, a < hi
}
