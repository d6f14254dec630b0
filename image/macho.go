package image

import (
	"debug/elf"
	"fmt"
	"iter"
	"slices"

	"dbg/image/macho"
)

// Mach-O files: package macho decodes them, and this file makes a File of the result.

// parseMachO reads the header and the load commands of f.data, which begins with a Mach-O magic
// number. With strict, segments must be completely in the file.
func (f *File) parseMachO(strict bool) error {
	m, err := macho.Parse(f.data)
	if err != nil {
		return f.machoError(err)
	}
	f.setMachO(m)
	if m.Type == macho.TypeCore || !strict {
		return nil
	}
	for _, s := range m.Segments {
		if _, ok := f.bytes(s.FileOff, s.FileSize); !ok {
			return f.machoFailure(Truncated, "the segment %s extends beyond the end of the file", s.Name)
		}
	}
	return nil
}

// setMachO takes over what a Mach-O file's headers contain.
func (f *File) setMachO(m *macho.File) {
	m.Linkedit = f.linked
	f.macho = m
	f.header.Order, f.header.Wide, f.header.Entry = m.Order, m.Wide, m.Entry
	for _, s := range m.Segments {
		if s.Mapped {
			f.loads = append(f.loads, Segment{Name: s.Name, Lo: Addr(s.Lo), Hi: Addr(s.Hi), FileOff: s.FileOff, FileSize: s.FileSize,
				Read: s.Read, Write: s.Write, Exec: s.Exec})
		}
	}
	f.sects, f.byName = make([]section, len(m.Sections)), map[string]int{}
	for i := 1; i < len(m.Sections); i++ {
		s := &m.Sections[i]
		typ := elf.SHT_NOBITS
		if s.Contents {
			typ = elf.SHT_PROGBITS
		}
		f.sects[i] = section{name: s.Name, typ: typ, addr: s.Addr, size: s.Size, off: s.Off}
		for _, name := range []string{s.Name, s.Segment + "," + s.Name} {
			if _, dup := f.byName[name]; !dup {
				f.byName[name] = i
			}
		}
	}
}

// machoError makes the OpenError for an error of package macho.
func (f *File) machoError(err error) error {
	r := Malformed
	if e, ok := err.(*macho.Error); ok && e.Truncated {
		r = Truncated
	}
	return f.machoFailure(r, "%v", err)
}

func (f *File) machoFailure(r Reason, format string, args ...any) error {
	return &OpenError{Path: f.path, Reason: r, Format: MachO, Detail: fmt.Sprintf(format, args...)}
}

// machoKind is Kind for a Mach-O file.
func (f *File) machoKind() Kind {
	switch f.macho.Type {
	case macho.TypeExecute:
		return Executable
	case macho.TypeDylib, macho.TypeDylinker, macho.TypeBundle, macho.TypeDylibStub:
		return Shared
	case macho.TypeObject:
		return Relocatable
	case macho.TypeCore:
		return CoreFile
	case macho.TypeDSYM:
		return Companion
	case macho.TypeKextBundle, macho.TypeFileset:
		return KernelPart
	}
	return Other
}

// LoadCommands iterates over the load commands of a Mach-O file. It yields each command (LC_) and
// all its bytes, including the two words at the start, in the file's byte order. The bytes belong
// to the file. An ELF file has none.
func (f *File) LoadCommands() iter.Seq2[uint32, []byte] {
	if f.macho == nil {
		return func(func(uint32, []byte) bool) {}
	}
	return f.macho.LoadCommands()
}

// HeaderAddr returns the address of the Mach-O header, where __TEXT begins. Offsets in
// __unwind_info and LC_FUNCTION_STARTS count from it. It is 0 in an MH_OBJECT, a core, and an ELF
// file.
func (f *File) HeaderAddr() Addr {
	if f.macho == nil {
		return 0
	}
	return Addr(f.macho.HeaderAddr())
}

// InstallName returns the path with which programs link to a Mach-O library (LC_ID_DYLIB), or ""
// if it has none.
func (f *File) InstallName() string {
	if f.macho == nil {
		return ""
	}
	return f.macho.InstallName()
}

// Libraries returns the paths of the libraries that a Mach-O file is linked with, in file order
// (LC_LOAD_DYLIB, and its weak, re-exporting and upward kinds). "@rpath/" and similar prefixes
// are not expanded.
func (f *File) Libraries() []string {
	if f.macho == nil {
		return nil
	}
	return f.macho.Libraries()
}

