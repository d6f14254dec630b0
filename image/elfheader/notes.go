package elfheader

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
)

// Note is one entry of a PT_NOTE segment or an SHT_NOTE section.
type Note struct {
	Name string // without its trailing NULs, at most 32 bytes
	Type uint32
	Desc []byte // refers to the bytes given to EachNote
}

// EachNote calls f for each note until f returns false, up to the end of b or the first invalid
// note. It reports whether all notes up to there were valid. Names and descriptions are padded to
// four bytes, also in 64-bit files, or to eight with an alignment of 8 (GNU property notes).
func EachNote(b []byte, order binary.ByteOrder, align uint64, f func(Note) bool) bool {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(b) >= 12 {
		nameSize, descSize := uint64(order.Uint32(b)), uint64(order.Uint32(b[4:]))
		descAt := pad(12 + nameSize)
		name, ok := Cut(b, 12, nameSize)
		if !ok || nameSize > math.MaxInt32 {
			return false
		}
		n := Note{Name: strings.TrimRight(string(CutSome(name, 0, 32)), "\x00"), Type: order.Uint32(b[8:])}
		if n.Desc, ok = Cut(b, descAt, descSize); !ok {
			return false
		}
		if !f(n) {
			return true
		}
		end := pad(descAt + descSize)
		if end >= uint64(len(b)) {
			return true
		}
		b = b[end:]
	}
	return len(b) == 0
}

// Limits of a search for a build id.
const (
	maxNoteSegments = 256
	maxNoteSize     = 1 << 20
	maxBuildID      = 64
)

// FindBuildID returns the GNU build id in notes, in hexadecimal, or "".
func FindBuildID(b []byte, order binary.ByteOrder, align uint64) (id string) {
	const buildID = 3 // NT_GNU_BUILD_ID
	EachNote(b, order, align, func(n Note) bool {
		if n.Type == buildID && n.Name == "GNU" && 0 < len(n.Desc) && len(n.Desc) <= maxBuildID {
			id = hex.EncodeToString(n.Desc)
		}
		return id == ""
	})
	return id
}

// BuildID returns the GNU build id of a program or a library, in hexadecimal, or "". head has at
// least its headers. read returns the contents of a segment, as far as they exist.
func BuildID(head []byte, read func(Segment) []byte) string {
	h, err := Parse(head)
	if err != nil || h.Type != elf.ET_EXEC && h.Type != elf.ET_DYN {
		return ""
	}
	for i := range min(h.Progs.Within(uint64(len(head))), maxNoteSegments) {
		s, ok := h.Segment(head, i)
		if !ok || s.Type != elf.PT_NOTE || s.FileSize > maxNoteSize {
			continue
		}
		if id := FindBuildID(read(s), h.Order, s.Align); id != "" {
			return id
		}
	}
	return ""
}
