package frames_test

import (
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// signedBed is arm64's functions f (a leaf), g, h and the outermost, all with tables, and bare code at 0x1110.
func signedBed(t testing.TB) *bed {
	b := newBed(t, arch.ARM64)
	c := b.cie("zR", 0x0c, 31, 0)
	b.fde(c, 0x100, 0x180)
	b.fde(c, 0x200, 0x280, 0x0e, 16, 0x9d, 2, 0x9e, 1)
	b.fde(c, 0x300, 0x380, 0x0c, 29, 16, 0x9d, 2, 0x9e, 1)
	b.fde(c, 0x400, 0x480, 0x07, 30)
	return b
}

// A signature begins where addresses end, which is the system's choice: a core says it, or code is where it leads to.
func TestCodeBits(t *testing.T) {
	for _, c := range []struct {
		name string
		mask uint64
		bits uint8 // of Unwinder.CodeBits
	}{
		{"48 bits", 0x002a << 48, 48},
		{"39 bits", 0x2a5a80 << 32, 39},
		{"36 bits", 0x2a5a93 << 32 &^ (1<<36 - 1), 36},
		{"48 bits, not said", 0x002a << 48, 0},
		{"39 bits, not said", 0x2a5a80 << 32, 0},
		{"42 bits, not said", 0x2a5400 << 32, 0},
		{"36 bits, not said", 0x2a5a93 << 32 &^ (1<<36 - 1), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := signedBed(t)
			u := frames.New(b.a, b.fake)
			u.CodeBits = c.bits
			check := func(want string) {
				t.Helper()
				b.renew()
				frames.Edit(b.m).EHFrame = frames.Section{Data: b.table.b, Addr: 0x100000}
				got, end := show(t, u.Walk(&b.regs))
				if got != want || end.Reason != frames.UndefinedReturnAddress {
					t.Errorf("got\n%s\nwant\n%s\n%+v", got, want, end)
				}
			}
			b.regs.Set(30, b.calling(0x210)|c.mask)
			b.words(b.stack+0x100, b.stack+0x110, b.calling(0x310)|c.mask, 0, b.calling(0x410)|c.mask)
			b.at(codeAt+0x110, b.stack+0x100)
			check("401110 context exact\n401210 cfi table\n401310 cfi table\n401410 cfi table")
			// By the frame pointer.
			b.regs.Set(29, b.stack+0x100)
			b.at(codeAt+0x1110, b.stack+0x100)
			check("402110 context exact\n401310 fp heuristic\n401410 cfi heuristic")
			if c.bits == 0 {
				return
			}
			// By a shadow call stack, and by a search.
			b.regs.Set(29, 0)
			b.code(0x1110, 0x5e, 0x8e, 0x5f, 0xf8, 0xc0, 0x03, 0x5f, 0xd6) // ldr x30,[x18,#-8]!; ret
			b.regs.Set(18, b.alt+8)
			b.words(b.alt, b.calling(0x410)|c.mask)
			check("402110 context exact\n401410 scs heuristic")
			b.regs.Forget(18)
			b.words(b.stack+0x100, b.calling(0x410)|c.mask, 0, 0, 0)
			check("402110 context exact\n401410 scan guess")
			// The thread itself is where a signed address has led to.
			b.regs.Set(30, codeAt+0x410)
			b.at(codeAt+0x110|c.mask, b.stack+0x100)
			check("401110 context exact\n401410 cfi table")
		})
	}
	// Where nobody says what a signature is, a thread that has gone to nowhere is nowhere.
	b := signedBed(t)
	b.regs.Set(30, b.calling(0x410))
	b.at(codeAt+0x110|0x2a<<48, b.stack+0x100)
	b.want("2a000000401110 context exact\n401410 prologue heuristic", "undefined return address")
}
