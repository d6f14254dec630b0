package image

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
)

// macho holds the state that only Mach-O files have.
type macho struct {
	cpu, subtype uint32
	filetype     uint32
	flags        uint32
	commands     []byte // all load commands
	headerSize   uint64

	segments []Segment // all segments, mapped or not
	text     int       // index of __TEXT in segments, or -1
	kinds    []sectionKind
	uuid     string

	symtab    linkedTable // of nlists
	strtab    linkedTable // Count is its size in bytes
	indirect  linkedTable
	starts    linkedTable // LC_FUNCTION_STARTS, in bytes
	dysymtab  bool
	encrypted fileRange

	mapped *mappedImage // for FromMapped
}

// linkedTable is a table in the __LINKEDIT segment.
type linkedTable struct{ off, count uint64 }

type fileRange struct{ off, size uint64 }

// isMachO reports whether b begins like a thin Mach-O file.
func isMachO(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch binary.LittleEndian.Uint32(b) {
	case machMagic32, machMagic64, machCigam32, machCigam64:
		return true
	}
	return false
}

// parseMachO reads the header and the load commands of f.data, which begins with a Mach-O magic
// number. With strict, segments must be completely in the file.
func (f *File) parseMachO(strict bool) error {
	need, err := f.parseMachHeader(f.data)
	if err != nil {
		return err
	}
	if uint64(len(f.data)) < need {
		return f.machoError(Truncated, "the load commands end at offset 0x%x", need)
	}
	f.macho.commands = f.data[f.macho.headerSize:need:need]
	if err := f.parseCommands(); err != nil {
		return err
	}
	if f.macho.filetype == machCore || !strict {
		return nil
	}
	for _, s := range f.macho.segments {
		if _, ok := f.bytes(s.FileOff, s.FileSize); !ok {
			return f.machoError(Truncated, "the segment %s extends beyond the end of the file", s.Name)
		}
	}
	return nil
}

// parseMachHeader reads a mach_header. It returns the total size of the header and the load
// commands.
func (f *File) parseMachHeader(b []byte) (uint64, error) {
	m := &macho{text: -1, headerSize: 28}
	f.macho = m
	h := &f.header
	h.Order = binary.LittleEndian
	magic := h.Order.Uint32(b)
	if magic == machCigam32 || magic == machCigam64 {
		h.Order = binary.BigEndian
	}
	if magic == machMagic64 || magic == machCigam64 {
		h.Wide, m.headerSize = true, 32
	}
	if uint64(len(b)) < m.headerSize {
		return 0, f.machoError(Truncated, "the Mach-O header has %d bytes", len(b))
	}
	word := func(i int) uint32 { return h.Order.Uint32(b[4*i:]) }
	m.cpu, m.subtype, m.filetype, m.flags = word(1), word(2), word(3), word(6)
	return m.headerSize + uint64(word(5)), nil
}

func (f *File) machoError(r Reason, format string, args ...any) error {
	return &OpenError{Path: f.path, Reason: r, Format: MachO, Detail: fmt.Sprintf(format, args...)}
}

// LoadCommands iterates over the load commands of a Mach-O file. It yields each command (LC_) and
// all its bytes, including the two words at the start, in the file's byte order. The bytes belong
// to the file. An ELF file has none.
func (f *File) LoadCommands() iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		if f.macho == nil {
			return
		}
		for b := f.macho.commands; len(b) >= 8; {
			size := f.header.Order.Uint32(b[4:])
			if size < 8 || uint64(size) > uint64(len(b)) || !yield(f.header.Order.Uint32(b), b[:size:size]) {
				return
			}
			b = b[size:]
		}
	}
}

// parseCommands reads the load commands that describe the layout of the file. The data at their
// offsets is read on demand.
func (f *File) parseCommands() error {
	m, h := f.macho, &f.header
	f.sects, f.byName = make([]section, 1, 32), map[string]int{} // n_sect 0 is "no section"
	m.kinds = make([]sectionKind, 1, 32)
	seen := 0
	for cmd, b := range f.LoadCommands() {
		at := int(m.headerSize) + seen
		seen += len(b)
		short := func(n int) error {
			return f.machoError(Malformed, "the load command 0x%x at offset 0x%x has %d bytes and needs %d", cmd, at, len(b), n)
		}
		word := func(i int) uint32 { return h.Order.Uint32(b[4*i:]) }
		switch cmd {
		case lcSegment, lcSegment64:
			if err := f.parseSegment(b, cmd == lcSegment64, at); err != nil {
				return err
			}
		case lcSymtab:
			if len(b) < 24 {
				return short(24)
			}
			m.symtab = linkedTable{uint64(word(2)), uint64(word(3))}
			m.strtab = linkedTable{uint64(word(4)), uint64(word(5))}
		case lcDysymtab:
			if len(b) < 80 {
				return short(80)
			}
			m.dysymtab = true
			m.indirect = linkedTable{uint64(word(14)), uint64(word(15))}
		case lcUUID:
			if len(b) < 24 {
				return short(24)
			}
			if !bytes.Equal(b[8:24], make([]byte, 16)) {
				m.uuid = hex.EncodeToString(b[8:24])
			}
		case lcFunctionStarts:
			if len(b) < 16 {
				return short(16)
			}
			m.starts = linkedTable{uint64(word(2)), uint64(word(3))}
		case lcEncryptionInfo, lcEncryptionInfo64:
			if len(b) < 20 {
				return short(20)
			}
			if word(4) != 0 { // cryptid
				m.encrypted = fileRange{uint64(word(2)), uint64(word(3))}
			}
		}
	}
	if seen != len(m.commands) {
		return f.machoError(Malformed, "the load command at offset 0x%x has an impossible size", int(m.headerSize)+seen)
	}
	f.findText()
	f.nameSections()
	h.Entry = f.machoEntry()
	return nil
}

func (m *macho) kind() Kind {
	switch m.filetype {
	case machExecute:
		return Executable
	case machDylib, machDylinker, machBundle, machDylibStub:
		return Shared
	case machObject:
		return Relocatable
	case machCore:
		return CoreFile
	case machDSYM:
		return Companion
	case machKextBundle, machFileset:
		return KernelPart
	}
	return Other
}
