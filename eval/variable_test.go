package eval

import (
	"errors"
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// TestPieces puts values together from the parts that a location has.
func TestPieces(t *testing.T) {
	e := newFakeEnv()
	e.memory[0x1000] = []byte{1, 0, 0, 0, 2, 0, 0, 0}
	var regs arch.Registers
	regs.Arch = arch.AMD64
	regs.Set(arch.RAX, 0x1122334455667788)
	fc := &FrameContext{Mem: e, Regs: &regs, Arch: arch.AMD64}
	pair := types.NewStruct(types.Struct, "pair", 8, []types.Field{{Name: "a", Type: typeInt}, {Name: "b", Type: typeInt, Offset: 4}})
	mem := func(a target.Addr, bits uint64) expr.Piece {
		return expr.Piece{Kind: expr.InMemory, Addr: a, BitSize: bits}
	}
	reg := func(r arch.Reg, bits uint64) expr.Piece {
		return expr.Piece{Kind: expr.InRegister, Reg: r, BitSize: bits}
	}
	for _, c := range []struct {
		name   string
		typ    *types.Type
		pieces []expr.Piece
		want   string
	}{
		{"memory", pair, []expr.Piece{mem(0x1000, 0)}, "{a = 1, b = 2}"},
		{"register", typeInt, []expr.Piece{reg(arch.RAX, 0)}, "1432778632"},
		{"unknown register", typeInt, []expr.Piece{reg(arch.RCX, 0)}, "<not saved>"},
		{"nowhere", typeInt, []expr.Piece{{}}, "<optimized out>"},
		{"implicit", typeInt, []expr.Piece{{Kind: expr.Implicit, Bytes: []byte{9, 0, 0, 0, 0, 0, 0, 0}}}, "9"},
		{"implicit, too short", pair, []expr.Piece{{Kind: expr.Implicit, Bytes: []byte{9, 0, 0, 0}}}, "<optimized out>"},
		{"synthetic", pointerTo(typeInt, 8), []expr.Piece{{Kind: expr.ImplicitPointer}}, "<synthetic pointer>"},
		{"two", pair, []expr.Piece{reg(arch.RAX, 32), mem(0x1004, 32)}, "{a = 1432778632, b = 2}"},
		{"a lost half", pair, []expr.Piece{{BitSize: 32}, mem(0x1004, 32)}, "{a = <optimized out>, b = 2}"},
		{"a half not saved", pair, []expr.Piece{mem(0x1004, 32), reg(arch.RCX, 32)}, "{a = 2, b = <not saved>}"},
		{"all lost", pair, []expr.Piece{{BitSize: 32}, {BitSize: 32}}, "<optimized out>"},
		{"no tail", pair, []expr.Piece{mem(0x1000, 32)}, "{a = 1, b = <optimized out>}"},
		{"half of a scalar", typeInt, []expr.Piece{mem(0x1000, 16), {BitSize: 16}}, "<optimized out>"},
		{"a register's upper half", typeInt, []expr.Piece{{Kind: expr.InRegister, Reg: arch.RAX, BitSize: 32, BitOffset: 32}}, "287454020"},
		{"pieces of bits", typeInt, []expr.Piece{reg(arch.RAX, 4), {Kind: expr.Implicit, Bytes: []byte{0xff}, BitSize: 4}, mem(0x1000, 24)}, "504"},
		{"unreadable", typeInt, []expr.Piece{mem(0x9000, 0)}, "<error: Cannot access memory at address 0x9000>"},
		{"too large for a register", types.NewArray(typeInt, 4), []expr.Piece{reg(arch.RAX, 0)}, "{1432778632, 287454020, <optimized out>, <optimized out>}"},
	} {
		v := fc.assemble(Value{Type: c.typ}, c.pieces)
		if got := Format(v, e, Options{}); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestUnlocated(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Availability
	}{
		{&expr.UnknownRegisterError{}, NotSaved},
		{&expr.UnavailableError{}, OptimizedOut},
		{&target.MemoryError{Addr: 5}, Unreadable},
		{errors.New("corrupt"), Unreadable},
	} {
		if got := unlocated(Value{}, c.err).Avail; got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestWideRegisters(t *testing.T) {
	e := newFakeEnv()
	wide := func(r arch.Reg) ([]byte, error) {
		switch r {
		case arch.XMM0:
			return append(le(1.5), le(2.5)...), nil
		case arch.ST0:
			return []byte{0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0x40}, nil // 3
		}
		return nil, target.ErrNoRegister
	}
	regs := arch.Registers{Arch: arch.AMD64}
	fc := &FrameContext{Mem: e, Regs: &regs, Arch: arch.AMD64, Wide: wide}
	in := func(r arch.Reg, typ *types.Type) string {
		return Format(fc.assemble(Value{Type: typ}, []expr.Piece{{Kind: expr.InRegister, Reg: r}}), e, Options{})
	}
	for _, c := range []struct{ got, want string }{
		{in(arch.XMM0, typeDouble), "1.5"},
		{in(arch.ST0, typeDouble), "3"},
		{in(arch.ST0, typeLongDouble), "3"},
		{in(arch.XMM0+1, typeDouble), "<not saved>"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	v, err := RegisterByName("xmm0", arch.AMD64, &regs, wide)
	if err != nil {
		t.Fatal(err)
	}
	want := "{v8_bfloat16 = {0, 0, 0, 1.938, 0, 0, 0, 2.062}, v8_half = {0, 0, 0, 1.9922, 0, 0, 0, 2.0078}, v4_float = {0, 1.9375, 0, 2.0625}, v2_double = {1.5, 2.5}, " +
		"v16_int8 = {0, 0, 0, 0, 0, 0, -8, 63, 0, 0, 0, 0, 0, 0, 4, 64}, v8_int16 = {0, 0, 0, 16376, 0, 0, 0, 16388}, " +
		"v4_int32 = {0, 1073217536, 0, 1074003968}, v2_int64 = {4609434218613702656, 4612811918334230528}, uint128 = 85091360917668755180967208061872635904}"
	if got := Format(v, e, Options{}); got != want {
		t.Errorf("xmm0\n got %s\nwant %s", got, want)
	}
}

// TestLanguages has what Go and Rust make their strings and slices of.
func TestLanguages(t *testing.T) {
	e := newFakeEnv()
	e.memory[0x1000] = []byte("h\u00e9llo, world")
	e.memory[0x2000] = le([]int64{1, 2, 3})
	word := types.New(types.Int, "int", 8, true, nil)
	e.types["i64"] = word
	record := func(l lang.Lang, name string, fields ...types.Field) *types.Type {
		s := types.NewStruct(types.Struct, name, int64(len(fields))*8, fields)
		s.Lang = l
		return s
	}
	ptr := func(t *types.Type) *types.Type { return pointerTo(t, 8) }
	goString := record(lang.Go, "string", types.Field{Name: "str", Type: ptr(typeUchar)}, types.Field{Name: "len", Type: word, Offset: 8})
	goSlice := record(lang.Go, "[]int", types.Field{Name: "array", Type: ptr(word)}, types.Field{Name: "len", Type: word, Offset: 8}, types.Field{Name: "cap", Type: word, Offset: 16})
	str := record(lang.Rust, "&str", types.Field{Name: "data_ptr", Type: ptr(typeUchar)}, types.Field{Name: "length", Type: typeUlong, Offset: 8})
	boxed := record(lang.Rust, "alloc::boxed::Box<[i64], alloc::alloc::Global>", types.Field{Name: "data_ptr", Type: ptr(word)}, types.Field{Name: "length", Type: typeUlong, Offset: 8})
	boxedStr := record(lang.Rust, "alloc::boxed::Box<str, alloc::alloc::Global>", types.Field{Name: "data_ptr", Type: ptr(typeUchar)}, types.Field{Name: "length", Type: typeUlong, Offset: 8})
	inner := record(lang.Rust, "alloc::raw_vec::RawVec<u8>", types.Field{Name: "ptr", Type: ptr(typeUchar)}, types.Field{Name: "cap", Type: typeUlong, Offset: 8})
	vec := record(lang.Rust, "alloc::vec::Vec<i64, alloc::alloc::Global>", types.Field{Name: "buf", Type: inner}, types.Field{Name: "len", Type: typeUlong, Offset: 16})
	bytesVec := record(lang.Rust, "alloc::vec::Vec<u8>", types.Field{Name: "buf", Type: inner}, types.Field{Name: "len", Type: typeUlong, Offset: 16})
	owned := record(lang.Rust, "alloc::string::String", types.Field{Name: "vec", Type: bytesVec})
	owned.Size, vec.Size, bytesVec.Size = 24, 24, 24
	point := record(lang.Rust, "test::Point", types.Field{Name: "x", Type: word}, types.Field{Name: "y", Type: word, Offset: 8})
	tuple := record(lang.Rust, "(i64, i64)", types.Field{Name: "__0", Type: word}, types.Field{Name: "__1", Type: word, Offset: 8})
	for _, c := range []struct {
		typ  *types.Type
		data []uint64
		want string
		kids int
	}{
		{goString, []uint64{0x1000, 6}, `"h` + "\u00e9" + `llo"`, 0},
		{goString, []uint64{0, 0}, `""`, 0},
		{goSlice, []uint64{0x2000, 3, 4}, "[]int len: 3, cap: 4, [1,2,3]", 3},
		{goSlice, []uint64{0, 0, 0}, "[]int len: 0, cap: 0, []", 0},
		{str, []uint64{0x1000, 6}, `"h` + "\u00e9" + `llo"`, 0},
		{boxed, []uint64{0x2000, 2}, "alloc::boxed::Box<[i64], alloc::alloc::Global>(size=2) {1, 2}", 2},
		{boxedStr, []uint64{0x1000, 6}, `"h` + "\u00e9" + `llo"`, 0},
		{owned, []uint64{0x1000, 20, 6}, `"h` + "\u00e9" + `llo"`, 0},
		{vec, []uint64{0x2000, 8, 3}, "Vec(size=3) {1, 2, 3}", 3},
		{point, []uint64{4, 5}, "test::Point {x: 4, y: 5}", 2},
		{tuple, []uint64{4, 5}, "(4, 5)", 2},
		{goSlice, []uint64{0x2000, 1 << 62, 4}, "{array = 0x2000, len = 4611686018427387904, cap = 4}", 3}, // not to be believed
	} {
		v := Value{Type: c.typ, Bytes: le(c.data)}
		if got := Format(v, e, Options{}); got != c.want {
			t.Errorf("%s: got %s, want %s", c.typ.Name, got, c.want)
		}
		if n := NumChildren(v, e); n != c.kids {
			t.Errorf("%s: %d children, want %d", c.typ.Name, n, c.kids)
		}
	}
}
