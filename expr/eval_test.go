package expr_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/target"
)

// fakeMemory has the byte at each address equal to the address's low byte, up to 0x10000.
type fakeMemory struct{}

func (fakeMemory) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	for i := range buf {
		if addr+target.Addr(i) >= 0x10000 {
			return i, &target.MemoryError{Addr: addr + target.Addr(i)}
		}
		buf[i] = byte(addr) + byte(i)
	}
	return len(buf), nil
}

func newContext(a *arch.Arch) *expr.Context {
	regs := &arch.Registers{Arch: a}
	for r := range arch.Reg(17) {
		regs.Set(r, 0x1000+uint64(r)*0x10)
	}
	regs.Forget(arch.RAX)
	return &expr.Context{
		Arch: a, Regs: regs, Mem: fakeMemory{}, Bias: 0x400000,
		CFA:       func() (uint64, error) { return 0x2000, nil },
		FrameBase: func() (uint64, error) { return 0x3000, nil },
		TLS:       func(o uint64) (uint64, error) { return 0x7000 + o, nil },
		Object:    func() (uint64, error) { return 0x5000, nil },
		AddrIndex: func(i uint64) (uint64, error) { return 0x100 * i, nil },
		EntryValue: func(p expr.EntryParameter) (uint64, error) {
			switch {
			case p.ByDIE:
				return p.DIE, nil
			case p.Data:
				return 0x900 + p.Reg, nil
			}
			return 0x800 + p.Reg, nil
		},
		Call: func(off uint64, ref bool) ([]byte, error) {
			if off == 9 {
				return []byte{0x98, 9, 0}, nil // calls itself
			}
			return []byte{0x30 + byte(off)}, nil
		},
		UnitOffset: 0x10000,
		BaseType: func(off uint64) (int, bool, bool, error) {
			switch off {
			case 1:
				return 1, true, false, nil // signed char
			case 2:
				return 2, false, false, nil // unsigned short
			case 4:
				return 4, true, false, nil // int
			case 8:
				return 8, false, true, nil // double
			case 5:
				return 4, false, true, nil // float
			case 7:
				return 8, false, false, nil // unsigned long
			case 16:
				return 16, false, true, nil // long double
			}
			return 0, false, false, errors.New("no such type")
		},
	}
}

const all1 = 1<<64 - 1

