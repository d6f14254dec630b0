package emulate

import (
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// FuzzDecode checks that no bytes make Decode, Run or Displace panic, and that their lengths are
// those of golang.org/x/arch/x86/x86asm.
func FuzzDecode(f *testing.F) {
	for _, c := range common {
		f.Add(c.code)
	}
	for _, q := range quirks {
		f.Add(q.code)
	}
	for _, c := range unclaimed {
		f.Add(c.code)
	}
	m := &arena{testBase, make([]byte, 4096)}
	f.Fuzz(func(t *testing.T, code []byte) {
		o, claimed := Decode(code, testPC)
		out, n, displaced := Displace(code, testPC, testPC+0x1000)
		if claimed && displaced && n != o.Len() {
			t.Fatalf("% x: length %d, displaced %d", code, o.Len(), n)
		}
		if claimed {
			n = o.Len()
		}
		if !claimed && !displaced {
			return
		}
		if n < 1 || n > maxLength || n > len(code) || displaced && len(out) > maxLength {
			t.Fatalf("% x: length %d", code, n)
		}
		if in, err := x86asm.Decode(code, 64); err == nil && isComparable(in) && in.Len != n {
			t.Fatalf("% x: length %d, by x86asm %d (%v)", code, n, in.Len, in)
		}
		if claimed {
			r, _ := testState()
			before := *r
			if o.Run(r, m) != nil && *r != before {
				t.Fatalf("% x: an error, and a change", code)
			}
		}
	})
}

// isComparable reports whether x86asm knows the instruction. If it does not know one with its
// prefix, then it returns the prefix alone. After VZEROUPPER and VZEROALL it expects a ModRM byte.
func isComparable(in x86asm.Inst) bool {
	return in.Op != 0 && !(in.Len == 1 && in.Prefix[0] != 0) && in.Op != x86asm.VZEROUPPER && in.Op != x86asm.VZEROALL
}
