package macho

import "strings"

// HasPrivateSymbols reports whether the symbol table has more than the exported and imported
// symbols. strip leaves one stab among the local symbols as a mark. A dSYM's symbol table has no
// LC_DYSYMTAB to count them.
func (f *File) HasPrivateSymbols() bool {
	if !f.dysymtab {
		return f.symtab.count > 0
	}
	t := f.nlists()
	for i := range t.len() {
		if n := t.at(i); n.typ&(nlistStab|nlistExternal) == 0 && n.typ&nlistTypeMask != 0 {
			return true
		}
	}
	return false
}

// nlist is an entry in the symbol table.
type nlist struct {
	name    uint32 // offset in the string table
	typ     uint8
	section uint8 // counts from 1
	desc    uint16
	value   uint64
}

// nlistTable holds the bytes of the symbol table.
type nlistTable struct {
	f     *File
	table []byte
	size  int
}

func (f *File) nlists() nlistTable {
	t := nlistTable{f: f, size: 12}
	if f.Wide {
		t.size = 16
	}
	t.table, _ = f.Linkedit(f.symtab.off, f.symtab.count*uint64(t.size))
	return t
}

func (t nlistTable) len() int { return len(t.table) / t.size }

func (t nlistTable) at(i int) nlist {
	b, order := t.table[i*t.size:][:t.size], t.f.Order
	n := nlist{name: order.Uint32(b), typ: b[4], section: b[5], desc: order.Uint16(b[6:])}
	if t.size == 16 {
		n.value = order.Uint64(b[8:])
	} else {
		n.value = uint64(order.Uint32(b[8:]))
	}
	return n
}

// maxName limits the length of a name in bytes.
const maxName = 32 << 10

// nameTable holds the required part of the string table.
type nameTable struct {
	text string
	base uint32 // offset of text in the string table
}

// names returns a copy of the string table. Every name is a part of it: names outlive the
// mapping, and a million of them need no allocation each. With Copies, names reads only the
// part from the first to the last name that keep accepts.
func (f *File) names(t nlistTable, keep func(nlist) bool) nameTable {
	if !f.Copies {
		b, _ := f.Linkedit(f.strtab.off, f.strtab.count)
		return nameTable{text: string(b)}
	}
	lo, hi := uint64(f.strtab.count), uint64(0)
	for i := range t.len() {
		if n := t.at(i); keep(n) && uint64(n.name) < f.strtab.count {
			lo, hi = min(lo, uint64(n.name)), max(hi, uint64(n.name))
		}
	}
	if lo > hi {
		return nameTable{}
	}
	b, _ := f.Linkedit(f.strtab.off+lo, min(hi-lo+maxName, f.strtab.count-lo))
	return nameTable{text: string(b), base: uint32(lo)}
}

// at returns the name at an offset in the string table, unchanged.
func (t nameTable) at(off uint32) string {
	if off < t.base || uint64(off-t.base) >= uint64(len(t.text)) {
		return ""
	}
	name := t.text[off-t.base:]
	name = name[:min(len(name), maxName)]
	if i := strings.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	return name
}

// shownName returns a name without the underscore that the compiler puts before C names.
func shownName(name string) string {
	if len(name) > 1 && name[0] == '_' {
		return name[1:]
	}
	return name
}

// assemblersOwn reports whether the assembler made up a label: ltmp3, at the start of each
// section of an arm64 object file, or a name with L.
func assemblersOwn(name string) bool {
	if rest, ok := strings.CutPrefix(name, "ltmp"); ok && rest != "" {
		return strings.Trim(rest, "0123456789") == ""
	}
	return strings.HasPrefix(name, "L")
}

// Symbol is a symbol that is defined in the file.
type Symbol struct {
	Name     string // without the underscore before C names
	Addr     uint64
	Section  int32 // index in Sections, or -1 for an absolute symbol
	Code     bool  // it is in a section of instructions
	AltEntry bool  // another entry of a function, not the start of a separate one (N_ALT_ENTRY)
	Global   bool
	Weak     bool
}

// NumSymbols returns the number of entries in the symbol table, of which some are not symbols.
func (f *File) NumSymbols() int { return f.nlists().len() }

// Symbols calls add for each symbol that is defined in the file, in file order. It leaves out the
// entries for debuggers (N_STAB) and labels that the assembler made up. Mach-O has no sizes, but
// stabs have those of functions: Symbols returns them by address, in bytes.
func (f *File) Symbols(add func(Symbol)) (sizes map[uint64]uint64) {
	t := f.nlists()
	names := f.names(t, func(n nlist) bool { return n.typ&nlistStab == 0 && n.typ&nlistTypeMask != 0 })
	sizes = map[uint64]uint64{}
	var function uint64
	for i := range t.len() {
		n := t.at(i)
		if n.typ&nlistStab != 0 {
			// A function is an N_FUN with its name and address, followed by one without a section
			// whose value is the size.
			if n.typ == nlistFunction && n.section != 0 {
				function = n.value
			} else if n.typ == nlistFunction && n.value != 0 {
				sizes[function] = n.value
			}
			continue
		}
		if s, ok := f.symbol(n, names.at(n.name)); ok {
			add(s)
		}
	}
	return sizes
}

// symbol makes a symbol of an entry. It returns false for a symbol that is not defined in this file
// or has no use here.
func (f *File) symbol(n nlist, name string) (Symbol, bool) {
	s := Symbol{Name: shownName(name), Addr: n.value, Section: -1,
		AltEntry: n.desc&nlistAltEntry != 0, Global: n.typ&nlistExternal != 0, Weak: n.desc&nlistWeakDef != 0}
	switch n.typ & nlistTypeMask {
	case nlistAbsolute:
	case nlistSection:
		if n.section == 0 || int(n.section) >= len(f.Sections) {
			return s, false
		}
		s.Section = int32(n.section)
		// __mh_execute_header and similar symbols are in no section, whatever their entries
		// claim.
		sec := &f.Sections[n.section]
		s.Code = sec.Code && sec.contains(s.Addr)
		if f.CPU == cpuARM && s.Code {
			s.Addr &^= 1 // the Thumb bit
		}
	default:
		return s, false
	}
	return s, name != "" && !assemblersOwn(name)
}
