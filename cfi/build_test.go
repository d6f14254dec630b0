package cfi_test

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/cfi"
)

// builder writes a section, entry by entry.
type builder struct {
	a     *arch.Arch
	b     []byte
	debug bool
	wide  bool // 64-bit DWARF
}

func (b *builder) entry(id uint64, idSize int, body ...byte) (off, idPos int) {
	off = len(b.b)
	n := uint64(idSize + len(body))
	if b.wide {
		b.b = append(b.b, 0xff, 0xff, 0xff, 0xff)
		b.b = b.a.ByteOrder.(binary.AppendByteOrder).AppendUint64(b.b, n)
	} else {
		b.b = b.a.ByteOrder.(binary.AppendByteOrder).AppendUint32(b.b, uint32(n))
	}
	idPos = len(b.b)
	if idSize == 8 {
		b.b = b.a.ByteOrder.(binary.AppendByteOrder).AppendUint64(b.b, id)
	} else {
		b.b = b.a.ByteOrder.(binary.AppendByteOrder).AppendUint32(b.b, uint32(id))
	}
	b.b = append(b.b, body...)
	return off, idPos
}

func (b *builder) idSize() int {
	if b.wide && b.debug {
		return 8
	}
	return 4
}

func (b *builder) cie(body ...byte) int {
	id := uint64(0)
	if b.debug {
		id = 1<<64 - 1
	}
	off, _ := b.entry(id, b.idSize(), body...)
	return off
}

// fde writes an FDE of CIE cie with absolute 8- or 4-byte addresses.
func (b *builder) fde(cie int, lo, n uint64, instr ...byte) int {
	var body []byte
	for _, v := range []uint64{lo, n} {
		if b.a.PtrSize == 4 {
			body = b.a.ByteOrder.(binary.AppendByteOrder).AppendUint32(body, uint32(v))
		} else {
			body = b.a.ByteOrder.(binary.AppendByteOrder).AppendUint64(body, v)
		}
	}
	return b.rawFDE(cie, append(body, instr...)...)
}

func (b *builder) rawFDE(cie int, body ...byte) int {
	idPos := len(b.b) + 4
	if b.wide {
		idPos += 8
	}
	id := uint64(cie)
	if !b.debug {
		id = uint64(idPos - cie)
	}
	off, _ := b.entry(id, b.idSize(), body...)
	return off
}

const sectionAddr = 0x400000

func (b *builder) config() cfi.Config {
	return cfi.Config{Arch: b.a, Data: b.b, Addr: sectionAddr, Debug: b.debug, Text: 0x1000, DataBase: 0x9000}
}

func (b *builder) table() *cfi.Table { return cfi.New(b.config()) }

// plain writes a CIE of version 1 without augmentation: code alignment 1, data alignment -8, RA 16,
// CFA rsp+8, RA at c-8.
var plain = []byte{1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1}
