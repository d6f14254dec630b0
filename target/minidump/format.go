package minidump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"dbg/target/corefile"
)

// ErrNotCore is wrapped by Open's error for a file that is not a minidump.
var ErrNotCore = corefile.ErrNotCore

var le = binary.LittleEndian

// streamType is a MINIDUMP_STREAM_TYPE, or an extension of Breakpad (0x4767xxxx) or Crashpad
// (0x4350xxxx).
type streamType uint32

const (
	streamThreads         streamType = 3
	streamModules         streamType = 4
	streamMemory          streamType = 5
	streamException       streamType = 6
	streamSystem          streamType = 7
	streamThreadsEx       streamType = 8
	streamMemory64        streamType = 9
	streamCommentA        streamType = 10
	streamCommentW        streamType = 11
	streamHandles         streamType = 12
	streamUnloadedModules streamType = 14
	streamMisc            streamType = 15
	streamMemoryInfo      streamType = 16
	streamThreadNames     streamType = 24

	streamBreakpad  streamType = 0x47670001
	streamAssertion streamType = 0x47670002
	streamCPUInfo   streamType = 0x47670003
	streamStatus    streamType = 0x47670004
	streamLSB       streamType = 0x47670005
	streamCmdLine   streamType = 0x47670006
	streamEnviron   streamType = 0x47670007
	streamAuxv      streamType = 0x47670008
	streamMaps      streamType = 0x47670009
	streamDSODebug  streamType = 0x4767000a

	streamCrashpad streamType = 0x43500001
)

// Limits of what a file may contain.
const (
	mostStreams = 1 << 12
	mostThreads = 1 << 16
	mostModules = 1 << 16
	mostRanges  = 1 << 20 // memory ranges, regions
	mostNotes   = 1 << 12 // of each kind
	longestText = 1 << 16 // bytes of a string
	mostText    = 1 << 24 // bytes of all strings
)

const (
	headerSize    = 32
	directorySize = 12
	version       = 0xa793 // in the low half; the high half belongs to the writer
)

// begins reports whether a file begins like a minidump.
func begins(b []byte) bool { return bytes.HasPrefix(b, []byte("MDMP")) }

// cut returns size bytes of b at off, as far as b has them. whole is false if some are missing.
func cut(b []byte, off, size uint64) (part []byte, whole bool) {
	if off > uint64(len(b)) {
		return nil, size == 0
	}
	b = b[off:]
	if size > uint64(len(b)) {
		return b, false
	}
	return b[:size:size], true
}

// at returns the bytes that a MINIDUMP_LOCATION_DESCRIPTOR refers to: 32 bits of size, then 32 bits
// of offset.
func (d *Dump) at(location []byte) (part []byte, whole bool) {
	return cut(d.base.Bytes(), uint64(le.Uint32(location[4:])), uint64(le.Uint32(location)))
}

// readDirectory finds the streams. Of several streams with one type the first counts.
func (d *Dump) readDirectory() error {
	data := d.base.Bytes()
	if !begins(data) {
		return fmt.Errorf("%s does not begin with MDMP: %w", d.base.Path(), ErrNotCore)
	}
	if len(data) < headerSize {
		return fmt.Errorf("%s is a minidump that is truncated in its header: %w", d.base.Path(), ErrNotCore)
	}
	if v := le.Uint32(data[4:]); v&0xffff != version {
		return fmt.Errorf("%s is a minidump of version 0x%x, expected 0x%x: %w", d.base.Path(), v&0xffff, version, ErrNotCore)
	}
	count, off := uint64(le.Uint32(data[8:])), uint64(le.Uint32(data[12:]))
	d.written = le.Uint32(data[20:])
	table, _ := cut(data, off, min(count, mostStreams)*directorySize)
	if have := uint64(len(table) / directorySize); have < count {
		d.warn("the minidump is truncated: %d of %d entries of its directory are missing", count-have, count)
	}
	short := 0
	for ; len(table) >= directorySize; table = table[directorySize:] {
		typ := streamType(le.Uint32(table))
		part, whole := d.at(table[4:])
		if !whole {
			short++
		}
		if _, dup := d.streams[typ]; !dup && typ != 0 {
			d.streams[typ] = part
		}
	}
	if short > 0 {
		d.warn("the minidump is truncated: %d of %d streams are incomplete", short, count)
	}
	return nil
}

// list returns the entries of a stream that begins with a count of 32 bits. Some writers put four
// bytes of padding after the count, so that the entries are aligned to 8 bytes.
func (d *Dump) list(typ streamType, what string, size, most uint64) [][]byte {
	b := d.streams[typ]
	if len(b) < 4 {
		return nil
	}
	count := uint64(le.Uint32(b))
	if b = b[4:]; uint64(len(b)) == count*size+4 {
		b = b[4:]
	}
	return d.entries(b, what, count, size, most)
}

// tableOf returns the entries of a stream that begins with the sizes of its header and of an entry,
// and with a count of wide bytes. least is the number of bytes that an entry must have.
func (d *Dump) tableOf(typ streamType, what string, wide int, least uint64) [][]byte {
	b := d.streams[typ]
	if len(b) < 8+wide {
		return nil
	}
	header, size := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
	count := uint64(le.Uint32(b[8:]))
	if wide == 8 {
		count = le.Uint64(b[8:])
	}
	if header < uint64(8+wide) || size < least {
		d.warn("the minidump is damaged: its list of %s has a header of %d bytes and entries of %d", what, header, size)
		return nil
	}
	if header > uint64(len(b)) {
		return nil
	}
	return d.entries(b[header:], what, count, size, mostRanges)
}

// entries splits b into count entries, as many as there are, and at most a limit.
func (d *Dump) entries(b []byte, what string, count, size, most uint64) [][]byte {
	have := min(count, uint64(len(b))/size)
	if have < count {
		d.warn("the minidump is damaged: %d of %d %s are missing", count-have, count, what)
	}
	if have > most {
		d.warn("the minidump has %d %s; only %d are read", have, what, most)
		have = most
	}
	out := make([][]byte, have)
	for i := range out {
		out[i] = b[uint64(i)*size:][:size:size]
	}
	return out
}

// text returns the MINIDUMP_STRING at an offset: a length in bytes, and UTF-16. It returns "" for
// offset 0, and the part that is there of a string that is cut.
func (d *Dump) text(off uint64) string { return fromUTF16(d.sized(off)) }

// sized returns the bytes of a string, which follow their number. Many entries of a list may name one
// string, so a dump has a budget for all of them.
func (d *Dump) sized(off uint64) []byte {
	data := d.base.Bytes()
	if off == 0 || off > uint64(len(data)) || uint64(len(data))-off < 4 {
		return nil
	}
	part, _ := cut(data, off+4, min(uint64(le.Uint32(data[off:])), longestText))
	part = part[:min(int64(len(part)), max(0, d.textLeft))]
	d.textLeft -= int64(len(part))
	return part
}

// utf8Text returns the MinidumpUTF8String of Crashpad at an offset: a length in bytes, and UTF-8.
func (d *Dump) utf8Text(off uint64) string {
	return string(bytes.ToValidUTF8(d.sized(off), []byte("\uFFFD")))
}

// fromUTF16 decodes the text up to the first NUL.
func fromUTF16(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		u := le.Uint16(b)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// guid writes a GUID of 16 bytes as 32 lower-case digits, in the order of its text form.
func guid(b []byte) string {
	return fmt.Sprintf("%08x%04x%04x%x", le.Uint32(b), le.Uint16(b[4:]), le.Uint16(b[6:]), b[8:16])
}
