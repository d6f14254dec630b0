package image

import (
	"slices"
	"strings"
)

// hasPrivateSymbols reports whether the symbol table has more than the exported and imported
// symbols. strip leaves one stab among the local symbols as a mark. A dSYM's symbol table has no
// LC_DYSYMTAB to count them.
func (f *File) hasPrivateSymbols() bool {
	m := f.macho
	if !m.dysymtab {
		return m.symtab.count > 0
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
	if f.header.Wide {
		t.size = 16
	}
	t.table, _ = f.linked(f.macho.symtab.off, f.macho.symtab.count*uint64(t.size))
	return t
}

func (t nlistTable) len() int { return len(t.table) / t.size }

func (t nlistTable) at(i int) nlist {
	b, order := t.table[i*t.size:][:t.size], t.f.header.Order
	n := nlist{name: order.Uint32(b), typ: b[4], section: b[5], desc: order.Uint16(b[6:])}
	if t.size == 16 {
		n.value = order.Uint64(b[8:])
	} else {
		n.value = uint64(order.Uint32(b[8:]))
	}
	return n
}

// nameTable holds the required part of the string table.
type nameTable struct {
	text string
	base uint32 // offset of text in the string table
}

// names returns a copy of the string table. Every name is a part of it: names outlive the
// mapping, and a million of them need no allocation each. For an image in memory, names reads
// only the part from the first to the last name that keep accepts, because the images in a dyld
// shared cache share one table.
func (f *File) names(t nlistTable, keep func(nlist) bool) nameTable {
	m := f.macho
	if m.mapped == nil {
		b, _ := f.linked(m.strtab.off, m.strtab.count)
		return nameTable{text: string(b)}
	}
	lo, hi := uint64(m.strtab.count), uint64(0)
	for i := range t.len() {
		if n := t.at(i); keep(n) && uint64(n.name) < m.strtab.count {
			lo, hi = min(lo, uint64(n.name)), max(hi, uint64(n.name))
		}
	}
	if lo > hi {
		return nameTable{}
	}
	b, _ := f.linked(m.strtab.off+lo, min(hi-lo+maxName, m.strtab.count-lo))
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

func (f *File) readMachOSymbols() []Symbol {
	t := f.nlists()
	names := f.names(t, func(n nlist) bool { return n.typ&nlistStab == 0 && n.typ&nlistTypeMask != 0 })
	out := make([]Symbol, 0, t.len())
	bounds := f.FunctionStarts()      // a symbol ends at the next of these
	exact := make(map[Addr]uint64, 0) // sizes of functions, from stabs
	var function Addr
	for i := range t.len() {
		n := t.at(i)
		if n.typ&nlistStab != 0 {
			// A function is an N_FUN with its name and address, followed by one without a section
			// whose value is the size.
			if n.typ == nlistFunction && n.section != 0 {
				function = Addr(n.value)
			} else if n.typ == nlistFunction && n.value != 0 {
				exact[function] = n.value
			}
			continue
		}
		if s, ok := f.machoSymbol(n, names.at(n.name)); ok {
			out = append(out, s)
			if n.desc&nlistAltEntry == 0 && s.Section > 0 {
				bounds = append(bounds, s.Addr)
			}
		}
	}
	slices.Sort(bounds)
	out = sortSymbols(out)
	for i := range out {
		s := &out[i]
		for len(bounds) > 0 && bounds[0] <= s.Addr {
			bounds = bounds[1:]
		}
		if s.Section < 0 || !f.inSection(s.Section, s.Addr) {
			continue
		}
		sec := &f.sects[s.Section]
		s.Size = sec.size - (uint64(s.Addr) - sec.addr)
		if len(bounds) > 0 {
			s.Size = min(s.Size, uint64(bounds[0]-s.Addr))
		}
		if n, ok := exact[s.Addr]; ok {
			s.Size = min(s.Size, n)
		}
	}
	return out
}

// machoSymbol makes a symbol without its size. It returns false for a symbol that is not defined
// in this file or has no use here.
func (f *File) machoSymbol(n nlist, name string) (Symbol, bool) {
	s := Symbol{Name: shownName(name), Addr: Addr(n.value), Section: -1,
		Global: n.typ&nlistExternal != 0, Weak: n.desc&nlistWeakDef != 0}
	switch n.typ & nlistTypeMask {
	case nlistAbsolute:
	case nlistSection:
		if n.section == 0 || int(n.section) >= len(f.sects) {
			return s, false
		}
		s.Section, s.Kind = int32(n.section), Object
		// __mh_execute_header and similar symbols are in no section, whatever their entries
		// claim.
		if f.macho.kinds[n.section].code && f.inSection(s.Section, s.Addr) {
			s.Kind = Func
		}
		if f.macho.cpu == cpuARM && s.Kind == Func {
			s.Addr &^= 1 // the Thumb bit
		}
	default:
		return s, false
	}
	return s, name != "" && !assemblersOwn(name)
}

func (f *File) inSection(i int32, a Addr) bool {
	s := &f.sects[i]
	return uint64(a) >= s.addr && uint64(a)-s.addr < s.size
}
