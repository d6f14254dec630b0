package frames_test

import (
	"testing"

	"dbg/arch"
)

// A function whose CFA rests on RAX has called a helper that leaves RAX as it is: the callee's value is
// taken, as a heuristic, where it leads to a return address after a call.
func TestBorrowedCFA(t *testing.T) {
	borrowing := func() *world {
		w := newWorld(t, arch.AMD64)
		c := w.table.cie(w.a, false, usual...)
		w.table.fde(c, 0x100, 0x180)
		w.table.fde(c, 0x200, 0x280, 0x0c, 0, 8) // CFA=rax+8
		w.table.fde(c, 0x300, 0x380, 0x07, 16)
		w.put(stackAt+0x100, w.call(0x210))
		w.put(stackAt+0x200, w.call(0x310))
		w.regs.Set(0, stackAt+0x200)
		w.at(codeAt+0x110, stackAt+0x100)
		return w
	}
	borrowing().want("401110 context exact\n401210 cfi table\n401310 cfi heuristic", "undefined return address")
	w := borrowing()
	w.put(stackAt+0x200, codeAt+0x322) // no call before it
	w.put(stackAt+0x208, 0)
	w.want("401110 context exact\n401210 cfi table", "no strategy found a caller")
}
