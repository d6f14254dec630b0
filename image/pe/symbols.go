package pe

// Symbol is an entry of the COFF symbol table, or an export.
type Symbol struct {
	Name    string
	RVA     uint32
	Section int  // index in Sections; -1 for an absolute symbol, whose RVA is its value
	Code    bool // it is in a section of code
	Global  bool
	Weak    bool
}

// Storage classes and section numbers of COFF symbols ("PE Format", COFF Symbol Table).
const (
	classExternal     = 2
	classStatic       = 3
	classLabel        = 6
	classWeakExternal = 105

	sectionUndefined = 0
	sectionAbsolute  = -1
)

// HasSymbols reports whether the image has a COFF symbol table.
func (f *File) HasSymbols() bool { return f.symbolCount > 0 }

// Symbols calls fn for each symbol that the image defines. The symbols of sections and source files
// are left out.
func (f *File) Symbols(fn func(Symbol)) {
	for i := uint64(0); i < f.symbolCount; i++ {
		b := f.data[f.symbolsAt+i*symbolSize:][:symbolSize]
		class, extra := b[16], uint64(b[17])
		number := int(int16(u16(b, 12)))
		s := Symbol{RVA: u32(b, 8), Section: number - 1, Global: class != classStatic && class != classLabel, Weak: class == classWeakExternal}
		i += extra
		switch class {
		case classExternal, classStatic, classLabel, classWeakExternal:
		default:
			continue
		}
		switch {
		case number == sectionAbsolute:
			s.Section = -1
		case number <= sectionUndefined || number > len(f.Sections):
			continue
		default:
			sec := &f.Sections[number-1]
			if class == classStatic && extra > 0 && s.RVA == 0 {
				continue // a section
			}
			s.RVA += sec.RVA
			s.Code = sec.Characteristics&SectionExecute != 0
		}
		if s.Name = f.symbolName(b[:8]); s.Name != "" {
			fn(s)
		}
	}
}

// symbolName returns the name in a symbol table entry: up to eight bytes, or four zeros and an offset
// in the string table. 32-bit x86 puts an underscore before C names.
func (f *File) symbolName(b []byte) string {
	name := ""
	if u32(b, 0) == 0 {
		name = f.nameAt(uint64(u32(b, 4)))
	} else {
		name = cstring(b)
	}
	if f.Machine == MachineI386 && len(name) > 1 && name[0] == '_' {
		name = name[1:]
	}
	return name
}

// Exports calls fn for each named export that is in the image ("PE Format", Export Directory Table).
// Forwarders, which name a function of another library, are left out.
func (f *File) Exports(fn func(Symbol)) {
	dir := f.directories[ExportTable]
	h := f.Bytes(dir.RVA, 40)
	if dir.Size == 0 || h == nil {
		return
	}
	functions, names, numbers := f.From(u32(h, 28)), f.From(u32(h, 32)), f.From(u32(h, 36))
	count := min(uint64(u32(h, 20)), uint64(len(functions)/4))
	for i := range min(uint64(u32(h, 24)), uint64(len(names)/4), uint64(len(numbers)/2)) {
		k := uint64(u16(numbers, int(2*i)))
		if k >= count {
			continue
		}
		rva := u32(functions, int(4*k))
		section := f.SectionAt(rva)
		if rva-dir.RVA < dir.Size || section < 0 {
			continue
		}
		text := f.From(u32(names, int(4*i)))
		name := cstring(text[:min(len(text), maxName)])
		if name == "" {
			continue
		}
		fn(Symbol{Name: name, RVA: rva, Section: section, Global: true,
			Code: f.Sections[section].Characteristics&SectionExecute != 0})
	}
}

// LibraryName returns the name that the export directory gives to the library, or "".
func (f *File) LibraryName() string {
	h := f.Bytes(f.directories[ExportTable].RVA, 40)
	if h == nil || f.directories[ExportTable].Size == 0 {
		return ""
	}
	text := f.From(u32(h, 12))
	return cstring(text[:min(len(text), 4096)])
}
