package expr_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/target"
)

// counting is memory that counts how often it is read.
type counting struct{ reads int }

func (c *counting) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	c.reads++
	clear(buf)
	return len(buf), nil
}

// TestTortureBombs has the expression bombs: a limit ends each of them, and the error names the
// limit.
func TestTortureBombs(t *testing.T) {
	loop := func(body ...byte) []byte { // body; skip back to its start
		back := -(len(body) + 3)
		return append(body, 0x2f, byte(back), byte(back>>8))
	}
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"backward skips", loop(), "exceeds 100000 steps"},
		{"backward skips over nops", loop(0x96, 0x96), "exceeds 100000 steps"},
		{"backward skips that do not grow the stack", loop(0x31, 0x13), "exceeds 100000 steps"},
		{"backward branches", []byte{0x31, 0x28, 0xfc, 0xff}, "exceeds 100000 steps"},
		{"backward branches, always taken", []byte{0x31, 0x12, 0x28, 0xfc, 0xff}, "exceeds 100000 steps"},
		{"endless dups", append([]byte{0x31}, loop(0x12)...), "stack exceeds 1024"},
		{"endless dups, written out", append([]byte{0x31}, bytes.Repeat([]byte{0x12}, 5000)...), "stack exceeds 1024"},
		{"endless overs", append([]byte{0x31, 0x31}, loop(0x14)...), "stack exceeds 1024"},
		{"endless picks", append([]byte{0x31}, loop(0x15, 0)...), "stack exceeds 1024"},
		{"endless literals", loop(0x31), "stack exceeds 1024"},
		{"huge LEBs", append([]byte{0x10}, bytes.Repeat([]byte{0xff}, 1<<20)...), "LEB128"},
		{"huge LEBs of zeros", append(append([]byte{0x10}, bytes.Repeat([]byte{0x80}, 1<<20)...), 0), "LEB128"},
		{"huge signed LEBs", append([]byte{0x11}, bytes.Repeat([]byte{0xff}, 1<<20)...), "LEB128"},
		{"a LEB of 65 bits", []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, "LEB128"},
		{"a block longer than all memory", []byte{0x9e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, "cut short"},
		{"endless memory reads", append([]byte{0x31}, loop(0x06)...), "reads memory more than"},
		{"endless memory reads of parts", append([]byte{0x31}, loop(0x94, 1)...), "reads memory more than"},
		{"endless pieces", loop(0x50, 0x93, 1), "too many pieces"},
		{"endless implicit values", loop(append(append([]byte{0x9e, 0x80, 0x40}, make([]byte, 0x2000)...), 0x93, 1)...), "too many bytes"},
		{"a call that calls itself", []byte{0x98, 0, 0}, "nests more than 16"},
		{"a skip before the start", []byte{0x2f, 0xf0, 0xff}, "out of bounds"},
		{"a skip behind the end", []byte{0x2f, 0x01, 0x00}, "out of bounds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := &counting{}
			ctx := newContext(arch.AMD64)
			ctx.Mem = mem
			calls := 0
			ctx.Call = func(uint64, bool) ([]byte, error) { calls++; return c.code, nil }
			_, evalErr := expr.Eval(c.code, ctx)
			_, locateErr := expr.Locate(c.code, ctx)
			for _, err := range []error{evalErr, locateErr} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v; want an error with %q", err, c.want)
				}
			}
			if calls > 2*16 {
				t.Errorf("%d calls", calls)
			}
			if mem.reads > 2*4096 {
				t.Errorf("%d memory reads", mem.reads)
			}
			if n := len(expr.Dump(c.code, arch.AMD64)) + len(expr.Listing(c.code, arch.AMD64, func(uint64) string { return "" })); n > 1<<22 {
				t.Errorf("its dump has %d bytes", n)
			}
		})
	}
	t.Run("backward skips: so many steps and no more", func(t *testing.T) {
		ctx, asked := newContext(arch.AMD64), 0
		ctx.CFA = func() (uint64, error) { asked++; return 0, nil }
		if _, err := expr.Eval(loop(0x9c, 0x13), ctx); err == nil || asked > 100_000/3+1 {
			t.Errorf("%d rounds of 3 steps, %v", asked, err)
		}
	})
	t.Run("a skip to the very end is allowed", func(t *testing.T) {
		if v, err := expr.Eval([]byte{0x35, 0x2f, 0x00, 0x00}, newContext(arch.AMD64)); v != 5 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
	t.Run("a long loop that ends is allowed", func(t *testing.T) {
		// 5000 times: n -= 1 while n != 0
		code := []byte{0x0a, 0x88, 0x13, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff}
		if v, err := expr.Eval(code, newContext(arch.AMD64)); v != 0 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	})
	t.Run("nested entry values in a dump", func(t *testing.T) {
		code := []byte{0x31}
		for range 40 {
			code = append([]byte{0xa3, byte(len(code)) | 0x80, 0x00}, code...)
		}
		if s := expr.Dump(code, arch.AMD64); !strings.Contains(s, "(...)") {
			t.Errorf("%.100s", s)
		}
	})
}

func TestEncodedAddr(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want uint64
		err  string
	}{
		{"absptr", []byte{0xf1, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0}, 0x400010, ""},
		{"udata2", []byte{0xf1, 0x02, 0x10, 0x20}, 0x402010, ""},
		{"sdata4", []byte{0xf1, 0x0b, 0xff, 0xff, 0xff, 0xff}, 0x3fffff, ""},
		{"uleb128", []byte{0xf1, 0x01, 0x90, 0x01}, 0x400090, ""},
		{"pcrel", []byte{0xf1, 0x1b, 0, 0, 0, 0}, 0, "base of pointer encoding"},
		{"unknown", []byte{0xf1, 0x0d, 0, 0, 0, 0}, 0, "unknown pointer encoding"},
		{"cut", []byte{0xf1, 0x03, 0}, 0, "cut short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := expr.Eval(c.code, newContext(arch.AMD64))
			if c.err == "" && (v != c.want || err != nil) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("0x%x, %v", v, err)
			}
		})
	}
	ctx := newContext(arch.AMD64)
	ctx.Bias = 0
	if v, err := expr.Eval([]byte{0xf1, 0x82, 0x10, 0x00}, ctx); v != 0x1716151413121110 || err != nil {
		t.Errorf("indirect: 0x%x, %v", v, err)
	}
	ctx.Mem = nil
	var unavailable *expr.UnavailableError
	if _, err := expr.Eval([]byte{0xf1, 0x82, 0x10, 0x00}, ctx); !errors.As(err, &unavailable) {
		t.Errorf("indirect without memory: %v", err)
	}
}

func TestListing(t *testing.T) {
	name := func(n uint64) string { return map[uint64]string{7: "rsp", 17: "xmm0"}[n] }
	for code, want := range map[string]string{
		"\x77\x08\x06\x23\x10": "DW_OP_breg7 (rsp): 8; DW_OP_deref; DW_OP_plus_uconst: 16",
		"\x90\x11":             "DW_OP_regx: 17 (xmm0)",
		"\x92\x07\x7f":         "DW_OP_bregx: 7 (rsp) -1",
		"\x57":                 "DW_OP_reg7 (rsp)",
		"\x05":                 "DW_OP_0x05 (unknown)",
		"\x23":                 "DW_OP_plus_uconst: 0 (a LEB128 number is cut short at offset 0x1)",
	} {
		if got := expr.Listing([]byte(code), arch.AMD64, name); got != want {
			t.Errorf("% x: %q, want %q", code, got, want)
		}
	}
}
