package frames_test

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

// exidxAt is where the tests' .ARM.exidx is, in the file's address space, and extabAt their .ARM.extab.
const exidxAt, extabAt = 0x9000, 0xa000

// exidx gives a bed .ARM.exidx: pairs of an offset from codeAt and a second word, which is an offset in extab if
// it is less than 0x1000 and not 1.
func (b *bed) exidx(extab []uint32, pairs ...uint32) {
	var data, table []byte
	le := binary.LittleEndian
	for i, v := range pairs {
		at := uint32(exidxAt + 4*i)
		switch {
		case i%2 == 0:
			v = (codeAt - bias + v - at) & 0x7fffffff
		case v != 1 && v < 0x1000:
			v = (extabAt + v - at) & 0x7fffffff
		}
		data = le.AppendUint32(data, v)
	}
	for _, v := range extab {
		table = le.AppendUint32(table, v)
	}
	c := frames.Edit(b.m)
	c.ExIdx, c.CodeEnd = frames.Section{Data: data, Addr: exidxAt}, 0x5000
	c.ExTab = func(addr uint64, n int) []byte {
		if addr-extabAt >= uint64(len(table)) {
			return nil
		}
		return table[addr-extabAt:][:min(uint64(n), uint64(len(table))-(addr-extabAt))]
	}
}

// armCode writes ARM instructions.
func (b *bed) armCode(off int, words ...uint32) {
	for i, w := range words {
		b.code(off+4*i, binary.LittleEndian.AppendUint32(nil, w)...)
	}
}

// ehabiBed has a function at 0x100 that saves r4, lr and d8, with 8 bytes of variables; its caller at 0x300, and a leaf
// at 0x500. What the callee has saved is on the stack.
func ehabiBed(t *testing.T) *bed {
	b := newBed(t, arch.ARM)
	c := b.cie("zR", 0x0c, 13, 0)
	b.fde(c, 0x300, 0x380, 0x07, 14)
	b.fde(c, 0x500, 0x580)
	b.armCode(0x100, 0xe92d4010, 0xed2d8b02, 0xe24dd008, 0, // push {r4, lr}; vpush {d8}; sub sp, #8; bl
		0xe28dd008, 0xecbd8b02, 0xe8bd8010) // add sp, #8; vpop {d8}; pop {r4, pc}
	b.calling(0x110)
	b.exidx(nil, 0x100, 0x8001d0a8, 0x200, 1) // vsp += 8; pop {d8}; pop {r4, lr}
	ra := b.calling(0x310)
	b.words(b.stack+0x100-8, 0x4444, ra)
	b.words(b.stack+0x100-16, 0xd8d8, 0)
	b.regs.Set(14, ra)
	b.regs.Set(4, 0x4444)
	b.regs.Set(72, 0xd8d8)
	return b
}

// TestEHABI walks from each instruction of a function: the table's row is for the body; the code decides in the prologue and
// in the epilogue.
func TestEHABI(t *testing.T) {
	for _, c := range []struct {
		pc, sp int
		how    string
		d8     bool // known in the caller
	}{
		{0x100, 0, "prologue heuristic", true},
		{0x104, -8, "prologue heuristic", true},
		{0x108, -16, "prologue heuristic", false},
		{0x10c, -24, "ehabi table", true},
		{0x110, -24, "ehabi table", true},
		{0x114, -16, "prologue heuristic", false},
		{0x118, -8, "prologue heuristic", true},
	} {
		b := ehabiBed(t)
		if c.pc > 0x100 {
			b.regs.Set(4, 0xbad)
		}
		if c.pc > 0x104 && c.pc < 0x118 {
			b.regs.Set(72, 0xbad)
		}
		if c.pc > 0x10c {
			b.regs.Set(14, 0x40110c+4)
		}
		b.at(codeAt+uint64(c.pc), b.stack+0x100+uint64(c.sp))
		b.want("401"+hex3(c.pc)+" context exact\n401310 "+c.how, "undefined return address")
		all, _ := b.frames()
		if len(all) != 2 {
			continue
		}
		sp, _ := all[1].Regs.SP()
		r4, known := all[1].Regs.Get(4)
		if sp != b.stack+0x100 || !known || r4 != 0x4444 {
			t.Errorf("%#x: SP %#x, r4 %#x, %v", c.pc, sp, r4, known)
		}
		if d8, known := all[1].Regs.Get(72); known != c.d8 || known && d8 != 0xd8d8 {
			t.Errorf("%#x: d8 %#x, %v", c.pc, d8, known)
		}
	}
}

func hex3(v int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[v>>8&15], digits[v>>4&15], digits[v&15]})
}

