package machocore

import (
	"bytes"
	"encoding/hex"
)

// notes holds the contents of the LC_NOTEs, except the images.
type notes struct {
	lowBits, highBits uint   // bits of addresses; 0 if unknown
	metadata          []byte // JSON
	listed            bool   // a note lists all images
	main              uint64 // address of the first image, from "main bin spec"
	mainKind          uint32
	hasMain           bool
	found             []found
	placed            int // number of segments whose addresses are in notes
}

// found is an image listed in a note.
type found struct {
	path      string
	uuid      string
	header    uint64 // none if unknown
	slide     uint64 // none if unknown
	segments  []placed
	executing bool
}

// placed is the address of a segment of an image.
type placed struct {
	name string
	addr uint64
}

// none is the value for an unknown number in notes.
const none = ^uint64(0)

// Limits on the contents of a file.
const (
	mostImages   = 1 << 14
	mostSegments = 1 << 18 // of all images together
	longestPath  = 1 << 12
	longestText  = 1 << 24
)

// readNote reads an LC_NOTE: the name of its owner in 16 bytes, then the offset and size of its
// data. Notes of other owners ("kern ver str", "panic context") are not needed here.
func (c *Core) readNote(b []byte) {
	if len(b) < 40 {
		c.warn("the core file is damaged: a note's load command has %d bytes", len(b))
		return
	}
	name := cstring(b[8:24])
	off, size := le.Uint64(b[24:]), le.Uint64(b[32:])
	read := map[string]func([]byte) bool{
		"all image infos":  c.readImageInfos,
		"load binary":      c.readLoadBinary,
		"main bin spec":    c.readMainBinary,
		"addrable bits":    c.readAddressableBits,
		"process metadata": c.readMetadata,
	}[name]
	if read == nil {
		return
	}
	p := cutSome(c.base.Bytes(), off, size)
	if uint64(len(p)) < size {
		c.warn("the core file is truncated: its note %q is incomplete", name)
	}
	if !read(p) {
		c.warn("the note %q is damaged, or has an unknown version", name)
	}
}

// readAddressableBits reads the version, then the number of bits (version 3), or the numbers for
// low and for high addresses (version 4).
func (c *Core) readAddressableBits(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	low := le.Uint32(b[4:])
	high := low
	switch le.Uint32(b) {
	case 3:
	case 4:
		if len(b) < 12 {
			return false
		}
		high = le.Uint32(b[8:])
	default:
		return false
	}
	if low > 64 || high > 64 {
		return false
	}
	c.notes.lowBits, c.notes.highBits = uint(low), uint(high)
	return true
}

// readMetadata stores the JSON text of the note.
func (c *Core) readMetadata(b []byte) bool {
	if len(b) > longestText {
		return false
	}
	c.notes.metadata = bytes.TrimRight(b, "\x00")
	return len(c.notes.metadata) > 0
}

// readMainBinary reads the version, the type (1 kernel, 2 user process, 3 standalone), and the
// address; from version 2 on, the slide; then the UUID, the page size, and the platform. For a
// user process the address is dyld's.
func (c *Core) readMainBinary(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	version := le.Uint32(b)
	need := 40
	if version >= 2 {
		need = 48
	}
	if version < 1 || version > 3 || len(b) < need {
		return false
	}
	f := found{header: le.Uint64(b[8:]), slide: none, executing: true}
	rest := b[16:]
	if version >= 2 {
		f.slide, rest = le.Uint64(rest), rest[8:]
		if p := le.Uint32(rest[20:]); p != 0 && c.platform == "" {
			c.platform = platformName(p)
		}
	}
	f.uuid = uuidOf(rest)
	c.notes.hasMain, c.notes.mainKind, c.notes.main = true, le.Uint32(b[4:]), f.header
	if f.header != none || f.uuid != "" {
		c.notes.found = append(c.notes.found, f)
	}
	return true
}

// readLoadBinary reads version 1: the UUID, the address, the slide, and the name.
func (c *Core) readLoadBinary(b []byte) bool {
	if len(b) < 36 || le.Uint32(b) != 1 {
		return false
	}
	f := found{uuid: uuidOf(b[4:]), header: le.Uint64(b[20:]), slide: le.Uint64(b[28:]), path: cstring(cutSome(b, 36, longestPath)), executing: true}
	if f.header == none && f.uuid == "" {
		return true // nothing identifies the image
	}
	c.notes.found = append(c.notes.found, f)
	return true
}

// readImageInfos reads version 1: the number of images, the offset of the entries, and the size
// of an entry. An entry has the offset of its path, the UUID, the address, the offset and number
// of the segments' addresses, and whether a thread executes in it. All offsets are offsets in the
// core file.
func (c *Core) readImageInfos(b []byte) bool {
	if len(b) < 20 || le.Uint32(b) != 1 {
		return false
	}
	count, at, size := uint64(le.Uint32(b[4:])), le.Uint64(b[8:]), uint64(le.Uint32(b[16:]))
	if size < 48 { // some writers leave it 0
		size = 48
	}
	for i := range min(count, mostImages) {
		e, ok := cut(c.base.Bytes(), at, 48)
		if !ok {
			c.warn("the core file is truncated: %d of %d images are missing from its list", count-i, count)
			break
		}
		at += size
		f := found{header: le.Uint64(e[24:]), slide: none, uuid: uuidOf(e[8:]), executing: le.Uint32(e[44:]) == 1}
		if off := le.Uint64(e); off != none {
			f.path = cstring(cutSome(c.base.Bytes(), off, longestPath))
		}
		f.segments = c.readPlaced(le.Uint64(e[32:]), le.Uint32(e[40:]))
		for _, s := range f.segments {
			if s.name == "__TEXT" && f.header == none {
				f.header = s.addr
			}
		}
		c.notes.found = append(c.notes.found, f)
	}
	c.notes.listed = true
	return true
}

// readPlaced reads segment_vmaddr: the name in 16 bytes, the address, and an unused word.
func (c *Core) readPlaced(off uint64, count uint32) []placed {
	var out []placed
	for range count {
		b, ok := cut(c.base.Bytes(), off, 32)
		if off == none || !ok || c.notes.placed == mostSegments {
			break
		}
		c.notes.placed++
		out = append(out, placed{cstring(b[:16]), le.Uint64(b[16:])})
		off += 32
	}
	return out
}

// uuidOf returns the 32 hex digits of a UUID, or "" if it is all zeros.
func uuidOf(b []byte) string {
	b = b[:16]
	if bytes.Equal(b, make([]byte, 16)) {
		return ""
	}
	return hex.EncodeToString(b)
}

// cstring returns the bytes before the first zero.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
