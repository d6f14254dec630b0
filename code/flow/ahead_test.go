package flow

import (
	"testing"

	"dbg/arch"
	"dbg/code"
)

// TestAhead follows the ends of functions to their returns.
func TestAhead(t *testing.T) {
	sp := func(n int32) Place { return Place{Base: arch.NoReg, Off: n} } // filled in below
	for _, c := range []struct {
		name  string
		arch  *arch.Arch
		thumb bool
		text  string
		cfa   Place
		saved map[arch.Reg]Slot // all others have what they have now
		lost  []arch.Reg
	}{
		{"pops", arch.AMD64, false, "\x48\x83\xc4\x08\x5b\x5d\xc3", // add $8,%rsp; pop %rbx; pop %rbp; ret
			sp(32), map[arch.Reg]Slot{arch.RBX: {arch.RSP, 8}, arch.RBP: {arch.RSP, 16}}, nil},
		{"leave", arch.AMD64, false, "\x48\x8b\x5d\xf8\xc9\xc3", // mov -8(%rbp),%rbx; leave; ret
			Place{Base: arch.RBP, Off: 16}, map[arch.Reg]Slot{arch.RBX: {arch.RBP, -8}, arch.RBP: {arch.RBP, 0}}, nil},
		{"a register that is not restored", arch.AMD64, false, "\x31\xdb\xc3", sp(8), nil, []arch.Reg{arch.RBX}}, // xor %ebx,%ebx; ret
		{"pushed and popped", arch.AMD64, false, "\x53\x31\xdb\xe8\x00\x00\x00\x00\x5b\xc3", sp(8), nil, nil},    // push %rbx; xor %ebx,%ebx; call; pop %rbx; ret
		{"popped elsewhere", arch.AMD64, false, "\x53\x41\x5c\xc3", sp(8), nil, []arch.Reg{arch.R12}},            // push %rbx; pop %r12; ret
		{"a realigned frame", arch.I386, false, "\x8b\x4d\xfc\xc9\x8d\x61\xfc\xc3", // mov -4(%ebp),%ecx; leave; lea -4(%ecx),%esp; ret
			Place{Base: 5, Through: true, Word: -4}, map[arch.Reg]Slot{5: {5, 0}}, nil},
		{"a context", arch.AMD64, false, "\x49\x8b\xa4\x24\xa0\x00\x00\x00\xc3", Place{Base: arch.NoReg}, nil, nil}, // mov 0xa0(%r12),%rsp; ret
		{"ldp", arch.ARM64, false, "\xf3\x53\x41\xa9\xe8\x27\x42\x6d\xfd\x7b\xc3\xa8\xc0\x03\x5f\xd6", // ldp x19,x20,[sp,#16]; ldp d8,d9,[sp,#32]; ldp x29,x30,[sp],#48; ret
			sp(48), map[arch.Reg]Slot{19: {31, 16}, 20: {31, 24}, 72: {31, 32}, 73: {31, 40}, 29: {31, 0}, 30: {31, 8}}, nil},
		{"a leaf", arch.ARM64, false, "\xff\x43\x00\x91\xc0\x03\x5f\xd6", sp(16), nil, nil},                                          // add sp,sp,#16; ret
		{"a call before", arch.ARM64, false, "\x00\x00\x00\x94\xc0\x03\x5f\xd6", sp(0), nil, []arch.Reg{30}},                         // bl; ret
		{"pop pc", arch.ARM, false, "\x10\x80\xbd\xe8", sp(8), map[arch.Reg]Slot{4: {13, 0}, 14: {13, 4}}, nil},                      // pop {r4, pc}
		{"pop pc, Thumb", arch.ARM, true, "\x02\xb0\x90\xbd", sp(20), map[arch.Reg]Slot{4: {13, 8}, 7: {13, 12}, 14: {13, 16}}, nil}, // add sp,#8; pop {r4, r7, pc}
		{"ldr pc", arch.ARM, false, "\x04\xf0\x9d\xe4", sp(4), map[arch.Reg]Slot{14: {13, 0}}, nil},                                  // pop {pc}
		{"riscv", arch.RISCV64, false, "\xa2\x60\x02\x64\x41\x01\x82\x80", sp(16), map[arch.Reg]Slot{1: {2, 8}, 8: {2, 0}}, nil},     // ld ra,8(sp); ld s0,0(sp); addi sp,sp,16; ret
	} {
		want := c.cfa
		if want.Base == arch.NoReg && c.name != "a context" {
			want.Base = c.arch.SP
		}
		s := NewAhead(c.arch)
		text := []byte(c.text)
		var f Frame
		ok := false
		for len(text) > 0 {
			in := code.Decode(c.arch, text)
			if c.thumb {
				in = code.DecodeThumb(text)
			}
			if in.Len == 0 {
				t.Fatalf("%s: % x can't be decoded", c.name, text)
			}
			text = text[in.Len:]
			if in.Next == code.Return {
				ok = s.Return(&in, &f)
				break
			}
			s.Apply(&in)
		}
		if f.CFA != want || ok != want.Known() {
			t.Errorf("%s: CFA %+v, %v, want %+v", c.name, f.CFA, ok, want)
		}
		if !ok {
			continue
		}
		for i, reg := range Slots(c.arch) {
			saved, isSaved := c.saved[reg]
			isLost := false
			for _, r := range c.lost {
				isLost = isLost || r == reg
			}
			if got := f.Saved&(1<<i) != 0; got != isSaved || isSaved && f.At[i] != saved {
				t.Errorf("%s: %s saved %v at %+v, want %v, %+v", c.name, c.arch.RegName(reg), got, f.At[i], isSaved, saved)
			}
			if got := f.Lost&(1<<i) != 0; got != isLost {
				t.Errorf("%s: %s lost: %v", c.name, c.arch.RegName(reg), got)
			}
		}
	}
}
