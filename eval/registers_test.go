package eval

import (
	"testing"

	"dbg/arch"
)

// $ymmN is $xmmN with its upper half, where the processor has one.
func TestWideVector(t *testing.T) {
	regs := &arch.Registers{Arch: arch.AMD64}
	wide := make([]byte, 32)
	wide[0], wide[16] = 1, 2
	for _, tc := range []struct {
		name  string
		bytes []byte
		size  int
	}{{"ymm3", wide, 32}, {"xmm3", wide, 16}, {"ymm3", wide[:16], 0}, {"ymm16", wide, 0}, {"ymm", wide, 0}} {
		v, err := RegisterByName(tc.name, arch.AMD64, regs, func(r arch.Reg) ([]byte, error) {
			if r != arch.XMM0+3 {
				t.Errorf("%s reads register %d", tc.name, r)
			}
			return tc.bytes, nil
		})
		switch {
		case tc.size == 0 && err == nil:
			t.Errorf("%s of %d bytes has a value", tc.name, len(tc.bytes))
		case tc.size > 0 && (err != nil || int64(len(v.Bytes)) < v.Type.Size || v.Type.Size != int64(tc.size)):
			t.Errorf("%s: %v, %d bytes, type of %d", tc.name, err, len(v.Bytes), v.Type.Size)
		}
	}
}
