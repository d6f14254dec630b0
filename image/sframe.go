package image

import "debug/elf"

const (
	sframeName = ".sframe"
	ptSFrame   = elf.ProgType(0x6474e554) // PT_GNU_SFRAME
)

// SFrame returns .sframe: the section, or what the program header PT_GNU_SFRAME covers ("The SFrame
// Format", section 1.1) if the file has no section headers. That may be longer than the section. Data is
// nil in a separate debug file.
func (f *File) SFrame() (s Section, ok bool) {
	if s, ok = f.Section(sframeName); ok {
		return s, true
	}
	if len(f.Sections()) > 0 && f.mapped == nil {
		return s, false
	}
	for _, p := range f.progs {
		if p.Type != ptSFrame {
			continue
		}
		s = Section{Name: sframeName, Addr: Addr(p.Addr), Offset: p.Off, Size: p.FileSize}
		if f.mapped != nil {
			s.Data = f.mapped.some(p.Addr, min(p.FileSize, 1<<28))
			return s, uint64(len(s.Data)) == p.FileSize
		}
		b, off := f.fromAddr(s.Addr)
		if uint64(len(b)) < p.FileSize {
			return s, false
		}
		s.Data, s.Offset = b[:p.FileSize:p.FileSize], off
		return s, true
	}
	return s, false
}
