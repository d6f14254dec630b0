package image

import "debug/elf"

// TLS returns the size in memory and the alignment, in bytes, of the file's thread-local storage
// template (PT_TLS). It returns false if the file has none.
func (f *File) TLS() (size, align uint64, ok bool) {
	for _, p := range f.progs {
		if p.Type == elf.PT_TLS {
			return p.MemSize, p.Align, true
		}
	}
	return 0, 0, false
}
