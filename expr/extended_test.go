package expr_test

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/expr"
)

// The expected results are those of a C program on the processor, in the x87 extended format.
func TestExtended(t *testing.T) {
	const convertLong, convertDouble, plus, minus, mul, div = "\xa8\x10", "\xa8\x08", "\x22", "\x1c", "\x1e", "\x1b"
	constant := func(h string) string { // DW_OP_const_type
		b, err := hex.DecodeString(h)
		if err != nil {
			t.Fatal(err)
		}
		return "\xa4\x10\x10" + string(b) + strings.Repeat("\x00", 16-len(b))
	}
	double := func(x float64) string {
		return "\xa4\x08\x08" + string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	const one, three = "0000000000000080ff3f", "00000000000000c00040"
	a, tenth := constant("00000000000000d00040"), double(0.1)+convertLong
	third := constant(one) + constant(three) + div
	for _, c := range []struct{ name, code, want string }{
		{"constant", a, "00000000000000d00040000000000000"},
		{"sum", a + tenth + plus, "80666666666666d60040000000000000"},
		{"quotient", third, "abaaaaaaaaaaaaaafd3f000000000000"},
		{"difference", tenth + a + minus, "80999999999999c900c0000000000000"},
		{"product", third + tenth + mul, "ab8a888888888888fa3f000000000000"},
		{"of an integer", "\x09\xf9\xa8\x01" + convertLong, "00000000000000e001c0000000000000"}, // const1s -7
		{"to a double", third + convertDouble, "555555555555d53f"},
		{"negative", a + "\x1f", "00000000000000d000c0000000000000"},
		{"absolute", a + "\x1f\x19", "00000000000000d00040000000000000"},
		{"zero", a + a + minus, "00000000000000000000000000000000"},
		{"less", a + third + "\x2d", "0000000000000000"}, // 3.25 < 1/3
		{"to an integer", a + "\x1f\xa8\x04", "fdffffff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := expr.Locate([]byte(c.code+"\x9f"), newContext(arch.AMD64)) // DW_OP_stack_value
			if err != nil || len(p) != 1 || hex.EncodeToString(p[0].Bytes) != c.want {
				t.Errorf("got %+v, %v; want %s", p, err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, code string }{
		{"infinite", constant("0000000000000080ff7f") + a + plus},
		{"no number", constant("00000000000000c0ff7f") + convertDouble},
		{"unnormal", constant("0000000000000040ff3f") + a + plus},
		{"denormal", constant("01000000000000000000") + a + plus},
		{"divided by zero", a + constant("00") + div},
		{"too large", constant("0000000000000080fe7f") + constant("0000000000000080fe7f") + mul},
		{"too large for a double", constant("0000000000000080fe7f") + convertDouble},
		{"too large for an integer", constant("00000000000000803e40") + convertLong + constant("000000000000008000c1") + mul + "\xa8\x07"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, err := expr.Locate([]byte(c.code+"\x9f"), newContext(arch.AMD64)); err == nil || !strings.Contains(err.Error(), "finite and normal number") {
				t.Errorf("got %+v, %v; want an error", p, err)
			}
		})
	}
	if v, err := expr.Eval([]byte(a), newContext(arch.AMD64)); err == nil {
		t.Errorf("80 bits are given as %#x", v)
	}
}