// TestEval has at least one case for each operation.
func TestEval(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want uint64
	}{
		{"addr", []byte{0x03, 1, 2, 0, 0, 0, 0, 0, 0}, 0x400201},
		{"deref", []byte{0x0a, 0, 1, 0x06}, 0x0706050403020100},
		{"const1u", []byte{0x08, 0xff}, 0xff},
		{"const1s", []byte{0x09, 0xff}, all1},
		{"const2u", []byte{0x0a, 0xfe, 0xff}, 0xfffe},
		{"const2s", []byte{0x0b, 0xfe, 0xff}, all1 - 1},
		{"const4u", []byte{0x0c, 0xfe, 0xff, 0xff, 0xff}, 0xfffffffe},
		{"const4s", []byte{0x0d, 0xfe, 0xff, 0xff, 0xff}, all1 - 1},
		{"const8u", []byte{0x0e, 1, 2, 3, 4, 5, 6, 7, 8}, 0x0807060504030201},
		{"const8s", []byte{0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, all1},
		{"constu", []byte{0x10, 0xe5, 0x8e, 0x26}, 624485},
		{"constu, ten bytes", []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, all1},
		{"consts", []byte{0x11, 0x7f}, all1},
		{"dup", []byte{0x32, 0x12, 0x22}, 4},
		{"drop", []byte{0x32, 0x33, 0x13}, 2},
		{"over", []byte{0x32, 0x33, 0x14}, 2},
		{"pick", []byte{0x32, 0x33, 0x34, 0x15, 2}, 2},
		{"swap", []byte{0x32, 0x35, 0x16, 0x1c}, 3},
		{"rot: the top is the old second", []byte{0x31, 0x32, 0x33, 0x17}, 2},
		{"rot: the third is the old top", []byte{0x31, 0x32, 0x33, 0x17, 0x13, 0x13}, 3},
		{"xderef", []byte{0x30, 0x0a, 0, 1, 0x18}, 0x0706050403020100},
		{"abs", []byte{0x09, 0xfb, 0x19}, 5},
		{"and", []byte{0x3c, 0x3a, 0x1a}, 8},
		{"div is signed", []byte{0x09, 0xf8, 0x32, 0x1b}, all1 - 3},
		{"minus", []byte{0x31, 0x32, 0x1c}, all1},
		{"mod is unsigned", []byte{0x09, 0xff, 0x3a, 0x1d}, all1 % 10},
		{"mul", []byte{0x33, 0x35, 0x1e}, 15},
		{"neg", []byte{0x31, 0x1f}, all1},
		{"not", []byte{0x30, 0x20}, all1},
		{"or", []byte{0x3c, 0x33, 0x21}, 15},
		{"plus", []byte{0x3c, 0x33, 0x22}, 15},
		{"plus_uconst", []byte{0x3c, 0x23, 0x80, 1}, 140},
		{"shl", []byte{0x31, 0x34, 0x24}, 16},
		{"shl by 64", []byte{0x31, 0x08, 64, 0x24}, 0},
		{"shr", []byte{0x09, 0x80, 0x08, 60, 0x25}, 15},
		{"shra", []byte{0x09, 0x80, 0x34, 0x26}, all1 - 7},
		{"xor", []byte{0x3c, 0x3a, 0x27}, 6},
		{"bra taken", []byte{0x37, 0x31, 0x28, 1, 0, 0x20}, 7},
		{"bra not taken", []byte{0x37, 0x30, 0x28, 1, 0, 0x1f}, all1 - 6},
		{"bra backwards: 5 factorial", []byte{
			0x31, 0x35, // push 1 (the product) and n
			0x12, 0x17, 0x1e, 0x16, // dup rot mul swap: product*n, n
			0x31, 0x1c, // n-1
			0x12, 0x28, 0xf6, 0xff, // dup bra -10
			0x13}, 120},
		{"eq", []byte{0x31, 0x31, 0x29}, 1},
		{"ge", []byte{0x30, 0x31, 0x2a}, 0},
		{"gt is signed", []byte{0x31, 0x09, 0xff, 0x2b}, 1},
		{"le", []byte{0x30, 0x31, 0x2c}, 1},
		{"lt", []byte{0x09, 0xff, 0x30, 0x2d}, 1},
		{"ne", []byte{0x31, 0x31, 0x2e}, 0},
		{"skip", []byte{0x37, 0x2f, 1, 0, 0x20}, 7},
		{"lit31", []byte{0x4f}, 31},
		{"reg7 as a value", []byte{0x57}, 0x1070},
		{"breg7", []byte{0x77, 0x78}, 0x1068},
		{"regx", []byte{0x90, 7}, 0x1070},
		{"fbreg", []byte{0x91, 0x70}, 0x2ff0},
		{"bregx", []byte{0x92, 7, 8}, 0x1078},
		{"deref_size", []byte{0x0a, 0, 1, 0x94, 2}, 0x0100},
		{"xderef_size", []byte{0x30, 0x0a, 0, 1, 0x95, 4}, 0x03020100},
		{"nop", []byte{0x31, 0x96}, 1},
		{"push_object_address", []byte{0x97}, 0x5000},
		{"call2", []byte{0x98, 3, 0}, 3},
		{"call4", []byte{0x99, 4, 0, 0, 0}, 4},
		{"call_ref", []byte{0x9a, 5, 0, 0, 0}, 5},
		{"form_tls_address", []byte{0x38, 0x9b}, 0x7008},
		{"call_frame_cfa", []byte{0x9c}, 0x2000},
		{"implicit_value", []byte{0x9e, 2, 0x34, 0x12}, 0x1234},
		{"stack_value", []byte{0x37, 0x9f}, 7},
		{"addrx", []byte{0xa1, 3}, 0x400300},
		{"constx", []byte{0xa2, 3}, 0x300},
		{"entry_value", []byte{0xa3, 1, 0x53}, 0x803},
		{"entry_value of regx", []byte{0xa3, 2, 0x90, 40}, 0x828},
		{"entry_value of what a register points to", []byte{0xa3, 3, 0x75, 0, 0x06}, 0x905},
		{"entry_value of what a register points to, sized", []byte{0xa3, 4, 0x75, 0, 0x94, 4}, 0x905},
		{"entry_value of a typed register", []byte{0xa3, 3, 0xa5, 5, 2}, 0x805},
		{"GNU_parameter_ref", []byte{0xfa, 1, 2, 0, 0}, 0x10201},
		{"const_type", []byte{0xa4, 1, 1, 0xff}, all1},
		{"regval_type", []byte{0xa5, 7, 2}, 0x1070},
		{"deref_type", []byte{0x08, 0xff, 0xa6, 1, 1}, all1},
		{"convert signed char to unsigned short", []byte{0xa4, 1, 1, 0xff, 0xa8, 2}, 0xffff},
		{"convert to double and back", []byte{0x37, 0xa8, 8, 0x32, 0xa8, 8, 0x1b, 0xa8, 7}, 3},
		{"double plus double", []byte{0x37, 0xa8, 8, 0x12, 0x22, 0xa8, 0}, 14},
		{"float less", []byte{0x37, 0xa8, 5, 0x38, 0xa8, 5, 0x2d}, 1},
		{"convert -1.0 to generic", []byte{0x31, 0xa8, 8, 0x1f, 0xa8, 0}, all1},
		{"reinterpret double as unsigned long", []byte{0x31, 0xa8, 8, 0xa9, 7}, 0x3ff0000000000000},
		{"unsigned typed division", []byte{0x09, 0xff, 0xa8, 7, 0x32, 0xa8, 7, 0x1b}, all1 / 2},
		{"int wraps at 32 bits", []byte{0xa4, 4, 4, 0xff, 0xff, 0xff, 0x7f, 0x23, 1}, 0xffffffff_80000000},
		{"GNU_push_tls_address", []byte{0x38, 0xe0}, 0x7008},
		{"GNU_uninit", []byte{0x31, 0xf0}, 1},
		{"GNU_entry_value", []byte{0xf3, 1, 0x55}, 0x805},
		{"GNU_const_type", []byte{0xf4, 2, 2, 1, 2}, 0x201},
		{"GNU_regval_type", []byte{0xf5, 7, 1}, 0x70},
		{"GNU_deref_type", []byte{0x08, 1, 0xf6, 2, 2}, 0x201},
		{"GNU_convert", []byte{0x37, 0xf7, 1}, 7},
		{"GNU_reinterpret", []byte{0x09, 0xff, 0xf9, 7}, all1},
		{"GNU_addr_index", []byte{0xfb, 3}, 0x400300},
		{"GNU_const_index", []byte{0xfc, 3}, 0x300},
		{"the PLT's CFA expression", []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, 0x1078},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := expr.Eval(c.code, newContext(arch.AMD64))
			if err != nil || got != c.want {
				t.Errorf("%s\n got %#x, %v\nwant %#x", expr.Dump(c.code, arch.AMD64), got, err, c.want)
			}
		})
	}
}

