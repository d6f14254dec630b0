package frames_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// TestPrecedence: where two strategies know a caller, and not the same one, the one that docs/unwinding.md
// names first finds the frame.
func TestPrecedence(t *testing.T) {
	t.Run(".debug_frame before .eh_frame", func(t *testing.T) {
		w := chain(t) // its .eh_frame has CFA=rsp+8 for the function at 0x100
		var debug tableBuilder
		debug.entry(0xffffffff, append([]byte{1, 0, 1, 0x78, 16}, usual...))
		function := binary.LittleEndian.AppendUint64(nil, codeAt-bias+0x100)
		function = binary.LittleEndian.AppendUint64(function, 0x80)
		debug.entry(0, append(function, 0x0e, 32)) // CFA=rsp+32
		frames.Edit(w.m).DebugFrame = frames.Section{Data: debug.b}
		w.want("401110 context exact\n401310 cfi table", "undefined return address")
	})
	t.Run("plt before fp", func(t *testing.T) {
		w := framePointers(t)
		frames.Edit(w.m).PLT = []frames.Range{{Lo: codeAt - bias + 0x2000, Hi: codeAt - bias + 0x2010}}
		w.code(0x2000, 0xff, 0x25, 1, 2, 3, 4) // jmp *slot: the return address is at SP
		w.put(stackAt+0x20, w.call(0x2030))
		if got, _ := w.walk(); !strings.HasPrefix(got, "403000 context exact\n403030 plt heuristic\n") {
			t.Error(got)
		}
	})
	t.Run("fp before scs, scs before scan", func(t *testing.T) {
		b := newBed(t, arch.ARM64)
		c := b.cie("zR", 0x0c, byte(b.a.SP), 0)
		b.fde(c, 0x400, 0x480, 0x07, b.ra())
		b.code(0x910, 0x5e, 0x8e, 0x5f, 0xf8, 0xc0, 0x03, 0x5f, 0xd6) // ldr x30,[x18,#-8]!; ret
		b.words(b.alt+0x100, 0, b.calling(0x410))
		b.regs.Set(18, b.alt+0x110)
		b.at(codeAt+0x910, b.stack+0x100)
		b.words(b.stack+0x110, b.calling(0x420)) // what a search finds
		b.want("401910 context exact\n401410 scs heuristic", "undefined return address")
		b.words(b.stack+0x140, 0, b.calling(0x430)) // a frame record
		b.regs.Set(b.a.FP, b.stack+0x140)
		b.want("401910 context exact\n401430 fp heuristic", "undefined return address")
	})
}
