package frames_test

import (
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// An old vDSO's table is wrong at the trampoline: the instructions go first.
func TestTrampolineBeforeTable(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		code []byte
		rows []byte
		pc   int // where it is in the saved registers
	}{
		// .cfi_def_cfa x29, 0; .cfi_offset x29, 0; .cfi_offset x30, 8
		{arch.ARM64, []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, []byte{0x0c, 29, 0, 0x9d, 0, 0x11, 30, 0x7f}, 32},
		{arch.RISCV64, []byte{0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}, nil, 0},
	} {
		t.Run(c.a.Name, func(t *testing.T) {
			b := newBed(t, c.a)
			sp := byte(c.a.SP)
			cie := b.cie("zR", 0x0c, sp, 0)
			// F, a leaf, was interrupted before its return.
			b.fde(cie, 0x100, 0x180)
			b.fde(cie, 0x200, 0x280, 0x0e, 32, 0x80|b.ra(), 1, 0x80|byte(c.a.FP), 2) // g has called f
			b.fde(cie, 0x300, 0x380, 0x07, b.ra())
			b.fde(cie, 0x400, 0x480, 0x0e, 16, 0x80|b.ra(), 1, 0x80|byte(c.a.FP), 2) // the handler
			signal := b.cie("zRS", 0x0c, sp, 0)
			b.fde(signal, 0x4ff, 0x508, c.rows...)
			b.code(0x500, c.code...)
			from := b.stack + 0x100
			b.words(from, 0, 0, 0, b.calling(0x310))
			at := b.alt + 0x10 // the signal's frame, above the handler's
			b.words(b.alt, b.stack+0x1000, codeAt+0x500)
			b.words(b.stack+0x1000, b.stack+0x80, b.calling(0x210)) // the kernel's frame record
			regs := at + 128 + 176
			if c.a == arch.ARM64 {
				regs += 8
			}
			for i := range 33 {
				b.words(regs+uint64(8*i), uint64(0x5e70+i))
			}
			b.words(regs+uint64(8*c.pc), codeAt+0x110)
			b.words(regs+uint64(8*int(c.a.SP)), from)
			b.words(regs+uint64(8*int(c.a.LR)), codeAt+0x210)
			b.regs.Set(c.a.LR, codeAt+0x500)
			b.at(codeAt+0x410, b.alt)
			b.want(`401410 context exact
				401500 cfi table signal
				401110 sigreturn table precise
				401210 cfi table
				401310 cfi table`, "undefined return address")
			// The saved registers are not there: the table is not asked either.
			b.pieces[2].data = b.pieces[2].data[:0x100]
			all, end := b.frames()
			if len(all) != 2 || end.Outermost || end.Attempts[0].Strategy != frames.Sigreturn {
				t.Errorf("%d frames, %+v", len(all), end)
			}
		})
	}
}

// A handler without a table was found by the frame pointer, which says nothing of SP: the kernel's frame record leads to what it has saved.
func TestSigreturnAfterFramePointer(t *testing.T) {
	const sigframe = 4688
	world := func(t *testing.T, extra uint64) (b *bed, record uint64) {
		b = newBed(t, arch.ARM64)
		cie := b.cie("zR", 0x0c, 31, 0)
		b.fde(cie, 0x100, 0x180) // a leaf, interrupted
		b.fde(cie, 0x300, 0x380, 0x07, 30)
		b.code(0x500, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4)
		at := b.alt + 0x100
		record = at + sigframe + extra
		b.pieces[2].data = make([]byte, 0x8000)
		for i := range 33 {
			b.words(at+128+176+8+uint64(8*i), uint64(0x5e70+i))
		}
		regs := at + 128 + 176 + 8
		b.words(regs+8*29, b.stack+0x300, b.calling(0x310)) // X29, X30
		b.words(regs+8*31, b.stack+0x280, codeAt+0x110)     // SP, PC
		b.words(record, b.stack+0x300, codeAt+0x310)
		// The handler, at 0x810, and a function that it has called, at 0x910: both by the frame pointer.
		b.words(b.alt+0x20, b.alt+0x40, b.calling(0x810))
		b.words(b.alt+0x40, record, codeAt+0x500)
		b.regs.Set(29, b.alt+0x20)
		b.at(codeAt+0x910, b.alt+0x10)
		return b, record
	}
	const whole = `401910 context exact
		401810 fp heuristic
		401500 fp heuristic signal
		401110 sigreturn heuristic precise
		401310 cfi heuristic`
	for _, extra := range []uint64{0, 16, 0x1000} {
		b, _ := world(t, extra)
		b.want(whole, "undefined return address")
	}
	// What is no record of that frame leads nowhere.
	b, record := world(t, 0)
	b.words(record, b.stack+0x308)
	all, end := b.frames()
	if len(all) != 3 || end.Outermost || end.Attempts[0] != (frames.Attempt{Strategy: frames.Sigreturn, Why: "the stack pointer is not known"}) {
		t.Errorf("%d frames, %+v", len(all), end)
	}
}
