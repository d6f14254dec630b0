package code

import (
	"encoding/hex"
	"testing"
)

// TestVectorInstructions has the lengths of instructions with prefixes of their own, as objdump prints them, and the general
// registers that they write.
func TestVectorInstructions(t *testing.T) {
	for _, c := range []struct {
		code, what string
		writes     uint32
	}{
		{"f30f1efa", "endbr64", 0},
		{"f3480f1ec8", "rdsspq %rax", 1 << 0},
		{"f3480faee9", "incsspq %rcx", 0},
		{"0f01ee", "rdpkru", 1<<0 | 1<<2},
		{"c5f877", "vzeroupper", 0},
		{"c5fc77", "vzeroall", 0},
		{"664c0f38f6c9", "adcx %rcx,%r9", 1 << 9},
		{"f34d0f38f6c0", "adox %r8,%r8", 1 << 8},
		{"66664d0f38f6e0", "data16 adcx %r8,%r12", 1 << 12},
		{"c4e2bbf606", "mulx (%rsi),%r8,%rax", 1<<0 | 1<<8},
		{"c46293f66e10", "mulx 0x10(%rsi),%r13,%r13", 1 << 13},
		{"c4e263f6ad08000000", "mulx 0x8(%rbp),%ebx,%ebp", 1<<3 | 1<<5},
		{"3ec462fbf6a620000000", "ds mulx 0x20(%rsi),%rax,%r12", 1<<0 | 1<<12},
		{"c443fbf0db0e", "rorx $0xe,%r11,%r11", 1 << 11},
		{"c4c2e8f2dd", "andn %r13,%rdx,%rbx", 1 << 3},
		{"c4c298f3ca", "blsr %r10,%r12", 1 << 12},
		{"c4c1f97ec4", "vmovq %xmm0,%r12", 1 << 12},
		{"c5fa7ec4", "vmovq %xmm4,%xmm0", 0},
		{"67c461f97ee8", "addr32 vmovq %xmm13,%rax", 1 << 0},
		{"c5fdd7d9", "vpmovmskb %ymm1,%ebx", 1 << 3},
		{"c5fb93e8", "kmovd %k0,%ebp", 1 << 5},
		{"c5fd6fc1", "vmovdqa %ymm1,%ymm0", 0},
		{"c4e37914e300", "vpextrb $0,%xmm4,%ebx", 1 << 3},
		{"8fe878c2ec0e", "vprotd $0xe,%xmm4,%xmm5", 0},
	} {
		text, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		in := DecodeX86(append(text, 0x90, 0x90, 0x90, 0x90))
		if int(in.Len) != len(text) || in.Next != Onward || in.Op != Nothing || in.Kills&0xffff != c.writes {
			t.Errorf("%s (%s): %+v, want %d bytes and registers %x", c.what, c.code, in, len(text), c.writes)
		}
		for i := range text {
			if in := DecodeX86(text[:i]); int(in.Len) > i {
				t.Errorf("%s: %d bytes of % x are said to be %d long", c.what, i, text, in.Len)
			}
		}
	}
}
