package image

import "debug/elf"

// constantPage is the page size with which ConstantMemory computes. Processes with larger pages have the same
// memory in these pages.
const constantPage = 4096

// ConstantMemory fills buf with what a process has in memory at addr, an address in the file, as far as no
// process can have anything else there: in the pages of segments that are not writable. The rest of a
// segment's last page has what follows in the file. It returns the number of bytes. It knows ELF files only,
// and none with text relocations: see HasTextRelocations.
func (f *File) ConstantMemory(addr Addr, buf []byte) (n int) {
	if f.macho != nil || f.object != nil || f.mapped != nil {
		return 0
	}
	for i := range f.loads {
		s := &f.loads[i]
		lo, hi := s.pages()
		if addr < lo || addr >= hi || s.Write || (uint64(s.Lo)^s.FileOff)%constantPage != 0 || s.Hi-s.Lo != Addr(s.FileSize) {
			continue
		}
		for j := range f.loads { // a segment that follows in the same page is mapped over this one
			if from, to := f.loads[j].pages(); j != i && from < hi && lo < to {
				return 0
			}
		}
		off := s.FileOff - uint64(s.Lo-lo) + uint64(addr-lo)
		if off >= uint64(len(f.data)) {
			return 0
		}
		return copy(buf[:min(uint64(len(buf)), uint64(hi-addr))], f.data[off:])
	}
	return 0
}

// pages returns the range of the segment's pages.
func (s *Segment) pages() (lo, hi Addr) {
	return s.Lo &^ (constantPage - 1), (s.Hi + constantPage - 1) &^ (constantPage - 1)
}

// HasTextRelocations reports whether the dynamic linker changes segments that are not writable.
func (f *File) HasTextRelocations() (found bool) {
	f.dynamic(func(tag elf.DynTag, val uint64) {
		if tag == elf.DT_TEXTREL || tag == elf.DT_FLAGS && val&uint64(elf.DF_TEXTREL) != 0 {
			found = true
		}
	})
	return found
}
