package frames

import (
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// TestDecodeOther has instructions that the decoder does not know, as objdump prints them.
func TestDecodeOther(t *testing.T) {
	for _, c := range []struct {
		code, what string
		writes     []x86asm.Reg
	}{
		{"f30f1efa", "endbr64", nil},
		{"f3480f1ec8", "rdsspq %rax", []x86asm.Reg{x86asm.RAX}},
		{"f3480faee9", "incsspq %rcx", nil},
		{"0f01ee", "rdpkru", []x86asm.Reg{x86asm.RAX, x86asm.RDX}},
		{"c5f877", "vzeroupper", nil},
		{"c5fc77", "vzeroall", nil},
		{"664c0f38f6c9", "adcx %rcx,%r9", []x86asm.Reg{x86asm.R9}},
		{"f34d0f38f6c0", "adox %r8,%r8", []x86asm.Reg{x86asm.R8}},
		{"66664d0f38f6e0", "data16 adcx %r8,%r12", []x86asm.Reg{x86asm.R12}},
		{"c4e2bbf606", "mulx (%rsi),%r8,%rax", []x86asm.Reg{x86asm.RAX, x86asm.R8}},
		{"c46293f66e10", "mulx 0x10(%rsi),%r13,%r13", []x86asm.Reg{x86asm.R13}},
		{"c4e263f6ad08000000", "mulx 0x8(%rbp),%ebx,%ebp", []x86asm.Reg{x86asm.RBX, x86asm.RBP}},
		{"3ec462fbf6a620000000", "ds mulx 0x20(%rsi),%rax,%r12", []x86asm.Reg{x86asm.RAX, x86asm.R12}},
		{"c443fbf0db0e", "rorx $0xe,%r11,%r11", []x86asm.Reg{x86asm.R11}},
		{"c4c2e8f2dd", "andn %r13,%rdx,%rbx", []x86asm.Reg{x86asm.RBX}},
		{"c4c298f3ca", "blsr %r10,%r12", []x86asm.Reg{x86asm.R12}},
		{"c4c1f97ec4", "vmovq %xmm0,%r12", []x86asm.Reg{x86asm.R12}},
		{"c5fa7ec4", "vmovq %xmm4,%xmm0", nil},
		{"67c461f97ee8", "addr32 vmovq %xmm13,%rax", []x86asm.Reg{x86asm.RAX}},
		{"c5fdd7d9", "vpmovmskb %ymm1,%ebx", []x86asm.Reg{x86asm.RBX}},
		{"c5fb93e8", "kmovd %k0,%ebp", []x86asm.Reg{x86asm.RBP}},
		{"c5fd6fc1", "vmovdqa %ymm1,%ymm0", nil},
		{"c4e37914e300", "vpextrb $0,%xmm4,%ebx", []x86asm.Reg{x86asm.RBX}},
		{"8fe878c2ec0e", "vprotd $0xe,%xmm4,%xmm5", nil},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		in, n := decode(append(code, 0x90, 0x90, 0x90, 0x90))
		if n != len(code) {
			t.Errorf("%s (%s): %d bytes long, want %d", c.what, c.code, n, len(code))
		}
		var got []string
		for _, a := range in.Args {
			if a != nil {
				got = append(got, a.String())
			}
		}
		var want []string
		for _, r := range c.writes {
			want = append(want, r.String())
		}
		if in.Op != x86asm.FNOP || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s (%s): %v writes %v, want %v", c.what, c.code, in.Op, got, want)
		}
		for i := range code { // cut off anywhere
			if _, n := decode(code[:i]); n > i {
				t.Errorf("%s (%s): %d bytes long, of %d", c.what, c.code, n, i)
			}
		}
	}
}
