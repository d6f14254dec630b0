package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"dbg/image/elfheader"
	"dbg/image/inflate"
)

// Section is a section of the file. Data is nil if the section has no bytes in this file
// (SHT_NOBITS, S_ZEROFILL), or if they can't be inflated. Size is the size after inflation.
//
// Mach-O section names are as in the file ("__text"). Segment is the segment name in the
// section's header ("__TEXT").
type Section struct {
	Name    string
	Segment string
	Addr    Addr
	Offset  uint64
	Size    uint64
	Data    []byte

	// Of ELF files, set by Sections only: the section is in memory, is writable, has no bytes in
	// the file.
	Loaded, Writable, NoBits bool
}

// section is a section header and the data read so far.
type section struct {
	name                string
	typ                 elf.SectionType
	flags               elf.SectionFlag
	addr, off, size     uint64
	link, info, nameOff uint32
	entsize             uint64
	data                []byte
	done                bool
	packed              bool   // the section is compressed
	inflatedSize        uint64 // if packed
	err                 error
	stream              *inflate.Stream // of a section that is not completely inflated
}

// parseSections reads the section headers. The result is the reason why they can't be used, or "".
func (f *File) parseSections(head *elfheader.Header) string {
	t := head.Sections
	if t.Within(uint64(len(f.data))) < t.Count {
		return fmt.Sprintf("%d section headers at offset 0x%x are not in the file", t.Count, t.Off)
	}
	count, strndx := t.Count, head.Names
	f.sects = make([]section, 0, count)
	for i := range count {
		s, ok := head.Section(f.data, i)
		if !ok {
			return "a section header is too short"
		}
		f.sects = append(f.sects, section{nameOff: s.Name, typ: s.Type, flags: s.Flags, addr: s.Addr, off: s.Off, size: s.Size,
			link: s.Link, info: s.Info, entsize: s.EntrySize})
	}
	var names []byte
	if strndx < count {
		names, _ = f.bytes(f.sects[strndx].off, f.sects[strndx].size)
	}
	f.byName = make(map[string]int, count)
	for i := range f.sects {
		s := &f.sects[i]
		if uint64(s.nameOff) < uint64(len(names)) {
			s.name = cstring(names[s.nameOff:min(len(names), int(s.nameOff)+256)])
		}
		if _, dup := f.byName[s.name]; !dup && i != 0 {
			f.byName[s.name] = i
		}
	}
	return ""
}

// HasSection reports whether there is a section with that name, without reading its data.
func (f *File) HasSection(name string) bool { return f.findSection(name) >= 0 }

// Section returns a section by name. The name .debug_x also finds .zdebug_x, the name of
// compressed debug sections before SHF_COMPRESSED. In a Mach-O file it also finds
// __DWARF,__debug_x, whose name is cut at 16 bytes. No other name is translated.
func (f *File) Section(name string) (Section, bool) {
	i := f.findSection(name)
	if i < 0 {
		return Section{}, false
	}
	return f.section(i), true
}

// SectionIn returns a section by segment and section name, since several segments may have a
// section of the same name ("__DATA", "__const"). It returns false for ELF, which has no such
// names.
func (f *File) SectionIn(segment, name string) (Section, bool) {
	if f.macho == nil {
		return Section{}, false
	}
	return f.Section(segment + "," + name)
}

// SectionData returns the bytes of a section, or an error that says why there are none.
func (f *File) SectionData(name string) ([]byte, error) {
	i := f.findSection(name)
	if i < 0 {
		return nil, nil
	}
	s := f.section(i)
	return s.Data, f.sects[i].err
}

// Sections returns the headers of all sections, including index 0 (the null section). Data is not
// filled in.
func (f *File) Sections() []Section {
	all := make([]Section, len(f.sects))
	for i, s := range f.sects {
		all[i] = Section{Name: s.name, Segment: f.segmentOf(i), Addr: Addr(s.addr), Offset: s.off, Size: s.size,
			Loaded: s.flags&elf.SHF_ALLOC != 0, Writable: s.flags&elf.SHF_WRITE != 0, NoBits: s.typ == elf.SHT_NOBITS}
	}
	return all
}