func TestEvalErrors(t *testing.T) {
	bomb := append([]byte{0x31}, 0x12, 0x2f, 0xfc, 0xff)
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"empty", nil, "empty stack"},
		{"unknown register", []byte{0x70, 0}, "rax is not known"},
		{"no such register", []byte{0x92, 0xff, 0x7f, 0}, "register 16383"},
		{"truncated", []byte{0x0c, 1}, "a 4-byte number is cut short at offset 0x1"},
		{"LEB", append(append([]byte{0x10}, bytes.Repeat([]byte{0x80}, 16)...), 0), "more than 16 bytes"},
		{"LEB overflow", []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, "more than 64 bits"},
		{"division by zero", []byte{0x31, 0x30, 0x1b}, "zero"},
		{"modulo zero", []byte{0x31, 0x30, 0x1d}, "zero"},
		{"endless loop", []byte{0x2f, 0xfd, 0xff}, "exceeds 100000"},
		{"endless dups", bomb, "stack exceeds 1024"},
		{"branch out", []byte{0x2f, 0x10, 0}, "out of bounds"},
		{"branch out backwards", []byte{0x2f, 0x10, 0x80}, "out of bounds"},
		{"call of itself", []byte{0x98, 9, 0}, "nest"},
		{"mixed types", []byte{0x31, 0xa8, 1, 0x31, 0xa8, 2, 0x22}, "different types"},
		{"and of doubles", []byte{0x31, 0xa8, 8, 0x12, 0x1a}, "integer"},
		{"long double", []byte{0x31, 0xa8, 16}, "composite"},
		{"no type", []byte{0x31, 0xa8, 99}, "no such type"},
		{"reinterpret of another size", []byte{0x31, 0xa9, 1}, "changes a value"},
		{"unreadable", []byte{0x0c, 0, 0, 1, 0, 0x06}, "cannot read memory at 0x10000"},
		{"partly unreadable", []byte{0x0c, 0xfc, 0xff, 0, 0, 0x06}, "cannot read memory at 0x10000"},
		{"another address space", []byte{0x31, 0x31, 0x18}, "address space"},
		{"entry_value of no register", []byte{0xa3, 2, 0x50, 0x96}, "not available"},
		{"entry_value of a sum", []byte{0xa3, 4, 0x75, 1, 0x06, 0x96}, "not available"},
		{"entry_value of nothing", []byte{0xa3, 0}, "not available"},
		{"implicit pointer", []byte{0xf2, 1, 0, 0, 0, 0}, "not available"},
		{"composite", []byte{0x31, 0x93, 4}, "composite"},
		{"after a register", []byte{0x50, 0x31}, "continues after"},
		{"unknown operation", []byte{0x01}, "unknown operation DW_OP_0x01"},
		{"deref_size 9", []byte{0x31, 0x94, 9}, "9 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := expr.Eval(c.code, newContext(arch.AMD64))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %#x, %v; want an error with %q", v, err, c.want)
			}
		})
	}
	// Nothing in the context: an error for each, never a panic.
	for op := range 256 {
		code := []byte{0x31, 0x31, 0x31, byte(op), 1, 1, 1, 1, 1, 1, 1, 1, 1}
		expr.Eval(code, &expr.Context{Arch: arch.AMD64})
		expr.Locate(code, &expr.Context{Arch: arch.AMD64})
		expr.Dump(code, nil)
	}
	if _, err := expr.Eval([]byte{0x31}, nil); err == nil {
		t.Error("no context: no error")
	}
	var unknown *expr.UnknownRegisterError
	if _, err := expr.Eval([]byte{0x70, 0}, newContext(arch.AMD64)); !errors.As(err, &unknown) || unknown.Reg != arch.RAX {
		t.Errorf("got %v", err)
	}
}

