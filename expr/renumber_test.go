package expr

import (
	"bytes"
	"testing"
)

func TestRenumber(t *testing.T) {
	swap := func(n uint64) uint64 {
		switch n {
		case 4:
			return 5
		case 5:
			return 4
		}
		return n
	}
	for _, c := range []struct {
		name      string
		code, out []byte // out is nil if renumbering fails
	}{
		{"breg", []byte{opBreg0 + 4, 8, opBreg0 + 5, 0x80, 0x7f, opPlus},
			[]byte{opBreg0 + 5, 8, opBreg0 + 4, 0x80, 0x7f, opPlus}},
		{"reg", []byte{opReg0 + 5}, []byte{opReg0 + 4}},
		{"another register", []byte{opBreg0 + 6, 4}, []byte{opBreg0 + 6, 4}},
		{"bregx", []byte{opBregx, 4, 4}, []byte{opBregx, 5, 4}},
		{"bregx, a long number", []byte{opBregx, 0x84, 0x80, 0, 4}, []byte{opBregx, 0x85, 0x80, 0, 4}},
		{"constants that look like it",
			[]byte{opConst1u, opBreg0 + 4, opConst4u, 4, 0x74, 0x75, 5, opAddr, 0x74, 0x74, 0x74, 0x74},
			[]byte{opConst1u, opBreg0 + 4, opConst4u, 4, 0x74, 0x75, 5, opAddr, 0x74, 0x74, 0x74, 0x74}},
		{"literals", []byte{opLit0 + 4, opDeref}, []byte{opLit0 + 4, opDeref}},
		{"nested", []byte{opEntryValue, 1, opReg0 + 4, opStackValue}, []byte{opEntryValue, 1, opReg0 + 5, opStackValue}},
		{"cut off", []byte{opBregx, 0x80}, nil},
		{"unknown", []byte{0xff}, nil},
		{"too far", []byte{opBregx, 0x80, 1, 0}, nil},
	} {
		before := bytes.Clone(c.code)
		out, ok := Renumber(c.code, 4, swap)
		if ok != (c.out != nil) || ok && !bytes.Equal(out, c.out) {
			t.Errorf("%s: % x, %v; want % x", c.name, out, ok, c.out)
		}
		if !bytes.Equal(before, c.code) {
			t.Errorf("%s: the expression itself was changed", c.name)
		}
	}
}
