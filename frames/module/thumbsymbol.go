package module

import (
	"slices"

	"dbg/arch"
	"dbg/image"
)

// ThumbSymbol reports whether the function that starts at lo, an address in the file, is Thumb code
// according to its symbol. known is false if it has no symbol.
func (m *Module) ThumbSymbol(lo uint64) (thumb, known bool) {
	m.thumbOnce.Do(func() {
		m.contents.reading.Lock()
		defer m.contents.reading.Unlock()
		for _, f := range []*image.File{m.contents.file, m.contents.debug} {
			if f == nil || f.Arch() != arch.ARM {
				continue
			}
			for i, a := range f.SymbolTable().Addrs() {
				if e, ok := f.SymbolTable().Entry(i); ok && e.Kind == image.Func {
					m.functions = append(m.functions, uint64(a))
				}
			}
		}
		slices.Sort(m.functions)
	})
	if _, ok := slices.BinarySearch(m.functions, lo|1); ok {
		return true, true
	}
	_, ok := slices.BinarySearch(m.functions, lo)
	return false, ok
}
