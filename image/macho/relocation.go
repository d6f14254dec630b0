package macho

import "fmt"

// Relocation is a relocation_info of <mach-o/reloc.h>.
type Relocation struct {
	Offset   uint64 // of the place in the section
	Size     int    // of the place in bytes
	Type     uint8  // depends on the processor; 0 is the address itself everywhere
	Relative bool   // to the place

	// Symbol is the name of the symbol whose Value is to be added; it is "" if the place has the
	// address already, and is in the section with the number Section. Defined is set if the symbol is in
	// this file.
	Symbol  string
	Value   uint64
	Defined bool
	Section int
}

// maxRelocations limits the relocations of a section.
const maxRelocations = 1 << 22

// Relocations returns the relocations of a section of a relocatable file, in the file's order. It leaves
// out scattered ones, whose place has the address already (scattered_relocation_info).
func (f *File) Relocations(s *Section) ([]Relocation, error) {
	if s.relocs == 0 {
		return nil, nil
	}
	if s.relocs > maxRelocations {
		return nil, fmt.Errorf("the section %s has %d relocations, more than %d", s.Name, s.relocs, maxRelocations)
	}
	data, ok := f.Linkedit(uint64(s.relocOff), uint64(s.relocs)*8)
	if !ok {
		return nil, fmt.Errorf("the %d relocations of the section %s at offset 0x%x are not in the file", s.relocs, s.Name,
			s.relocOff)
	}
	symbols := f.nlists()
	names := f.names(symbols, func(nlist) bool { return true })
	var list []Relocation
	for ; len(data) > 0; data = data[8:] {
		at, info := f.Order.Uint32(data), f.Order.Uint32(data[4:])
		if at>>31 != 0 && f.CPU != cpuX8664 { // R_SCATTERED; processors of 64 bits have none
			continue
		}
		r := Relocation{Offset: uint64(at), Relative: info>>24&1 != 0, Size: 1 << (info >> 25 & 3), Type: uint8(info >> 28)}
		n := int(info & 0xffffff)
		switch {
		case info>>27&1 == 0:
			r.Section = n
		case n >= symbols.len():
			return list, fmt.Errorf("a relocation of the section %s refers to symbol %d of %d", s.Name, n, symbols.len())
		default:
			x := symbols.at(n)
			r.Symbol, r.Value, r.Defined = names.at(x.name), x.value, x.typ&nlistTypeMask == nlistSection
		}
		list = append(list, r)
	}
	return list, nil
}

// Labels calls add for each symbol that is defined in a section, with its name in the file, in file order:
// labels of the assembler too.
func (f *File) Labels(add func(name string, addr uint64, section int)) {
	t := f.nlists()
	names := f.names(t, func(nlist) bool { return true })
	for i := range t.len() {
		if n := t.at(i); n.typ&nlistStab == 0 && n.typ&nlistTypeMask == nlistSection {
			add(names.at(n.name), n.value, int(n.section))
		}
	}
}
