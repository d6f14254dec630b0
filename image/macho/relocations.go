package macho

// Relocation is a relocation of a field of an object file's section (relocation_info in mach-o/reloc.h).
type Relocation struct {
	Off  uint64 // of the field in the section
	Size int    // of the field, in bytes

	// Plain is set if the field becomes an address plus the number in it. Otherwise it is relative to PC, a
	// difference, or of another kind.
	Plain bool

	// Symbol is the name of the symbol whose address is added. It is "" if the number in the field is an
	// address in the file already.
	Symbol  string
	Defined bool   // the symbol is in this file
	Addr    uint64 // of a defined symbol
}

const (
	relocationSize = 8
	scattered      = 1 << 31 // of i386: the entry has another layout
)

// Relocations returns the relocations of section i. Entries of the scattered form are left out. It returns
// false if they are not all in the file.
func (f *File) Relocations(i int) (list []Relocation, ok bool) {
	s := &f.Sections[i]
	b, ok := f.Linkedit(uint64(s.relocs), uint64(s.relocCount)*relocationSize)
	if !ok {
		return nil, false
	}
	t := f.nlists()
	names := f.names(t, func(n nlist) bool { return n.typ&nlistStab == 0 })
	for ; len(b) > 0; b = b[relocationSize:] {
		at, w := f.Order.Uint32(b), f.Order.Uint32(b[4:])
		if at&scattered != 0 {
			continue
		}
		const pcRelative, external = 1 << 24, 1 << 27
		r := Relocation{Off: uint64(at), Size: 1 << (w >> 25 & 3), Plain: w>>28 == 0 && w&pcRelative == 0}
		if w&external != 0 {
			n := int(w & 0xffffff)
			if n >= t.len() {
				return nil, false
			}
			sym := t.at(n)
			r.Symbol, r.Addr = names.at(sym.name), sym.value
			r.Defined = sym.typ&nlistTypeMask == nlistSection
			if r.Symbol == "" {
				r.Plain = false
			}
		}
		list = append(list, r)
	}
	return list, true
}
