package macho

// Stub is an entry of a symbol stub section.
type Stub struct {
	Name string // of the function to which it jumps
	Addr uint64
	Size uint64 // in bytes
}

// Stubs calls add for the entries of the symbol stub sections (__stubs, __auth_stubs) in file order.
// Stubs have no symbols. Instead, the section header gives the index of its first entry in the
// indirect symbol table (LC_DYSYMTAB), and each entry there is an index in the symbol table. Stubs
// without a name are left out.
func (f *File) Stubs(add func(Stub)) {
	if f.indirect.count == 0 {
		return
	}
	indirect, ok := f.Linkedit(f.indirect.off, f.indirect.count*4)
	if !ok {
		return
	}
	t := f.nlists()
	names := f.names(t, func(n nlist) bool { return n.typ&nlistStab == 0 })
	total := uint64(0)
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != sectionSymbolStubs || s.stubSize == 0 {
			continue
		}
		size := uint64(s.stubSize)
		count := min(s.Size/size, f.indirect.count-min(uint64(s.stubIndex), f.indirect.count))
		if total+count > f.indirect.count {
			break // sections that share entries: no linker makes them
		}
		for j := range count {
			sym := f.Order.Uint32(indirect[4*(uint64(s.stubIndex)+j):])
			if sym&indirectLocalOrAbsolute != 0 || uint64(sym) >= uint64(t.len()) {
				continue
			}
			if name := names.at(t.at(int(sym)).name); name != "" {
				total++
				add(Stub{Name: shownName(name), Addr: s.Addr + j*size, Size: size})
			}
		}
	}
}
