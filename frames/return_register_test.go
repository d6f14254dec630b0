package frames_test

import (
	"fmt"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// TestReturnsToItself: after a call the link register has the return address of that call. A row that has the function's own
// there is wrong at a return address: the walk would come to the same place for as long as there is stack.
func TestReturnsToItself(t *testing.T) {
	for _, a := range []*arch.Arch{arch.ARM64, arch.RISCV64, arch.ARM} {
		t.Run(a.Name, func(t *testing.T) {
			b := newBed(t, a)
			c := b.cie("zR", 0x0c, byte(a.SP), 0)
			b.fde(c, 0x100, 0x180)           // a leaf
			b.fde(c, 0x200, 0x280, 0x0e, 48) // its caller's return address is said to be in the link register still
			b.fde(c, 0x300, 0x380, 0x07, b.ra())
			b.regs.Set(a.LR, b.calling(0x210))
			b.at(codeAt+0x110, b.stack+0x100)
			b.want("401110 context exact\n401210 cfi table", "no strategy found a caller")
			if a != arch.ARM64 {
				return // the others' link registers are not known after a call
			}
			all, end := b.frames()
			if why := fmt.Sprintf("the return address is in %s, but the call before PC has overwritten it", a.RegName(a.LR)); len(end.Attempts) == 0 ||
				end.Attempts[0] != (frames.Attempt{Strategy: frames.CFI, Why: why}) {
				t.Errorf("%d frames, %+v", len(all), end)
			}
		})
	}
}