func Test32Bit(t *testing.T) {
	c := newContext(arch.I386)
	c.Bias = 0
	for name, code := range map[string][]byte{
		"wraps":    {0x0c, 0xff, 0xff, 0xff, 0xff, 0x23, 6},
		"negative": {0x09, 0xff, 0x36, 0x22},
		"addr":     {0x03, 5, 0, 0, 0},
	} {
		if v, err := expr.Eval(code, c); v != 5 || err != nil {
			t.Errorf("%s: %#x, %v", name, v, err)
		}
	}
}

func TestLocate(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want []expr.Piece
	}{
		{"optimised out", nil, []expr.Piece{{}}},
		{"memory", []byte{0x91, 0x70}, []expr.Piece{{Kind: expr.InMemory, Addr: 0x2ff0}}},
		{"register whose value is not known", []byte{0x50}, []expr.Piece{{Kind: expr.InRegister, Reg: arch.RAX}}},
		{"value", []byte{0x09, 0xff, 0x9f}, []expr.Piece{{Kind: expr.Implicit, Bytes: []byte("\xff\xff\xff\xff\xff\xff\xff\xff")}}},
		{"typed value", []byte{0xa4, 2, 2, 1, 2, 0x9f}, []expr.Piece{{Kind: expr.Implicit, Bytes: []byte{1, 2}}}},
		{"implicit", []byte{0x9e, 3, 1, 2, 3}, []expr.Piece{{Kind: expr.Implicit, Bytes: []byte{1, 2, 3}}}},
		{"implicit pointer", []byte{0xa0, 0x34, 0x12, 0, 0, 0x7f}, []expr.Piece{{Kind: expr.ImplicitPointer, DIE: 0x1234, Offset: -1}}},
		{"composite", []byte{0x53, 0x93, 4, 0x93, 2, 0x9c, 0x93, 8, 0x30, 0x9f, 0x9d, 3, 5}, []expr.Piece{
			{Kind: expr.InRegister, Reg: arch.RBX, BitSize: 32},
			{BitSize: 16},
			{Kind: expr.InMemory, Addr: 0x2000, BitSize: 64},
			{Kind: expr.Implicit, Bytes: make([]byte, 8), BitSize: 3, BitOffset: 5},
		}},
		{"uninit", []byte{0x55, 0xf0}, []expr.Piece{{Kind: expr.InRegister, Reg: arch.RDI}}},
		{"member", []byte{0x97, 0x23, 8}, []expr.Piece{{Kind: expr.InMemory, Addr: 0x5008}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := expr.Locate(c.code, newContext(arch.AMD64))
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("got %+v, %v; want %+v", got, err, c.want)
			}
			for i := range got {
				g, w := got[i], c.want[i]
				if string(g.Bytes) != string(w.Bytes) {
					t.Errorf("piece %d: % x, want % x", i, g.Bytes, w.Bytes)
				}
				g.Bytes, w.Bytes = nil, nil
				if g.Kind != w.Kind || g.Addr != w.Addr || g.Reg != w.Reg || g.DIE != w.DIE || g.Offset != w.Offset ||
					g.BitSize != w.BitSize || g.BitOffset != w.BitOffset {
					t.Errorf("piece %d: %+v, want %+v", i, g, w)
				}
			}
		})
	}
}

