package disasm_test

import (
	"encoding/hex"
	"testing"

	"dbg/arch"
	"dbg/code/disasm"
)

// TestText shows the notation. The bytes are at 0x401000, and main is at 0x401100.
func TestText(t *testing.T) {
	for _, c := range []struct{ code, att, intel string }{
		{"e8fb000000", "call 0x401100 <main>", "call 0x401100 <main>"},
		{"eb7e", "jmp 0x401080", "jmp 0x401080"},
		{"ff2500010000", "jmp *0x100(%rip)        # 0x401106 <main+6>", "jmp QWORD PTR [rip+0x100]        # 0x401106 <main+6>"},
		{"b800114000", "mov $0x401100,%eax", "mov eax,0x401100"},
		{"48c745f8ffffffff", "movq $0xffffffffffffffff,-0x8(%rbp)", "mov QWORD PTR [rbp-0x8],0xffffffffffffffff"},
		{"64488b042528000000", "mov %fs:0x28,%rax", "mov rax,QWORD PTR fs:0x28"},
		{"66662e0f1f840000000000", "data16 cs nopw 0x0(%rax,%rax,1)", "data16 cs nop WORD PTR [rax+rax*1+0x0]"},
		{"f348a5", "rep movsq %ds:(%rsi),%es:(%rdi)", "rep movs QWORD PTR es:[rdi],QWORD PTR ds:[rsi]"},
		{"f00fb111", "lock cmpxchg %edx,(%rcx)", "lock cmpxchg DWORD PTR [rcx],edx"},
		{"3effe0", "notrack jmp *%rax", "notrack jmp rax"},
		{"f30f1efa", "endbr64", "endbr64"},
		{"dec1", "faddp %st,%st(1)", "faddp st(1),st"},
		{"0fc2c101", "cmpltps %xmm1,%xmm0", "cmpltps xmm0,xmm1"},
		{"c5f877", "vzeroupper", "vzeroupper"},
		{"62f17c5858400c", "vaddps 0x30(%rax){1to16},%zmm0,%zmm0", "vaddps zmm0,zmm0,DWORD BCST [rax+0x30]"},
		{"62f17c7a58c1", "vaddps {rz-sae},%zmm1,%zmm0,%zmm0{%k2}", "vaddps zmm0{k2},zmm0,zmm1{rz-sae}"},
		{"62f27d49904408ff", "vpgatherdd -0x4(%rax,%zmm1,1),%zmm0{%k1}", "vpgatherdd zmm0{k1},DWORD PTR [rax+zmm1*1-0x4]"},
		{"8fe978c1c1", "vphaddbw %xmm1,%xmm0", "vphaddbw xmm0,xmm1"},
		{"06", "(bad)", "(bad)"},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		symbol := func(a uint64) (string, uint64, bool) { return "main", a - 0x401100, a >= 0x401100 && a < 0x401200 }
		for syntax, want := range map[disasm.Syntax]string{disasm.ATT: c.att, disasm.Intel: c.intel} {
			got := disasm.Decode(arch.AMD64, code, 0x401000, disasm.Options{Syntax: syntax, Symbol: symbol})
			if got.Text != want || got.Len != len(code) && want != "(bad)" {
				t.Errorf("%s: %q in %d bytes, want %q in %d", c.code, got.Text, got.Len, want, len(code))
			}
		}
	}
}

// TestTruncated: an instruction whose end is missing has no length.
func TestTruncated(t *testing.T) {
	whole, _ := hex.DecodeString("62f17c48584402ff")
	for n := range whole {
		if got := disasm.Length(arch.AMD64, whole[:n]); got != 0 {
			t.Errorf("%d bytes of %d: length %d, want 0", n, len(whole), got)
		}
	}
}
