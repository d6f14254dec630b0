package machocore

import (
	"bytes"
	"encoding/hex"
)

// notes is what the LC_NOTEs say, but for the images.
type notes struct {
	lowBits, highBits uint   // of addresses; 0: not said
	metadata          []byte // JSON
	listed            bool   // there is a list of all images
	main              uint64 // where "main bin spec" says that the first image is
	mainKind          uint32
	hasMain           bool
	found             []found
	placed            int // segments that notes have placed
}

// found is an image that some note names.
type found struct {
	path      string
	uuid      string
	header    uint64 // none if not said
	slide     uint64 // none if not said
	segments  []placed
	executing bool
}

// placed is where a segment of an image is.
type placed struct {
	name string
	addr uint64
}

// none is how the notes say that they don't know a number.
const none = ^uint64(0)

// bounds of what is believed of a file.
const (
	mostImages   = 1 << 14
	mostSegments = 1 << 18 // of all images together
	longestPath  = 1 << 12
	longestText  = 1 << 24
)

// readNote reads an LC_NOTE: the name of its owner in 16 bytes, offset and size of
// what it has to say. Notes of other owners ("kern ver str", "panic context") say nothing that is
// needed here.
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
		c.warn("the core file is truncated: its note %q is not all there", name)
	}
	if !read(p) {
		c.warn("the note %q is damaged, or of a version that is not known", name)
	}
}

// readAddressableBits: version; 3 has the number of bits, 4 that of low and of
// high addresses.
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

// readMetadata keeps a JSON text.
func (c *Core) readMetadata(b []byte) bool {
	if len(b) > longestText {
		return false
	}
	c.notes.metadata = bytes.TrimRight(b, "\x00")
	return len(c.notes.metadata) > 0
}

// readMainBinary: version, type (1 kernel, 2 user process, 3 standalone), address; from
// version 2 on the slide; UUID, size of pages, platform. For a user process the address is dyld's.
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

// readLoadBinary: version 1, UUID, address, slide, name.
func (c *Core) readLoadBinary(b []byte) bool {
	if len(b) < 36 || le.Uint32(b) != 1 {
		return false
	}
	f := found{uuid: uuidOf(b[4:]), header: le.Uint64(b[20:]), slide: le.Uint64(b[28:]), path: cstring(cutSome(b, 36, longestPath)), executing: true}
	if f.header == none && f.uuid == "" {
		return true // nothing to find it by
	}
	c.notes.found = append(c.notes.found, f)
	return true
}

// readImageInfos: version 1, number of images, offset of the entries, size of
// one. An entry has the offset of its path, UUID, address, offset and number of
// the segments' addresses, and whether a thread runs in it. All offsets are the core file's.
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
			c.warn("the core file is truncated: %d of %d images are not in its list", count-i, count)
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

// readPlaced reads segment_vmaddr: the name in 16 bytes, the address, a word that
// is not used.
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

// uuidOf returns the 32 hex digits of a UUID, "" if it is all zeros.
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