func TestEvalAllocatesNothing(t *testing.T) {
	c := newContext(arch.AMD64)
	code := []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x06}
	if n := testing.AllocsPerRun(100, func() { expr.Eval(code, c) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDump(t *testing.T) {
	for code, want := range map[string]string{
		"\x77\x08\x06\x23\x10":         "breg7 (rsp) +8; deref; plus_uconst 16",
		"\xa3\x01\x55\x9f":             "entry_value (reg5 (rdi)); stack_value",
		"\x03\x01\x00\x00\x00\x00\x00": "addr 0x0 (an 8-byte number is cut short at offset 0x1)",
		"\x2f\xfd\xff":                 "skip -3",
		"\x31\x05":                     "lit1; 0x05 (unknown)",
	} {
		if got := expr.Dump([]byte(code), arch.AMD64); got != want {
			t.Errorf("% x: %q, want %q", code, got, want)
		}
	}
}

func BenchmarkEvalPLT(b *testing.B) {
	c := newContext(arch.AMD64)
	code := []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}
	b.ReportAllocs()
	for b.Loop() {
		expr.Eval(code, c)
	}
}

// typed reports whether an operation may yield values wider than an address. It searches bytes, not
// characters: code is not text.
func typed(code []byte) bool {
	return slices.ContainsFunc(code, func(b byte) bool {
		return bytes.IndexByte([]byte("\xa4\xa5\xa6\xa7\xa8\xa9\xf4\xf5\xf6\xf7\xf9\x9e"), b) >= 0
	})
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{"\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", "\x77\x90\x01\x06", "\x53\x93\x04\x93\x02", "\x2f\xfd\xff",
		"\xa4\x08\x08\x00\x00\x00\x00\x00\x00\xf0\x3f\xa8\x04\x9f", "\xa3\x01\x55", "\x98\x09\x00", "\xf1\x8b\x10\x00\x00\x00",
		"\x31\x12\x28\xfc\xff", "\x97\x06\x9c\x22\x2f\xfa\xff", "\x35\xa8\x08\xa9\x05\x1e\x9f\x9d\x03\x05", "\x9e\x02\x01\x02\x93\x02\xa0\x34\x12\x00\x00\x7f"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, a := range arch.All() {
			// Counters limit the calls of an evaluation to its context.
			mem, steps := &counting{}, 0
			ctx := newContext(a)
			ctx.Mem = mem
			ctx.CFA = func() (uint64, error) { steps++; return 0x2000, nil }
			ctx.Call = func(uint64, bool) ([]byte, error) { steps++; return code, nil }
			ctx.EntryValue = func(expr.EntryParameter) (uint64, error) { steps++; return 1, nil }
			v, err := expr.Eval(code, ctx)
			if a.PtrSize == 4 && err == nil && v > 0xffffffff && !typed(code) {
				t.Errorf("0x%x of a 32-bit architecture", v)
			}
			if steps > 100_000 || mem.reads > 4096 {
				t.Errorf("%d steps, %d reads", steps, mem.reads)
			}
			pieces, err := expr.Locate(code, ctx)
			n := 0
			for _, p := range pieces {
				n += len(p.Bytes)
			}
			if err == nil && (len(pieces) == 0 || len(pieces) > 4096 || n > 1<<20) {
				t.Errorf("%d pieces of %d bytes", len(pieces), n)
			}
			for _, s := range []string{expr.Dump(code, a), expr.Listing(code, a, func(uint64) string { return "" })} {
				if len(s) > 1<<20+64*len(code) {
					t.Errorf("a dump of %d bytes for %d", len(s), len(code))
				}
			}
		}
	})
}
