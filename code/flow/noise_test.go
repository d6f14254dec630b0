package flow

import (
	"math/rand/v2"
	"testing"

	"dbg/arch"
	"dbg/code"
)

// TestNoise decodes random bytes, cut off anywhere, and follows what comes: no panic, and no length beyond what is there.
func TestNoise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, a := range []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64, arch.ARM, arch.RISCV64} {
		s := Entry(a)
		var f Frame
		for i := range 200_000 {
			b := make([]byte, rnd.IntN(17))
			for j := range b {
				b[j] = byte(rnd.Uint32())
			}
			in := code.Decode(a, b)
			if a == arch.ARM && i%2 == 1 {
				if in = code.DecodeThumb(b); i%4 == 1 {
					in.Conditional()
				}
			}
			if int(in.Len) > len(b) || in.Len == 0 && in.Next != code.Bad {
				t.Fatalf("%s: % x: %+v", a.Name, b, in)
			}
			s.Apply(&in)
			s.Frame(&f)
			if i%64 == 0 {
				s = Entry(a)
			}
		}
	}
}