// FunctionStarts returns the start addresses of the functions of a Mach-O file, in rising order
// (LC_FUNCTION_STARTS). It is nil if the file has no such list. Each call decodes the list again.
func (f *File) FunctionStarts() []Addr {
	if f.macho == nil {
		return nil
	}
	var out []Addr
	for a := range f.macho.FunctionStarts() {
		out = append(out, Addr(a))
	}
	return out
}

// Stub is a small piece of code that jumps to a function of another library, like an entry of
// ELF's procedure linkage table.
type Stub struct {
	Name string // name of the function, in the form of Symbols
	Addr Addr
	Size uint64
}

// Stubs returns the entries of a Mach-O file's symbol stub sections (__stubs, __auth_stubs) in
// file order. Stubs without a name are left out. Each call decodes them again. An ELF file has
// none.
func (f *File) Stubs() []Stub {
	if f.macho == nil {
		return nil
	}
	var out []Stub
	f.macho.Stubs(func(s macho.Stub) { out = append(out, Stub{s.Name, Addr(s.Addr), s.Size}) })
	return out
}

// readMachOSymbols returns the symbols by address, with their sizes.
func (f *File) readMachOSymbols() []Symbol {
	out := make([]Symbol, 0, f.macho.NumSymbols())
	bounds := f.FunctionStarts() // a symbol ends at the next of these
	exact := f.macho.Symbols(func(s macho.Symbol) {
		kind := NoType
		switch {
		case s.Code:
			kind = Func
		case s.Section > 0:
			kind = Object
		}
		out = append(out, Symbol{Name: s.Name, Addr: Addr(s.Addr), Section: s.Section, Kind: kind, Global: s.Global, Weak: s.Weak})
		if !s.AltEntry && s.Section > 0 {
			bounds = append(bounds, Addr(s.Addr))
		}
	})
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
		if n, ok := exact[uint64(s.Addr)]; ok {
			s.Size = min(s.Size, n)
		}
	}
	return out
}

func (f *File) inSection(i int32, a Addr) bool {
	s := &f.sects[i]
	return uint64(a) >= s.addr && uint64(a)-s.addr < s.size
}

// findDWARF finds the section .debug_NAME. A section's name has 16 bytes:
// .debug_str_offsets is "__debug_str_offs". Compressed ones, as Go's linker
// writes them, are "__zdebug_NAME".
func (f *File) findDWARF(name string) int {
	for _, prefix := range []string{"__debug_", "__zdebug_"} {
		full := prefix + name
		if i, ok := f.byName["__DWARF,"+full[:min(len(full), 16)]]; ok {
			return i
		}
	}
	return -1
}

// segmentOf returns the segment name in the header of section i, or "" in an ELF file.
func (f *File) segmentOf(i int) string {
	if f.macho == nil {
		return ""
	}
	return f.macho.Sections[i].Segment
}

// linked returns n bytes at an offset of a Mach-O file. It also works for an image in memory,
// without a file.
func (f *File) linked(off, n uint64) ([]byte, bool) {
	if f.mapped != nil {
		return f.mapped.linked(f.macho.Segments, off, n)
	}
	return f.bytes(off, n)
}

// machoContents returns the bytes of a section that has contents.
func (f *File) machoContents(s *section) ([]byte, error) {
	if f.mapped != nil {
		return f.mapped.read(s.addr, s.size)
	}
	if f.macho.Encrypted(s.off, s.size) {
		return nil, fmt.Errorf("it is encrypted in this file")
	}
	raw, ok := f.bytes(s.off, s.size)
	if !ok {
		return nil, fmt.Errorf("its %d bytes at offset 0x%x are not in the file", s.size, s.off)
	}
	return raw, nil
}

// readSections reads an address of a dSYM. The segments of a dSYM do not tell where the contents
// are.
func (f *File) readSections(addr Addr, buf []byte) int {
	for i := range f.sects {
		s := &f.sects[i]
		if s.typ != elf.SHT_PROGBITS || !f.inSection(int32(i), addr) {
			continue
		}
		off := uint64(addr) - s.addr
		if b, ok := f.bytes(s.off+off, min(s.size-off, uint64(len(buf)))); ok {
			return copy(buf, b)
		}
	}
	return -1
}
