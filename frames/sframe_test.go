package frames_test

import (
	"context"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/sframe"
)

// sframeAt is where the tests' .sframe is, in the file's address space.
const sframeAt = 0x9000

// sframe gives a bed .sframe. Rows are pairs of an address, relative to the function's, and the offset of the
// CFA from the stack pointer.
func (b *bed) sframe(functions ...sframe.Function) {
	b.t.Helper()
	for i := range functions {
		functions[i].Lo += codeAt - bias
		functions[i].Hi += codeAt - bias
	}
	data, err := sframe.Encode(sframe.Header{Version: 3, ABI: sframe.AMD64, FixedRA: -8}, sframeAt, functions)
	if err != nil {
		b.t.Fatal(err)
	}
	frames.Edit(b.m).SFrame = frames.Section{Data: data, Addr: sframeAt}
}

// spRows are rows whose CFA is relative to the stack pointer: pairs of the start and the offset.
func spRows(lo, hi uint64, pairs ...int32) sframe.Function {
	fn := sframe.Function{FDE: sframe.FDE{Lo: lo, Hi: hi}}
	for i := 0; i < len(pairs); i += 2 {
		fn.Rows = append(fn.Rows, sframe.FRE{Start: uint32(pairs[i]), SP: true, Size: 1, Count: 1, Words: [6]int32{pairs[i+1]}})
	}
	return fn
}

// sframeBed has a function at 0x100 that saves RBX and calls, its caller at 0x300, and the first function
// at 0x400, which is outermost. All are in .sframe only.
func sframeBed(t *testing.T) *bed {
	b := newBed(t, arch.AMD64)
	b.code(0x100, 0x53, 0x48, 0x83, 0xec, 32) // push rbx; sub rsp, 32
	b.calling(0x110)
	b.code(0x110, 0xbb, 1, 0, 0, 0, 0x48, 0x83, 0xc4, 32, 0x5b, 0xc3) // mov ebx, 1; add rsp, 32; pop rbx; ret
	b.code(0x300, 0x48, 0x83, 0xec, 8)                                // sub rsp, 8
	b.words(b.stack+0x100, b.calling(0x310), 0, b.calling(0x410))
	b.words(b.stack+0x100-8, 0xb0b)
	outermost := sframe.Function{FDE: sframe.FDE{Lo: 0x400, Hi: 0x420}, Rows: []sframe.FRE{{Size: 1}}}
	b.sframe(spRows(0x100, 0x11b, 0, 8, 1, 16, 5, 48, 0x19, 16, 0x1a, 8), spRows(0x300, 0x320, 0, 8, 4, 16), outermost)
	return b
}

// TestSFrame walks from each part of a function: the table has the frame, and the code has RBX.
func TestSFrame(t *testing.T) {
	for _, c := range []struct {
		name   string
		pc, sp int // sp relative to the place of the return address of the function at 0x100
	}{
		{"entry", 0x100, 0}, {"pushed", 0x101, -8}, {"body", 0x105, -40}, {"changed", 0x115, -40}, {"popping", 0x119, -8}, {"return", 0x11a, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sframeBed(t)
			b.regs.Set(arch.RBX, 0xb0b)
			if c.pc == 0x115 {
				b.regs.Set(arch.RBX, 1)
			}
			b.regs.Set(arch.RBP, 0xb9)
			b.at(codeAt+uint64(c.pc), b.stack+0x100+uint64(c.sp))
			all, end := b.frames()
			if len(all) != 3 || !end.Outermost || end.Reason != frames.UndefinedReturnAddress {
				t.Fatalf("%d frames, %+v", len(all), end)
			}
			for _, f := range all[1:] {
				if f.Strategy != frames.SFrame || f.Trust != frames.Table {
					t.Errorf("%x by %s, %s", f.PC, f.Strategy, f.Trust)
				}
			}
			rbx, known := all[1].Regs.Get(arch.RBX)
			rbp, knownFP := all[1].Regs.Get(arch.RBP)
			if !known || rbx != 0xb0b || !knownFP || rbp != 0xb9 {
				t.Errorf("rbx is 0x%x (%t), rbp 0x%x (%t)", rbx, known, rbp, knownFP)
			}
		})
	}
}

// TestSFrameAlone: without the code, registers other than the frame pointer are unknown, not unchanged.
func TestSFrameAlone(t *testing.T) {
	b := sframeBed(t)
	b.regs.Set(arch.RBX, 1)
	b.regs.Set(arch.RBP, 0xb9)
	b.at(codeAt+0x110, b.stack+0x100-40)
	u := frames.New(b.a, b.fake)
	u.Use = frames.SetOf(frames.SFrame)
	n := 0
	for f := range u.Walk(&b.regs).Frames(context.Background()) {
		if n++; n == 1 {
			continue
		}
		if _, known := f.Regs.Get(arch.RBX); known || f.Strategy != frames.SFrame {
			t.Errorf("frame %d, by %s: rbx is known: %t", f.Index, f.Strategy, known)
		}
		if v, known := f.Regs.Get(arch.RBP); !known || v != 0xb9 {
			t.Errorf("frame %d: rbp is 0x%x (%t)", f.Index, v, known)
		}
	}
	if n != 3 {
		t.Errorf("%d frames", n)
	}
}

// TestSFrameEvidence: the evidence has the row and what the code has added.
func TestSFrameEvidence(t *testing.T) {
	b := sframeBed(t)
	b.at(codeAt+0x110, b.stack+0x100-40)
	ev, err := frames.New(b.a, b.fake).Walk(&b.regs).Explain(context.Background(), 1)
	if err != nil || ev.Frame == nil || len(ev.Tries) != 1 {
		t.Fatalf("%v, %+v", err, ev)
	}
	try := &ev.Tries[0]
	if got, want := try.RowString(b.a), "CFA=rsp+48, rbp not changed, other registers not described, return address saved at CFA-8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := try.Origin.String(), ".sframe FDE 0x1c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !strings.Contains(strings.Join(try.Guards, "; "), "shows where the other registers are") {
		t.Errorf("%q", try.Guards)
	}
}

// TestSFrameContradicted: a CFA that the instructions up to the return refute, as that of .plt.got from
// binutils 2.44 and 2.47. An FDE without rows does not end the stack.
func TestSFrameContradicted(t *testing.T) {
	b := sframeBed(t)
	b.sframe(spRows(0x100, 0x11b, 0, 16), spRows(0x300, 0x320, 0, 8, 4, 16), sframe.Function{FDE: sframe.FDE{Lo: 0x400, Hi: 0x420}})
	b.at(codeAt+0x11a, b.stack+0x100)
	all, end := b.frames()
	if len(all) < 3 || uint64(all[1].PC) != codeAt+0x310 || all[1].Strategy != frames.Prologue || all[2].Strategy != frames.SFrame {
		t.Fatalf("%d frames, %+v", len(all), end)
	}
	if end.Outermost {
		t.Errorf("the stack ends in %v", end)
	}
}
