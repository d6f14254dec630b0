package frames

import (
	"slices"

	"dbg/arch"
	"dbg/image"
)

// isThumb reports whether the function that starts at an address in the file is Thumb code. Its
// symbol decides. Without one, the function is Thumb code if its first words do not look like ARM
// instructions, nearly all of which are unconditional.
func (w *Walk) isThumb(m *Module, lo uint64) bool {
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
		return true
	}
	if _, ok := slices.BinarySearch(m.functions, lo); ok {
		return false
	}
	if lo%4 != 0 {
		return true
	}
	var buf [16]byte
	b := (&simulation{w: w, module: m}).read(lo+m.contents.Bias, buf[:])
	return len(b) < 8 || b[3]>>4 != 14 || b[7]>>4 != 14
}
