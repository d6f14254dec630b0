package frames_test

import (
	"encoding/binary"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// A function whose instructions can't be followed to PC has its caller in the link register, unless it has made a
// call itself. Where its
// frame is, that does not say.
func TestLinkRegisterOfAFunction(t *testing.T) {
	bounds := func(pc uint64) (lo, hi uint64, ok bool) {
		return codeAt - bias + 0x1100, codeAt - bias + 0x1200, pc >= codeAt-bias+0x1100 && pc < codeAt-bias+0x1200
	}
	for _, a := range []*arch.Arch{arch.ARM64, arch.ARM, arch.RISCV64} {
		t.Run(a.Name, func(t *testing.T) {
			b := newBed(t, a)
			c := b.cie("zR", 0x0c, byte(a.SP), 0)
			b.fde(c, 0x300, 0x380, 0x07, b.ra())
			frames.Edit(b.m).FunctionAt = bounds
			b.regs.Set(a.LR, b.calling(0x310))
			b.at(codeAt+0x1110, b.stack+0x100)
			b.want("402110 context exact\n401310 prologue heuristic", "undefined return address")
			all, _ := b.frames()
			if all[0].HasCFA || all[1].Regs.IsKnown(a.SP) || all[1].Regs.IsKnown(a.LR) {
				t.Error("the stack pointer or the link register of the caller is known")
			}
			// It has called something, which has come back.
			b.regs.Set(a.LR, b.calling(0x1108))
			b.want("402110 context exact", "no strategy found a caller")
			b.regs.Set(a.LR, b.calling(0x1200))
			b.want("402110 context exact", "no strategy found a caller")
			// Nothing was called there, or nobody knows where the function is.
			b.regs.Set(a.LR, codeAt+0x320)
			b.want("402110 context exact", "no strategy found a caller")
			b.regs.Set(a.LR, b.calling(0x310))
			frames.Edit(b.m).FunctionAt = nil
			b.want("402110 context exact", "no strategy found a caller")
		})
	}
}

// arm64Code is instructions of arm64.
func arm64Code(words ...uint32) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// TestPrologueARM64: at each instruction of a function without a table, which its symbol or the call that has
// entered it leads to.
func TestPrologueARM64(t *testing.T) {
	function := arm64Code(
		0xd10083ff, // sub sp, sp, #32
		0xa9017bfd, // stp x29, x30, [sp, #16]
		0x910043fd, // add x29, sp, #16
		0xf90003f3, // str x19, [sp]
		0xd2800013, // mov x19, #0
		0xf94003f3, // ldr x19, [sp]
		0xa9417bfd, // ldp x29, x30, [sp, #16]
		0x910083ff, // add sp, sp, #32
		0xd65f03c0, // ret
	)
	const sp = stackAt + 0x100 // of the caller
	for symbol := range 2 {
		for at := range len(function) / 4 {
			b := newBed(t, arch.ARM64)
			c := b.cie("zR", 0x0c, 31, 0)
			b.fde(c, 0x300, 0x380, 0x07, 30)
			b.code(0x1100, function...)
			b.code(0x30c, arm64Code(0x94000000|(0x1100-0x30c)/4)...) // bl
			if symbol == 1 {
				b.code(0x30c, arm64Code(0xd63f0000)...) // blr x0
				frames.Edit(b.m).FunctionAt = func(uint64) (lo, hi uint64, ok bool) {
					return codeAt - bias + 0x1100, codeAt - bias + 0x1100 + uint64(len(function)), true
				}
			}
			regs := map[arch.Reg]uint64{31: sp, 29: 0x2900, 30: codeAt + 0x310, 19: 0x1900}
			if at >= 1 && at <= 7 {
				regs[31] = sp - 32
			}
			if at >= 2 {
				b.words(sp-16, 0x2900, codeAt+0x310)
			}
			if at >= 3 && at <= 6 {
				regs[29] = sp - 16
			}
			if at >= 4 {
				b.words(sp-32, 0x1900)
			}
			if at == 5 {
				regs[19] = 0
			}
			if at == 4 || at == 5 || at == 6 {
				regs[30] = 0x3000 // a call that came back has left something there
			}
			for r, v := range regs {
				b.regs.Set(r, v)
			}
			b.at(codeAt+0x1100+4*uint64(at), regs[31])
			all, end := b.frames()
			if len(all) != 2 || all[1].Strategy != frames.Prologue || uint64(all[1].PC) != codeAt+0x310 || !end.Outermost {
				t.Errorf("symbol %d, instruction %d: %d frames, %+v", symbol, at, len(all), end)
				continue
			}
			for r, want := range map[arch.Reg]uint64{31: sp, 29: 0x2900, 19: 0x1900} {
				if v, known := all[1].Regs.Get(r); !known || v != want {
					t.Errorf("symbol %d, instruction %d: %s is %x, %v, want %x", symbol, at, b.a.RegName(r), v, known, want)
				}
			}
		}
	}
}