// TestEHABIAtCalls: a frame that has called is unwound by the table, and the evidence names the entry.
func TestEHABIAtCalls(t *testing.T) {
	b := ehabiBed(t)
	b.regs.Set(14, codeAt+0x110)
	b.at(codeAt+0x510, b.stack+0x100-24)
	b.want("401510 context exact\n401110 cfi table\n401310 ehabi table", "undefined return address")
	ev, err := frames.New(b.a, b.fake).Walk(&b.regs).Explain(context.Background(), 2)
	if err != nil || len(ev.Tries) != 1 {
		t.Fatalf("%+v, %v", ev, err)
	}
	if try := &ev.Tries[0]; !try.Found || try.Strategy != frames.EHABI || !try.HasRow || try.Origin.String() != ".ARM.exidx entry 0x0" ||
		try.RowString(b.a) != "CFA=sp+24, r4 saved at CFA-8, d8 saved at CFA-16, return address saved at CFA-4" {
		t.Errorf("%s: %s", try.Origin.String(), try.RowString(b.a))
	}
	// In the prologue the evidence says why the table's row is not used.
	b.at(codeAt+0x104, b.stack+0x100-8)
	ev, err = frames.New(b.a, b.fake).Walk(&b.regs).Explain(context.Background(), 1)
	want := "the table's row, with the CFA sp+24, is for calls; the code shows that the CFA is sp+8 here"
	if err != nil || len(ev.Tries) != 1 || !slices.Contains(ev.Tries[0].Guards, want) {
		t.Errorf("%+v, %v", ev.Tries, err)
	}
}

// TestEHABIUnrefined: where no code shows whether a row for calls is valid, it is a heuristic; where the strategy
// prologue is not permitted, the table is taken at its word.
func TestEHABIUnrefined(t *testing.T) {
	b := ehabiBed(t)
	b.code(0x100, make([]byte, 0x40)...) // a core without the code
	b.at(codeAt+0x10c, b.stack+0x100-24)
	b.want("40110c context exact\n401310 ehabi heuristic", "undefined return address")
	b = ehabiBed(t)
	b.at(codeAt+0x10c, b.stack+0x100-24)
	b.renew()
	u := frames.New(b.a, b.fake)
	u.Use = frames.SetOf(frames.EHABI, frames.CFI)
	if got, _ := show(t, u.Walk(&b.regs)); got != "40110c context exact\n401310 ehabi table" {
		t.Error(got)
	}
	u.Use = frames.SetOf(frames.CFI)
	if got, _ := show(t, u.Walk(&b.regs)); got != "40110c context exact" {
		t.Error(got)
	}
}

// TestEHABIRefused: an entry that can't be unwound, one that refuses, and one of an unknown personality routine are
// attempts that failed, not ends.
func TestEHABIRefused(t *testing.T) {
	for name, c := range map[string]struct {
		word uint32
		why  string
	}{
		"cantunwind": {1, "the entry is marked as one that can't be unwound"},
		"refuses":    {0x808000b0, "the entry's instructions refuse to unwind"},
		"spare":      {0x80ffb0b0, ".ARM.exidx entry at 0x0: the instruction 0xff at byte 0 is reserved"},
		"unknown":    {4, "only the personality routine at 0x1200 knows how to unwind"},
		"outside":    {0x800, ".ARM.exidx entry at 0x0: its entry at 0xa800 is not in the file"},
	} {
		b := ehabiBed(t)
		b.exidx([]uint32{0, (0x1200 - extabAt - 4) & 0x7fffffff, 0xffffffff}, 0x100, c.word, 0x200, 1)
		b.at(codeAt+0x10c, b.stack+0x100-24)
		all, _ := b.frames()
		if len(all) != 2 || all[1].Strategy != frames.Prologue || len(all[1].Attempts) != 1 || all[1].Attempts[0] != (frames.Attempt{Strategy: frames.EHABI, Why: c.why}) {
			for _, f := range all {
				t.Errorf("%s: %x %s %v", name, uint64(f.PC), f.Strategy, f.Attempts)
			}
		}
	}
}

// TestEHABIFramePointer: the table has the CFA by r7, the code by the stack pointer. Both lead to the same frame in the
// body, which is as good as a table; before r7 is set they do not.
func TestEHABIFramePointer(t *testing.T) {
	b := newBed(t, arch.ARM)
	c := b.cie("zR", 0x0c, 13, 0)
	b.fde(c, 0x300, 0x380, 0x07, 14)
	b.armCode(0x100, 0xe92d4080, 0xe24dd008, 0xe28d7000, 0, 0xe2877008, 0xe1a0d007, 0xe8bd8080) // push {r7, lr}; sub sp, #8; add r7, sp, #0
	b.calling(0x110)
	b.exidx([]uint32{0x81019701, 0x8408b0b0}, 0x100, 0, 0x200, 1) // vsp = r7; vsp += 8; pop {r7, lr}
	ra := b.calling(0x310)
	b.words(b.stack+0x100-8, 0x7777, ra)
	b.regs.Set(14, ra)
	b.regs.Set(7, b.stack+0x100-16)
	b.at(codeAt+0x10c, b.stack+0x100-16)
	b.want("40110c context exact\n401310 prologue table", "undefined return address")
	b.regs.Set(7, b.stack+0x200)
	b.at(codeAt+0x108, b.stack+0x100-16)
	b.want("401108 context exact\n401310 prologue heuristic", "undefined return address")
}
