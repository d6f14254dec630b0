package image

import "dbg/image/macho"

// MachORelocations returns the relocations of a section of a Mach-O object file. The section's name is
// "__SEGMENT,__section". ok is false if there is no such section, or if its relocations are not in the file.
func (f *File) MachORelocations(section string) (list []macho.Relocation, ok bool) {
	i, found := f.byName[section]
	if !found || f.macho == nil {
		return nil, false
	}
	return f.macho.Relocations(i)
}
