package frames_test

import (
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// records is a stack of frames whose functions, of LR machines, keep a frame record: at is where it is in the frame.
// f (0x1110) has no table, g (0x210) and h (0x410) have one, main (0x310) is the last.
func records(t testing.TB, a *arch.Arch) *bed {
	b := newBed(t, a)
	sp := byte(a.SP)
	c := b.cie("zR", 0x0c, sp, 0)
	b.fde(c, 0x300, 0x380, 0x07, b.ra())
	b.at(codeAt+0x1110, b.stack+0x100)
	for r := range arch.Reg(32) {
		if r != a.SP && r != a.PC {
			b.regs.Set(r, 0x5e7000+uint64(r)*16)
		}
	}
	return b
}

// On arm64 the record of a function may be anywhere in its frame, so that the frame pointer says nothing of the stack pointer.
func TestFrameRecordARM64(t *testing.T) {
	newRecords := func(g ...byte) *bed {
		b := records(t, arch.ARM64)
		c := b.cie("zR", 0x0c, 31, 0)
		b.fde(c, 0x200, 0x280, g...)
		b.fde(c, 0x400, 0x480, 0x0c, 29, 0x40, 0x9d, 8, 0x9e, 7, 0x93, 6) // CFA=x29+64, x29 at c-64, x30 at c-56, x19 at c-48
		// f: 0x100 to 0x150, its record at its bottom. g: to 0x190. h: to 0x1d0.
		b.words(b.stack+0x100, b.stack+0x150, b.calling(0x210))
		b.words(b.stack+0x150, b.stack+0x190, b.calling(0x410), 0x19)
		b.words(b.stack+0x190, b.stack+0x1d0, b.calling(0x310), 0x1919, 0x2020)
		b.words(b.stack+0x110, 0xbad, 0xbad, codeAt+0x310, codeAt+0x310) // where x29+16 and a row would look
		b.regs.Set(29, b.stack+0x100)
		return b
	}
	check := func(b *bed, want string, g, h, main map[arch.Reg]uint64) {
		t.Helper()
		b.want(want, "undefined return address")
		all, _ := b.frames()
		for i, known := range []map[arch.Reg]uint64{1: g, 2: h, 3: main} {
			if i == 0 || i >= len(all) {
				continue
			}
			for r := range arch.Reg(arch.MaxRegs) {
				v, is := all[i].Regs.Get(r)
				if want, should := known[r]; r != b.a.PC && (is != should || v != want) {
					t.Errorf("frame %d: %s is %x, %v, want %x, %v", i, b.a.RegName(r), v, is, want, should)
				}
				if _, should := known[r]; r != b.a.PC && r != b.a.SP && should && all[i].RegisterTrust(r) < frames.Heuristic {
					t.Errorf("frame %d: %s is %v", i, b.a.RegName(r), all[i].RegisterTrust(r))
				}
			}
		}
		if len(all) > 0 && all[0].HasCFA {
			t.Errorf("f has a CFA: %x", uint64(all[0].CFA))
		}
	}
	s := uint64(stackAt)
	// A row of g's that begins with the stack pointer has nothing to begin with: its own record leads on.
	b := newRecords(0x0e, 64, 0x9d, 8, 0x9e, 7, 0x93, 6)
	check(b, "402110 context exact\n401210 fp heuristic\n401410 fp heuristic\n401310 cfi heuristic",
		map[arch.Reg]uint64{29: s + 0x150},
		map[arch.Reg]uint64{29: s + 0x190},
		map[arch.Reg]uint64{29: s + 0x1d0, 30: codeAt + 0x310, 31: s + 0x1d0, 19: 0x1919})
	// One that begins with the frame pointer holds. What g does not save is still not known.
	b = newRecords(0x0c, 29, 0x40, 0x9d, 8, 0x9e, 7, 0x93, 6)
	check(b, "402110 context exact\n401210 fp heuristic\n401410 cfi heuristic\n401310 cfi heuristic",
		map[arch.Reg]uint64{29: s + 0x150},
		map[arch.Reg]uint64{29: s + 0x190, 30: codeAt + 0x410, 31: s + 0x190, 19: 0x19},
		map[arch.Reg]uint64{29: s + 0x1d0, 30: codeAt + 0x310, 31: s + 0x1d0, 19: 0x1919})
	// After a step that gives no stack pointer, a chain that goes down is not a chain of frames.
	b = newRecords(0x0c, 29, 0x40, 0x9d, 8, 0x9e, 7)
	b.words(b.stack+0x150, b.stack+0x100, codeAt+0x410)
	b.want("402110 context exact\n401210 fp heuristic\n401410 cfi heuristic\n401310 scan guess", "undefined return address")
	// A row whose frame would be below the record that has led to it is not believed.
	b = newRecords(0x12, 29, 8, 0x9d, 8, 0x9e, 7) // CFA=x29-64
	b.words(b.stack+0x110-64, 0, codeAt+0x310)
	b.want("402110 context exact\n401210 fp heuristic\n401410 fp heuristic\n401310 cfi heuristic", "undefined return address")
}

// riscv64's variadic functions save arguments between the record and the CFA.
func TestFrameRecordRISCV64(t *testing.T) {
	b := records(t, arch.RISCV64)
	c := b.cie("zR", 0x0c, 2, 0)
	b.fde(c, 0x200, 0x280, 0x0e, 32, 0x81, 1, 0x88, 2)   // CFA=sp+32
	b.fde(c, 0x400, 0x480, 0x0c, 8, 0, 0x81, 1, 0x88, 2) // CFA=s0
	// f: 0x100 to 0x180, its record below 0x140. g: to 0x1a0. h: to 0x1c0.
	b.words(b.stack+0x130, b.stack+0x1a0, b.calling(0x210))
	b.words(b.stack+0x158, codeAt+0x310)
	b.words(b.stack+0x190, b.stack+0x1c0, b.calling(0x410))
	b.words(b.stack+0x1b0, 0, b.calling(0x310))
	b.regs.Set(8, b.stack+0x140)
	b.want("402110 context exact\n401210 fp heuristic\n401410 fp heuristic\n401310 cfi heuristic", "undefined return address")
	all, _ := b.frames()
	if all[1].Regs.IsKnown(2) || all[2].Regs.IsKnown(2) || all[0].HasCFA {
		t.Error("the stack pointer is known")
	}
	if sp, known := all[3].Regs.SP(); !known || sp != b.stack+0x1c0 {
		t.Errorf("sp of main is %x, %v", sp, known)
	}
}

// arm has two layouts, and another frame pointer in Thumb code.
func TestFrameRecordARM(t *testing.T) {
	for name, c := range map[string]struct {
		reg   arch.Reg
		fp    uint64 // from the record
		other arch.Reg
	}{
		"gcc": {11, 4, 7}, "clang": {11, 0, 7}, "thumb": {7, 0, 11},
	} {
		t.Run(name, func(t *testing.T) {
			b := records(t, arch.ARM)
			b.words(b.stack+0x120, b.stack+0x150+c.fp, b.calling(0x210))
			b.words(b.stack+0x150, b.stack+0x180+c.fp, b.calling(0x410)|1)
			b.words(b.stack+0x180, 0, b.calling(0x310))
			b.regs.Set(c.reg, b.stack+0x120+c.fp)
			for _, v := range []uint64{0, b.stack + 0x160, b.stack + 0x180 + c.fp, 0x1234} { // what the other one has
				b.regs.Set(c.other, v)
				b.want("402110 context exact\n401210 fp heuristic\n401410 fp heuristic\n401310 fp heuristic",
					"undefined return address")
			}
			all, _ := b.frames()
			if all[1].Regs.IsKnown(13) || all[1].Regs.IsKnown(c.other) {
				t.Error("more is known than the record says")
			}
			if v, _ := all[1].Regs.Get(c.reg); v != b.stack+0x150+c.fp {
				t.Errorf("frame pointer %x", v)
			}
		})
	}
}

// A search does not say where the frame ends where the function saves the link register itself.
func TestScanSaysNoStackPointer(t *testing.T) {
	for _, a := range arch.All() {
		b := newBed(t, a)
		c := b.cie("zR", 0x0c, byte(a.SP), 0)
		b.fde(c, 0x300, 0x380, 0x07, b.ra())
		b.words(b.stack+0x140, 0, 0, b.calling(0x310))
		b.at(codeAt+0x1110, b.stack+0x100)
		all, end := b.frames()
		if len(all) != 2 || all[1].Strategy != frames.Scan || !end.Outermost {
			t.Errorf("%s: %d frames, %+v", a.Name, len(all), end)
			continue
		}
		if known := all[1].Regs.IsKnown(a.SP); known != (a.LR == arch.NoReg) || all[0].HasCFA != known {
			t.Errorf("%s: SP known %v, CFA known %v", a.Name, known, all[0].HasCFA)
		}
	}
}