func (f *File) findSection(name string) int {
	if i, ok := f.byName[name]; ok {
		return i
	}
	if rest, ok := strings.CutPrefix(name, ".debug_"); ok {
		if f.macho != nil {
			return f.findDWARF(rest)
		}
		if i, ok := f.byName[".zdebug_"+rest]; ok {
			return i
		}
	}
	return -1
}

func (f *File) section(i int) Section {
	s := &f.sects[i]
	if !s.done {
		s.done = true
		data, err := f.load(s)
		if err == nil && f.object != nil {
			data, err = f.object.contents(f, i, data)
		}
		if err != nil {
			f.damaged(s, err)
		} else {
			s.data = data
		}
	}
	size := s.size
	if s.packed {
		size = s.inflatedSize
	}
	return Section{Name: s.name, Segment: f.segmentOf(i), Addr: Addr(s.addr), Offset: s.off, Size: size, Data: s.data}
}

// load returns a section's bytes, inflated if they are compressed.
func (f *File) load(s *section) ([]byte, error) {
	data, err := f.begin(s)
	if err != nil || s.stream == nil {
		return data, err
	}
	if err := s.inflateTo(uint64(len(data))); err != nil {
		return nil, err
	}
	return data, nil
}

// begin returns the bytes of a section. For a compressed section it allocates memory for them and
// sets up s.stream.
func (f *File) begin(s *section) ([]byte, error) {
	if s.data != nil || s.err != nil {
		return s.data, s.err
	}
	if s.typ == elf.SHT_NOBITS || s.typ == elf.SHT_NULL {
		return nil, nil
	}
	if f.macho != nil {
		if raw, err := f.machoContents(s); err != nil || !strings.HasPrefix(s.name, "__zdebug_") {
			return raw, err
		}
	}
	raw, ok := f.bytes(s.off, s.size)
	if !ok {
		return nil, fmt.Errorf("its %d bytes at offset 0x%x are not in the file", s.size, s.off)
	}
	if (strings.HasPrefix(s.name, ".zdebug_") || f.macho != nil) && bytes.HasPrefix(raw, []byte("ZLIB")) && len(raw) >= 12 {
		s.inflatedSize = binary.BigEndian.Uint64(raw[4:])
		return f.beginInflate(s, raw[12:], inflate.Zlib)
	}
	if s.flags&elf.SHF_COMPRESSED == 0 {
		return raw, nil
	}
	// Elf64_Chdr has a reserved word after ch_type; Elf32_Chdr does not.
	h, size, head := &f.header, 4, 12
	if h.Wide {
		size, head = 8, 24
	}
	if len(raw) < head {
		return nil, fmt.Errorf("the compression header is truncated")
	}
	s.inflatedSize = h.Word(raw[size:])
	switch typ := elf.CompressionType(h.Order.Uint32(raw)); typ {
	case elf.COMPRESS_ZLIB:
		return f.beginInflate(s, raw[head:], inflate.Zlib)
	case elf.COMPRESS_ZSTD:
		return f.beginInflate(s, raw[head:], inflate.Zstd)
	default:
		return nil, fmt.Errorf("compression type %d is unknown", uint32(typ))
	}
}

// Prefix returns a section with at least the first n bytes valid. A compressed section is
// inflated only that far, and further on a later call. The result is nil if there is no such
// section or if it is corrupt. Prefix implements dwarf.Source.
func (f *File) Prefix(name string, n uint64) []byte {
	i := f.findSection(name)
	if i < 0 {
		return nil
	}
	s := &f.sects[i]
	if s.done {
		return s.data
	}
	if f.object != nil {
		return f.section(i).Data
	}
	data, err := f.begin(s)
	if err == nil {
		s.data = data
		// Inflate a little more than requested, so that many small steps do not add up.
		err = s.inflateTo(min(n, uint64(len(data))) + 64<<10)
	}
	if err != nil {
		f.damaged(s, err)
	}
	return s.data
}
