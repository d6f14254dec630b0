package image

import (
	"debug/elf"

	"dbg/image/elfheader"
)

// BuildID returns the GNU build id in hexadecimal, or "" if there is none. It is in a PT_NOTE
// segment, or in a section if a debug file's segments are empty. For a Mach-O file it is the UUID
// (LC_UUID), as 32 lower-case digits. For a PE file it is the GUID of the debug directory, as 32
// lower-case digits, followed by the age in hexadecimal.
func (f *File) BuildID() string {
	if f.macho != nil {
		return f.macho.UUID
	}
	if f.pe != nil {
		_, id := f.pe.PDB()
		return id
	}
	for _, p := range f.progs {
		if p.Type == elf.PT_NOTE {
			if b, ok := f.bytes(p.Off, p.FileSize); ok {
				if id := elfheader.FindBuildID(b, f.header.Order, p.Align); id != "" {
					return id
				}
			}
		}
	}
	for i := range f.sects {
		if f.sects[i].typ == elf.SHT_NOTE {
			if id := elfheader.FindBuildID(f.section(i).Data, f.header.Order, 4); id != "" {
				return id
			}
		}
	}
	return ""
}
