package image

import (
	"errors"
	"fmt"

	"dbg/image/inflate"
)

// MiniDebug opens the file in .gnu_debugdata: an ELF file, compressed with xz, whose .symtab has
// the functions that are missing from .dynsym (gdb's manual, "Debugging information in a special
// section"). It returns nil without an error if f has no such section. The result needs no Close.
func (f *File) MiniDebug() (*File, error) {
	const section = ".gnu_debugdata"
	if f.macho != nil || !f.HasSection(section) {
		return nil, nil
	}
	raw, err := f.SectionData(section)
	if raw == nil || err != nil {
		return nil, err // a debug file has the section without its contents
	}
	data, err := inflate.XZ(raw)
	if err == nil && len(data) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: section %s at offset 0x%x: %w", f.path, section, f.sects[f.findSection(section)].off, err)
	}
	mini, err := FromMemory(f.path+"["+section+"]", data)
	if err != nil {
		return nil, err
	}
	if got := mini.BuildID(); got != "" {
		if err := mini.needBuildID(f.BuildID()); err != nil {
			return nil, fmt.Errorf("%s: %w", mini.path, err)
		}
	}
	if mini.header.Machine != f.header.Machine || mini.header.Wide != f.header.Wide || mini.BigEndian() != f.BigEndian() {
		return nil, fmt.Errorf("%s: it is for %s", mini.path, mini.Machine())
	}
	return mini, nil
}

// SymbolTableWith is SymbolTable for a file without .symtab, with the symbols of its MiniDebug
// added. Section indices are those of f.
func (f *File) SymbolTableWith(mini *File) *SymbolTable {
	own := f.SymbolTable()
	t := &SymbolTable{f: f, size: own.size, list: []Symbol{}}
	for i := range own.Len() {
		if s, ok := own.Symbol(i); ok {
			t.list = append(t.list, s)
		}
	}
	for _, s := range mini.Symbols() {
		s.Section = f.sectionAt(s.Addr, s.Section)
		t.list = append(t.list, s)
	}
	return t
}

// sectionAt returns the section that contains an address, or -1. An absolute symbol stays
// absolute.
func (f *File) sectionAt(a Addr, section int32) int32 {
	if section < 0 {
		return section
	}
	for i := range f.sects {
		if s := &f.sects[i]; s.addr != 0 && uint64(a) >= s.addr && uint64(a)-s.addr < s.size {
			return int32(i)
		}
	}
	return -1
}
