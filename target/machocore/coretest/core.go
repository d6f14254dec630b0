package coretest

import (
	"encoding/binary"
	"encoding/hex"

	"dbg/arch"
)

// Processors and load commands, <mach/machine.h> and <mach-o/loader.h>.
var cpus = map[*arch.Arch]uint32{arch.AMD64: 0x01000007, arch.I386: 7, arch.ARM64: 0x0100000c}

const (
	lcThread       = 4
	lcSegment      = 1
	lcSegment64    = 0x19
	lcNote         = 0x31
	lcBuildVersion = 0x32
)

var le = binary.LittleEndian

// Core holds the contents of a core file.
type Core struct {
	Arch     *arch.Arch
	Subtype  uint32
	Platform uint32 // LC_BUILD_VERSION's, with version 14.5; 0: none
	Segments []Segment
	Threads  []Thread
	Notes    []Note
}

// Segment is a range of memory. Size may be larger than Data.
type Segment struct {
	Addr, Size uint64 // a Size of 0 means the size of Data
	Prot       uint32 // 1 read, 2 write, 4 execute
	Data       []byte
}

// Thread is a list of thread states, in file order.
type Thread []State

// State is one thread state.
type State struct {
	Flavor uint32
	Data   []byte
}

// Note is an LC_NOTE. Make receives the offset of the note's data in the file.
type Note struct {
	Name string
	Make func(at uint64) []byte
}

// Plain returns a note whose bytes do not depend on their offset.
func Plain(name string, data []byte) Note {
	return Note{name, func(uint64) []byte { return data }}
}

// Bytes returns the contents of the core file.
func (c *Core) Bytes() []byte {
	wide := c.Arch.PtrSize == 8
	var commands []byte
	var count uint32
	command := func(cmd uint32, body []byte) {
		count++
		commands = le.AppendUint32(commands, cmd)
		commands = le.AppendUint32(commands, uint32(8+len(body)))
		commands = append(commands, body...)
	}
	head, each := 28, 56
	if wide {
		head, each = 32, 72
	}
	size := head + len(c.Segments)*each + len(c.Notes)*40
	for _, t := range c.Threads {
		size += 8
		for _, s := range t {
			size += 8 + len(s.Data)
		}
	}
	if c.Platform != 0 {
		size += 24
	}
	var rest []byte
	at := func() uint64 { return uint64(size + len(rest)) }
	pad := func(n int) {
		for (size+len(rest))%n != 0 {
			rest = append(rest, 0)
		}
	}
	if c.Platform != 0 {
		var b []byte
		for _, v := range []uint32{c.Platform, 0x000e0500, 0x000e0500, 0} {
			b = le.AppendUint32(b, v)
		}
		command(lcBuildVersion, b)
	}
	for _, n := range c.Notes {
		pad(16)
		data := n.Make(at())
		b := make([]byte, 16)
		copy(b, n.Name)
		b = le.AppendUint64(le.AppendUint64(b, at()), uint64(len(data)))
		command(lcNote, b)
		rest = append(rest, data...)
	}
	for _, t := range c.Threads {
		var b []byte
		for _, s := range t {
			b = le.AppendUint32(le.AppendUint32(b, s.Flavor), uint32(len(s.Data)/4))
			b = append(b, s.Data...)
		}
		command(lcThread, b)
	}
	if len(c.Segments) > 0 {
		pad(4096)
	}
	for _, s := range c.Segments {
		memory := s.Size
		if memory == 0 {
			memory = uint64(len(s.Data))
		}
		b := make([]byte, 16)
		if wide {
			for _, v := range []uint64{s.Addr, memory, at(), uint64(len(s.Data))} {
				b = le.AppendUint64(b, v)
			}
		} else {
			for _, v := range []uint64{s.Addr, memory, at(), uint64(len(s.Data))} {
				b = le.AppendUint32(b, uint32(v))
			}
		}
		for _, v := range []uint32{s.Prot, s.Prot, 0, 0} {
			b = le.AppendUint32(b, v)
		}
		if wide {
			command(lcSegment64, b)
		} else {
			command(lcSegment, b)
		}
		rest = append(rest, s.Data...)
	}
	var out []byte
	magic := uint32(0xfeedface)
	if wide {
		magic++
	}
	for _, v := range []uint32{magic, cpus[c.Arch], c.Subtype, 4, count, uint32(len(commands)), 0} {
		out = le.AppendUint32(out, v)
	}
	if wide {
		out = le.AppendUint32(out, 0)
	}
	out = append(out, commands...)
	if len(out) != size {
		panic("the sizes don't add up")
	}
	return append(out, rest...)
}

// None is the value for an unknown number in notes.
const None = ^uint64(0)

// Image is an entry for the note "all image infos".
type Image struct {
	Path     string
	UUID     string // 32 hex digits, or ""
	Header   uint64 // or None
	Segments []Placed
}

// Placed is the address of a segment.
type Placed struct {
	Name string
	Addr uint64
}

// AllImageInfos returns the note "all image infos", version 1.
func AllImageInfos(images ...Image) Note {
	return Note{"all image infos", func(at uint64) []byte {
		segments := at + 24 + 48*uint64(len(images))
		paths := segments
		for _, im := range images {
			paths += 32 * uint64(len(im.Segments))
		}
		var b, s, p []byte
		b = le.AppendUint32(le.AppendUint32(b, 1), uint32(len(images)))
		b = le.AppendUint64(b, at+24)
		b = le.AppendUint32(le.AppendUint32(b, 48), 0)
		for _, im := range images {
			b = le.AppendUint64(b, paths+uint64(len(p)))
			b = append(b, uuid(im.UUID)...)
			b = le.AppendUint64(b, im.Header)
			if len(im.Segments) == 0 {
				b = le.AppendUint64(b, None)
			} else {
				b = le.AppendUint64(b, segments+uint64(len(s)))
			}
			b = le.AppendUint32(le.AppendUint32(b, uint32(len(im.Segments))), 1)
			for _, seg := range im.Segments {
				name := make([]byte, 16)
				copy(name, seg.Name)
				s = append(s, name...)
				s = le.AppendUint64(le.AppendUint64(s, seg.Addr), 0)
			}
			p = append(append(p, im.Path...), 0)
		}
		return append(append(b, s...), p...)
	}}
}

// LoadBinary returns the note "load binary", version 1.
func LoadBinary(id string, header, slide uint64, name string) Note {
	b := append(le.AppendUint32(nil, 1), uuid(id)...)
	b = le.AppendUint64(le.AppendUint64(b, header), slide)
	return Plain("load binary", append(append(b, name...), 0))
}

// MainBinary returns the note "main bin spec".
func MainBinary(version, kind uint32, header, slide uint64, id string, platform uint32) Note {
	b := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, version), kind), header)
	if version > 1 {
		b = le.AppendUint64(b, slide)
	}
	b = le.AppendUint32(append(b, uuid(id)...), 12)
	return Plain("main bin spec", le.AppendUint32(b, platform))
}

// AddressableBits returns the note "addrable bits": version 3 if both numbers are the same, else
// version 4.
func AddressableBits(low, high uint32) Note {
	b := le.AppendUint32(nil, 3)
	if low != high {
		b = le.AppendUint32(nil, 4)
	}
	b = le.AppendUint32(b, low)
	if low != high {
		return Plain("addrable bits", append(le.AppendUint32(b, high), make([]byte, 8)...))
	}
	return Plain("addrable bits", append(b, make([]byte, 8)...))
}

func uuid(s string) []byte {
	b, _ := hex.DecodeString(s)
	return append(b, make([]byte, 16)...)[:16]
}
