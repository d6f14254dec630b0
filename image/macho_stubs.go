package image

// Stub is a small piece of code that jumps to a function of another library, like an entry of
// ELF's procedure linkage table.
type Stub struct {
	Name string // name of the function, in the form of Symbols
	Addr Addr
	Size uint64
}

// Stubs returns the entries of a Mach-O file's symbol stub sections (__stubs, __auth_stubs) in
// file order. Stubs have no symbols. Instead, the section header gives the index of its first
// entry in the indirect symbol table (LC_DYSYMTAB), and each entry there is an index in the
// symbol table. Stubs without a name are left out. Each call decodes them again. An ELF file has
// none.
func (f *File) Stubs() []Stub {
	if f.macho == nil || f.macho.indirect.count == 0 {
		return nil
	}
	m := f.macho
	indirect, ok := f.linked(m.indirect.off, m.indirect.count*4)
	if !ok {
		return nil
	}
	t := f.nlists()
	names := f.names(t, func(n nlist) bool { return n.typ&nlistStab == 0 })
	var out []Stub
	for i, k := range m.kinds {
		if k.typ != sectionSymbolStubs || k.size == 0 {
			continue
		}
		s := &f.sects[i]
		count := min(s.size/uint64(k.size), m.indirect.count-min(uint64(k.first), m.indirect.count))
		if uint64(len(out))+count > m.indirect.count {
			break // sections that share entries: no linker makes them
		}
		for j := range count {
			sym := f.header.Order.Uint32(indirect[4*(uint64(k.first)+j):])
			if sym&indirectLocalOrAbsolute != 0 || uint64(sym) >= uint64(t.len()) {
				continue
			}
			if name := names.at(t.at(int(sym)).name); name != "" {
				out = append(out, Stub{Name: shownName(name), Addr: Addr(s.addr + j*uint64(k.size)), Size: uint64(k.size)})
			}
		}
	}
	return out
}
