package macho

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
)

// Error is the error of Parse, Size and Slices.
type Error struct {
	Truncated bool // the data ends too early; otherwise the headers contradict themselves
	Detail    string
}

func (e *Error) Error() string { return e.Detail }

func truncated(format string, args ...any) error { return &Error{true, fmt.Sprintf(format, args...)} }
func malformed(format string, args ...any) error { return &Error{false, fmt.Sprintf(format, args...)} }

// File holds what the header and the load commands tell of a thin Mach-O file.
type File struct {
	Order        binary.ByteOrder
	Wide         bool // mach_header_64
	CPU, Subtype uint32
	Type         uint32 // TypeExecute and so on
	Flags        uint32
	Entry        uint64 // address of the entry point, or 0
	UUID         string // LC_UUID as 32 lower-case digits, or "" if it is missing or zero
	Segments     []Segment
	Sections     []Section // from 1 on, as symbols count them; 0 is the null section

	// Linkedit returns n bytes at an offset of the file. The caller sets it: for a file it returns a
	// part of it, for an image in memory a copy. It is called only for symbols, stubs, relocations and function
	// starts.
	Linkedit func(off, n uint64) ([]byte, bool)
	// Copies is set by the caller if Linkedit copies. Then only the needed part of the string table
	// is read, because the images in a dyld shared cache share one table.
	Copies bool

	commands   []byte // all load commands
	headerSize uint64
	text       int         // index of __TEXT in Segments, or -1
	symtab     linkedTable // of nlists
	strtab     linkedTable // count is its size in bytes
	indirect   linkedTable
	starts     linkedTable // LC_FUNCTION_STARTS, in bytes
	dysymtab   bool
	encrypted  fileRange
}

// linkedTable is a table in the __LINKEDIT segment.
type linkedTable struct{ off, count uint64 }

type fileRange struct{ off, size uint64 }

// Begins reports whether b begins like a thin Mach-O file.
func Begins(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch binary.LittleEndian.Uint32(b) {
	case magic32, magic64, cigam32, cigam64:
		return true
	}
	return false
}

// Parse reads the header and the load commands at the start of b, which must begin like a Mach-O
// file: see Begins. The File keeps that part of b. An error is an *Error.
func Parse(b []byte) (*File, error) {
	f, need, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	if uint64(len(b)) < need {
		return nil, truncated("the load commands end at offset 0x%x", need)
	}
	f.commands = b[f.headerSize:need:need]
	if err := f.parseCommands(); err != nil {
		return nil, err
	}
	return f, nil
}

// Size returns the size of the header and the load commands in bytes, from the header alone. b must
// begin like a Mach-O file.
func Size(b []byte) (uint64, error) {
	_, need, err := parseHeader(b)
	return need, err
}

// parseHeader reads a mach_header. It also returns the total size of the header and the load
// commands.
func parseHeader(b []byte) (*File, uint64, error) {
	f := &File{Order: binary.LittleEndian, text: -1, headerSize: 28}
	magic := f.Order.Uint32(b)
	if magic == cigam32 || magic == cigam64 {
		f.Order = binary.BigEndian
	}
	if magic == magic64 || magic == cigam64 {
		f.Wide, f.headerSize = true, 32
	}
	if uint64(len(b)) < f.headerSize {
		return nil, 0, truncated("the Mach-O header has %d bytes", len(b))
	}
	word := func(i int) uint32 { return f.Order.Uint32(b[4*i:]) }
	f.CPU, f.Subtype, f.Type, f.Flags = word(1), word(2), word(3), word(6)
	return f, f.headerSize + uint64(word(5)), nil
}

// LoadCommands iterates over the load commands. It yields each command (LC_) and all its bytes,
// including the two words at the start, in the file's byte order. The bytes belong to the file.
func (f *File) LoadCommands() iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		for b := f.commands; len(b) >= 8; {
			size := f.Order.Uint32(b[4:])
			if size < 8 || uint64(size) > uint64(len(b)) || !yield(f.Order.Uint32(b), b[:size:size]) {
				return
			}
			b = b[size:]
		}
	}
}

// parseCommands reads the load commands that describe the layout of the file. The data at their
// offsets is read on demand.
func (f *File) parseCommands() error {
	f.Sections = make([]Section, 1, 32) // n_sect 0 is "no section"
	seen := 0
	for cmd, b := range f.LoadCommands() {
		at := int(f.headerSize) + seen
		seen += len(b)
		short := func(n int) error {
			return malformed("the load command 0x%x at offset 0x%x has %d bytes and needs %d", cmd, at, len(b), n)
		}
		word := func(i int) uint32 { return f.Order.Uint32(b[4*i:]) }
		switch cmd {
		case lcSegment, lcSegment64:
			if err := f.parseSegment(b, cmd == lcSegment64, at); err != nil {
				return err
			}
		case lcSymtab:
			if len(b) < 24 {
				return short(24)
			}
			f.symtab = linkedTable{uint64(word(2)), uint64(word(3))}
			f.strtab = linkedTable{uint64(word(4)), uint64(word(5))}
		case lcDysymtab:
			if len(b) < 80 {
				return short(80)
			}
			f.dysymtab = true
			f.indirect = linkedTable{uint64(word(14)), uint64(word(15))}
		case lcUUID:
			if len(b) < 24 {
				return short(24)
			}
			if !bytes.Equal(b[8:24], make([]byte, 16)) {
				f.UUID = hex.EncodeToString(b[8:24])
			}
		case lcFunctionStarts:
			if len(b) < 16 {
				return short(16)
			}
			f.starts = linkedTable{uint64(word(2)), uint64(word(3))}
		case lcEncryptionInfo, lcEncryptionInfo64:
			if len(b) < 20 {
				return short(20)
			}
			if word(4) != 0 { // cryptid
				f.encrypted = fileRange{uint64(word(2)), uint64(word(3))}
			}
		}
	}
	if seen != len(f.commands) {
		return malformed("the load command at offset 0x%x has an impossible size", int(f.headerSize)+seen)
	}
	f.findText()
	f.Entry = f.entry()
	return nil
}
