package frames_test

import (
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// Code whose bytes were left out of a core or a file reads as zeros. That says nothing: neither that there is no call
// before a return address, nor what a function does to its stack.
func TestBlankCode(t *testing.T) {
	for _, a := range arch.All() {
		t.Run(a.Name, func(t *testing.T) {
			b := newBed(t, a)
			b.code(0, make([]byte, 0x4000)...)
			sp := []byte{byte(a.SP), 0}
			if a.LR == arch.NoReg {
				sp[1] = byte(a.PtrSize)
			}
			c := b.cie("zR", 0x0c, sp[0], sp[1])
			b.fde(c, 0x300, 0x380, 0x07, b.ra())
			above := uint64(0) // how far the frame pointer is above the record
			if a == arch.RISCV64 {
				above = 16
			}
			b.words(b.stack+0x120, b.stack+0x140+above, codeAt+0x1210)
			b.words(b.stack+0x140, 0, codeAt+0x310)
			b.words(b.stack+0x100, codeAt+0x310, codeAt+0x310) // what a search would find, or code that pushes nothing
			b.regs.Set(a.FP, b.stack+0x120+above)
			b.at(codeAt+0x1110, b.stack+0x100)
			b.want("402110 context exact\n402210 fp heuristic\n401310 fp heuristic", "undefined return address")
			// No frame pointer: a search needs a call.
			b.regs.Set(a.FP, 0)
			b.want("402110 context exact", "no strategy found a caller")
			// There is code that is no call: that is said.
			b.regs.Set(a.FP, b.stack+0x120+above)
			b.code(0x1208, 1, 2, 3, 4, 5, 6, 7, 8)
			b.want("402110 context exact", "no strategy found a caller")
		})
	}
	// From a function's start through zeros to PC: nobody knows what it has pushed.
	b := newBed(t, arch.AMD64)
	b.code(0x1100, make([]byte, 0x200)...)
	frames.Edit(b.m).FunctionAt = func(pc uint64) (lo, hi uint64, ok bool) { return codeAt - bias + 0x1100, codeAt - bias + 0x1300, true }
	b.words(b.stack+0x100, b.calling(0x310))
	b.at(codeAt+0x1240, b.stack+0x100)
	b.want("402240 context exact\n401310 scan guess", "no strategy found a caller")
}

// A return address that an expression gives may leave the stack pointer where it was: it is kept elsewhere.
func TestExpressionReturnAddress(t *testing.T) {
	b := newBed(t, arch.AMD64)
	c := b.cie("zR", 0x0c, 7, 0)             // CFA=rsp
	inMemory := []byte{0x10, 16, 2, 0x73, 0} // expression: at rbx+0
	b.fde(c, 0x100, 0x180, inMemory...)
	b.fde(c, 0x200, 0x280, 0x10, 16, 2, 0x73, 8)
	b.fde(c, 0x300, 0x380, 0x07, 16)
	b.regs.Set(arch.RBX, b.alt)
	b.words(b.alt, b.calling(0x210), b.calling(0x310))
	b.at(codeAt+0x110, b.stack+0x100)
	b.want("401110 context exact\n401210 cfi table\n401310 cfi table", "undefined return address")
	all, _ := b.frames()
	if sp, known := all[2].Regs.SP(); !known || sp != b.stack+0x100 {
		t.Errorf("rsp %x, %v", sp, known)
	}
	// As a value, and in a circle.
	b = newBed(t, arch.AMD64)
	c = b.cie("zR", 0x0c, 7, 0)
	b.fde(c, 0x100, 0x180, 0x16, 16, 3, 0x73, 0x90, 0) // val_expression: rbx+16
	b.fde(c, 0x200, 0x280, 0x16, 16, 3, 0x73, 0x90, 0)
	b.regs.Set(arch.RBX, b.calling(0x210)-16)
	b.at(codeAt+0x110, b.stack+0x100)
	all, end := b.frames()
	if len(all) != 2 || end.Reason != frames.NotMoved {
		t.Errorf("%d frames, %+v", len(all), end)
	}
	// A word of the stack that a plain rule reads is no such thing.
	b = newBed(t, arch.AMD64)
	c = b.cie("zR", 0x0c, 7, 0)
	b.fde(c, 0x200, 0x280, 0x90, 0)
	b.words(b.stack+0x100, b.calling(0x310))
	b.calling(0x210)
	b.fde(c, 0x300, 0x380, 0x07, 16)
	b.code(0x210-2, 0xff, 0xd0)
	b.at(codeAt+0x210, b.stack+0x100)
	all, _ = b.frames()
	if all[1].Strategy.ByTable() {
		t.Error("the row is believed")
	}
}
