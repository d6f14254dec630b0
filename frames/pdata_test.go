package frames_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// functionTable gives a bed a function table of Windows with one entry from lo to hi, offsets from codeAt. The entry's unwind
// information says that the function's first four bytes allocate 40 bytes.
func (b *bed) functionTable(lo, hi uint32) {
	const base, infoAt = codeAt - bias, 0x9000
	le := binary.LittleEndian
	c := frames.Edit(b.m)
	c.FunctionTable.Data = le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, lo), hi), infoAt)
	c.ImageBase = base
	info := []byte{1, 4, 1, 0, 4, 0x42, 0, 0} // version 1; a prologue of 4 bytes; from 4 on: UWOP_ALLOC_SMALL, 8*4+8
	text := slices.Clone(b.pieces[0].data)
	c.ReadImage = func(addr uint64, n int) []byte {
		from := text
		if addr -= base; addr >= infoAt {
			addr, from = addr-infoAt, info
		}
		if addr > uint64(len(from)) || uint64(n) > uint64(len(from))-addr {
			return nil
		}
		return from[addr:][:n]
	}
	c.Code = append(c.Code, frames.Section{Addr: base, Data: text[:0x1000]})
}

// TestPData: a function with an entry, and one without, which is a leaf. The code at 0x100 is sub rsp, 40; call.
func TestPData(t *testing.T) {
	pdataBed := func(t *testing.T) *bed {
		b := newBed(t, arch.AMD64)
		c := b.cie("zR", 0x0c, 7, 8, 0x90, 1)
		b.fde(c, 0x300, 0x380, 0x07, 16)
		b.code(0x100, 0x48, 0x83, 0xec, 40)
		b.words(b.stack+0x100, b.calling(0x310))
		b.words(b.stack+0x100-48, b.calling(0x110))
		b.code(0x110, 0x48, 0x83, 0xc4, 40, 0xc3) // add rsp, 40; ret
		b.functionTable(0x100, 0x118)
		return b
	}
	for _, c := range []struct {
		name   string
		pc, sp int // sp relative to the place of the return address of the function at 0x100
		want   string
	}{
		{"entry", 0x100, 0, "401100 context exact\n401310 pdata table"},
		{"body", 0x104, -40, "401104 context exact\n401310 pdata table"},
		{"return", 0x114, 0, "401114 context exact\n401310 pdata table"},
		{"leaf", 0x500, -48, "401500 context exact\n401110 pdata table\n401310 pdata table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := pdataBed(t)
			b.at(codeAt+uint64(c.pc), b.stack+0x100+uint64(c.sp))
			b.want(c.want, "undefined return address")
		})
	}
	// Code without an entry that has made a call is no leaf. Its caller is found by other means.
	b := pdataBed(t)
	b.words(b.stack+0x100-56, b.calling(0x510))
	b.at(codeAt+0x500, b.stack+0x100-56)
	all, _ := b.frames()
	if len(all) < 3 || all[1].Strategy != frames.PData || all[2].Strategy == frames.PData || len(all[2].Attempts) == 0 ||
		all[2].Attempts[0].Strategy != frames.PData || !strings.Contains(all[2].Attempts[0].Why, "has made a call") {
		for _, f := range all {
			t.Errorf("%x by %s after %v", f.PC, f.Strategy, f.Attempts)
		}
	}
}
