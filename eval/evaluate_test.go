package eval

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

func le(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

// world is a small program: integers, a structure with bit-fields, pointers, a variable in a register
// and one that is nowhere.
func world() *fakeEnv {
	e := newFakeEnv()
	pair := types.NewStruct(types.Struct, "pair", 8, []types.Field{{Name: "a", Type: typeInt}, {Name: "b", Type: typeInt, Offset: 4}})
	bits := types.NewStruct(types.Struct, "bits", 4, []types.Field{
		{Name: "lo", Type: typeUint, BitSize: 3},
		{Name: "mid", Type: typeInt, BitSize: 5, BitOffset: 3},
		{Name: "wide", Type: typeUint, BitSize: 20, BitOffset: 12, Offset: 1},
	})
	e.types["pair"], e.types["struct pair"] = pair, pair
	e.put("x", 0x1000, typeInt, le(int32(5)))
	e.put("c", 0x1100, typeChar, []byte("a"))
	e.put("u", 0x1200, typeUlong, le(uint64(math.MaxUint64)))
	e.put("d", 0x1300, typeDouble, le(2.5))
	e.put("f", 0x1400, typeFloat, le(float32(0.5)))
	e.put("pr", 0x1500, pair, le([2]int32{7, 8}))
	e.put("pr2", 0x1540, pair, le([2]int32{1, 2}))
	e.put("bf", 0x1600, bits, le(uint32(0xabcde<<12|0x1e<<3|5)))
	e.put("p", 0x1700, pointerTo(pair, 8), le(uint64(0x1500)))
	e.put("this", 0x1800, pointerTo(pair, 8), le(uint64(0x1500)))
	e.put("main.count", 0x1900, typeInt, le(int32(11)))
	e.put("arr", 0x1a00, types.NewArray(typeInt, 4), le([4]int32{10, 20, 30, 40}))
	e.put("wild", 0x9000, typeInt, nil)
	e.put("ref", 0x1b00, types.New(types.Reference, "", 8, false, typeInt), le(uint64(0x1000)))
	e.put("state", 0x1c00, types.NewEnum("state", 4, false, []types.Enumerator{{Name: "IDLE"}, {Name: "BUSY", Value: 1}}), le(int32(1)))
	e.put("b", 0x1d00, typeBool, []byte{1})
	e.regs.Set(arch.RBX, 0x1122334455667788)
	e.regs.Set(arch.RIP, 0x401136)
	e.regs.Set(arch.RSP, 0x7ffe0000)
	e.regs.Set(arch.RFLAGS, 0x246)
	e.symbols[0x401130] = "main"
	e.vars["inreg"] = Value{Type: typeInt, Name: "inreg", Reg: arch.RBX, InReg: true, Bytes: le(int32(0x55667788))}
	e.vars["gone"] = Value{Type: typeInt, Name: "gone", Avail: OptimizedOut}
	e.vars["unsaved"] = Value{Type: typeInt, Name: "unsaved", Avail: NotSaved}
	e.vars["main"] = FunctionValue("main", 0x401130, types.NewFunc(typeInt, []*types.Type{typeInt}))
	e.types["state"] = e.vars["state"].Type
	return e
}

func TestEvaluate(t *testing.T) {
	run(t, world(), []printCase{
		{"x", "5"},
		{"x + c", "102"},
		{"u", "18446744073709551615"},
		{"u + 1", "0"},
		{"-1 < u", "0"}, // an unsigned comparison
		{"d * 2", "5"},
		{"f + d", "3"},
		{"p->a", "7"}, {"p.b", "8"}, {"(*p).a", "7"}, {"pr.nope", "There is no member named nope."},
		{"a", "7"}, // this->a
		{"main.count", "11"}, {"main.nope", "Attempt to extract a component of a value that is not a structure."},
		{"state == BUSY", "1"}, {"IDLE == state", "0"}, {"state = IDLE", "IDLE"}, {"state", "IDLE"}, {"state::BUSY", "BUSY"},
		{"arr", "{10, 20, 30, 40}"}, {"arr[1]", "20"}, {"*arr@2", "{10, 20}"}, {"arr[x-5]", "10"},
		{"&arr[2] - arr", "2"}, {"*(arr + 3)", "40"}, {"/x arr[1]@2", "{0x14, 0x1e}"},
		{"ref", "(int &) @0x1000: 5"}, {"ref + 1", "6"}, {"&ref", "(int *) 0x1000"}, {"sizeof ref", "4"},
		{"gone", "<optimized out>"}, {"gone + 1", "value has been optimized out"},
		{"unsaved", "<not saved>"}, {"&gone", "value has been optimized out"},
		{"wild", "Cannot access memory at address 0x9000"}, {"&wild", "(int *) 0x9000"}, {"sizeof wild", "4"},
		{"inreg", "1432778632"}, {"&inreg", `Address requested for identifier "inreg" which is in register $rbx`},
		{"0 && wild", "0"}, {"1 || wild", "1"}, {"1 ? 2 : wild", "2"},
		{"$rbx", "1234605616436508552"}, {"/x $ebx", "0x55667788"}, {"/x $bx", "0x7788"}, {"/x $bl", "0x88"}, {"/x $bh", "0x77"},
		{"$pc", "(" + typeCodePointer.String() + ") 0x401136 <main+6>"}, {"$sp", "(void *) 0x7ffe0000"}, {"$eflags", "[ PF ZF IF ]"},
		{"$rcx", "<not saved>"}, {"$rcx + 1", "value is not available: its register is not saved in this frame"},
		{"$nope", "void"},
		{"main", "{int (int)} 0x401130 <main>"}, {"main(3)", "calling functions is not supported"},
		{"x ? c : 0", "97"}, {"b", "true"}, {"!b", "0"}, {"true", "true"},
		{"{int} 0x1000", "5"}, {"*(int *) 0x1000", "5"}, {"(char) x", `5 '\005'`}, {"(struct pair *) 0", "(struct pair *) 0x0"},
		{"bf", "{lo = 5, mid = -2, wide = 703710}"},
		{"7 / 0", "Division by zero"}, {"7 % 0", "Division by zero"}, {"7.0 / 0", "inf"}, {"-7 / 2", "-3"}, {"-7 % 2", "-1"},
		{"1 << 31", "-2147483648"}, {"1u << 31", "2147483648"}, {"-8 >> 1", "-4"}, {"1 << 70", "0"}, {"-1 >> 70", "-1"},
		{"-9223372036854775807 - 1", "-9223372036854775808"}, {"(-9223372036854775807 - 1) / -1", "-9223372036854775808"},
		{"x == 5 && c == 'a'", "1"}, {"1, 2, 3", "3"}, {"2 + 3 * 4 - 1", "13"}, {"1 | 2 ^ 3 & 4", "3"},
		{"static_cast<long>(c)", "97"}, {"sizeof(long) * 2", "16"}, {"sizeof(int[10])", "40"}, {"sizeof(int (*)(int))", "8"},
		{"x +", "A syntax error in expression, near `'."}, {"", "A syntax error in expression, near `'."},
	})
}

func TestAssign(t *testing.T) {
	e := world()
	run(t, e, []printCase{
		{"x = 6", "6"}, {"x += 4", "10"}, {"x <<= 2", "40"}, {"x %= 7", "5"}, {"++x", "6"}, {"x--", "6"}, {"x", "5"},
		{"c = 'z'", "122 'z'"}, {"c = 0x141", "65 'A'"}, {"d = 1", "1"}, {"f = d / 4", "0.25"},
		{"p = 0x1540", "(struct pair *) 0x1540"}, {"p->b", "2"}, {"pr = pr2", "{a = 1, b = 2}"}, {"pr.b = 9", "9"}, {"pr", "{a = 1, b = 9}"},
		{"bf.mid = 3", "3"}, {"bf.wide = 1", "1"}, {"bf.lo = 9", "1"}, {"bf", "{lo = 1, mid = 3, wide = 1}"},
		{"ref = 12", "12"}, {"x", "12"}, {"arr[2] = x", "12"}, {"arr", "{10, 20, 12, 40}"},
		{"$v = 7", "7"}, {"$v * 6", "42"}, {"$v += 1", "8"}, {"$v", "8"}, {"$s = pr", "{a = 1, b = 9}"}, {"$s.b", "9"},
		{"$s.b = 1", "Parts of convenience variables can't be assigned."},
		{"/x $rbx = 0x10", "0x10"}, {"/x $bl = 0xff", "0xff"}, {"/x $rbx", "0xff"}, {"/x $ebx = 1", "0x1"}, {"$rcx = 4", "4"}, {"$rcx", "4"},
		{"gone = 1", "value has been optimized out"}, {"5 = 1", "Left operand of assignment is not an lvalue."},
		{"x + 1 = 2", "Left operand of assignment is not an lvalue."}, {"pr = 1", "Invalid cast."}, {"main = 1", "Invalid cast."},
		{"wild = 1", "Cannot access memory at address 0x9000"}, {"sizeof(x = 99)", "4"}, {"x", "12"},
	})
	if got := e.written[0x1100]; len(got) != 1 {
		t.Errorf("assigning a char wrote %d bytes", len(got))
	}
}

func TestAssignToRegisterVariable(t *testing.T) {
	e := world()
	if got := e.print("inreg = 1", DefaultOptions()); got != "1" {
		t.Error(got)
	}
	// The rest of the register stays.
	if v, _ := e.regs.Get(arch.RBX); v != 0x1122334400000001 {
		t.Errorf("rbx is %#x", v)
	}
}

func TestHistory(t *testing.T) {
	e := world()
	run(t, e, []printCase{
		{"$", "void"},
		{"x", "5"}, {"c", "97 'a'"}, {"$1 + $$", "10"},
		{"x = 9", "9"}, {"$1", "5"}, // what was printed stays what it was
		{"$1 = 1", "Left operand of assignment is not a modifiable lvalue."},
		{"&$1", "(int *) 0x1000"},
		{"$99", "History has not yet reached $99."},
	})
}

// TestLazy says how much memory is read for a value that is too large to be read.
func TestLazy(t *testing.T) {
	e := newFakeEnv()
	big, _ := arrayOf(typeInt, 1_000_000_000)
	e.memory[0x10000] = bytes.Repeat(le(int32(3)), 1000)
	e.vars["big"] = Value{Type: big, Name: "big", Addr: 0x10000, HasAddr: true}
	if got := e.print("big[7] + big[8]", DefaultOptions()); got != "6" {
		t.Error(got)
	}
	if got := e.print("sizeof big", DefaultOptions()); got != "4000000000" {
		t.Error(got)
	}
	if e.reads > 100 {
		t.Errorf("%d bytes read for two elements", e.reads)
	}
	if n := NumChildren(e.vars["big"], e); n != 1_000_000_000 {
		t.Errorf("%d children", n)
	}
	e.reads = 0
	kids, err := Children(e.vars["big"], e, 990, 4)
	if err != nil || len(kids) != 4 || kids[3].Name != "[993]" || Format(kids[3], e, Options{}) != "3" || e.reads > 100 {
		t.Errorf("children %v, %v; %d bytes read", kids, err, e.reads)
	}
	if kids, _ = Children(e.vars["big"], e, 999_999_999, 10); len(kids) != 1 || kids[0].Avail != Unreadable {
		t.Errorf("the last child is %v", kids)
	}
	e.reads = 0
	if got := Format(e.vars["big"], e, Options{}); len(got) > 1000 || e.reads > 3*maxFetch {
		t.Errorf("formatted as %.100s..., %d bytes read", got, e.reads)
	}
}

func TestStrings(t *testing.T) {
	e := newFakeEnv()
	e.memory[0x1ff0] = append(bytes.Repeat([]byte("ab"), 7), 'c', 0) // ends with its page
	e.memory[0x3000] = []byte("not ended")
	e.memory[0x4000] = append(bytes.Repeat([]byte("xy"), 150), 0)
	e.memory[0x5000] = append(bytes.Repeat([]byte("xy"), 100), 0)
	str := pointerTo(typeChar, 8)
	at := func(a uint64) Value { return Value{Type: str, Bytes: le(a)} }
	for _, c := range []struct {
		addr uint64
		want string
	}{
		{0x1ff0, `0x1ff0 "abababababababc"`},
		{0x3000, `0x3000 "not ended"<error: Cannot access memory at address 0x3009>`},
		{0x4000, `0x4000 "` + strings.Repeat("xy", 100) + `"...`},
		{0x5000, `0x5000 "` + strings.Repeat("xy", 100) + `"`},
		{0x9000, `0x9000 <error: Cannot access memory at address 0x9000>`},
		{0, "0x0"},
	} {
		if got := Format(at(c.addr), e, DefaultOptions()); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if got := Format(at(0x1ff0), e, Options{}); got != `"abababababababc"` {
		t.Errorf("without the address: %s", got)
	}
}

func TestChildren(t *testing.T) {
	e := world()
	text := func(expr string) string {
		v, err := Evaluate(expr, e)
		if err != nil {
			t.Fatal(err)
		}
		kids, err := Children(v, e, 0, 0)
		if err != nil || len(kids) != NumChildren(v, e) {
			t.Errorf("%s: %d children of %d: %v", expr, len(kids), NumChildren(v, e), err)
		}
		var out []string
		for _, k := range kids {
			out = append(out, k.Name+"="+Format(k, e, DefaultOptions()))
		}
		return strings.Join(out, " ")
	}
	for expr, want := range map[string]string{
		"pr": "a=7 b=8", "p": "a=7 b=8", "&p": "*=(struct pair *) 0x1500", "arr": "[0]=10 [1]=20 [2]=30 [3]=40",
		"x": "", "(char *) 0x1000": "", "(struct pair *) 0": "", "(void *) 0x1500": "", "bf": "lo=5 mid=-2 wide=703710", "ref": "",
		"gone": "", "main": "",
	} {
		if got := text(expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	// A child can be assigned.
	v, _ := Evaluate("p", e)
	kids, _ := Children(v, e, 1, 1)
	if _, err := Assign(kids[0], intValue(typeInt, 77), e); err != nil {
		t.Error(err)
	}
	if got := e.print("pr.b", Options{}); got != "77" {
		t.Error(got)
	}
}

func TestTruthIntAddress(t *testing.T) {
	e := world()
	eval := func(s string) Value {
		v, err := Evaluate(s, e)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if yes, err := Truth(eval("x > 4"), e); !yes || err != nil {
		t.Error(yes, err)
	}
	if yes, err := Truth(eval("ref - 5"), e); yes || err != nil {
		t.Error(yes, err)
	}
	if _, err := Truth(eval("gone"), e); err == nil {
		t.Error("what is optimised out is neither true nor false")
	}
	for expr, want := range map[string]target.Addr{"p": 0x1500, "pr": 0x1500, "main": 0x401130, "arr": 0x1a00, "0x10+1": 0x11, "$pc": 0x401136, "*p": 0x1500} {
		if a, err := AddressOf(eval(expr), e); a != want || err != nil {
			t.Errorf("%s: %v, %v", expr, a, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, ok := range []string{"x", "x == 5", "(foo_t *) p == (x == 1)", "(struct foo *) p", "a::b<int>(1) > 2", "sizeof(foo)", "$rax & 1", "(x) * y", "p->q[3].r"} {
		if err := Check(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "x ==", "(x", "x y", "1abc", `"abc`, "x)", "[1]"} {
		if Check(bad) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestHostile has inputs that nest or grow without end.
func TestHostile(t *testing.T) {
	e := world()
	for _, s := range []string{
		strings.Repeat("(", 100_000), strings.Repeat("-", 60_000) + "1", strings.Repeat("*", 60_000) + "p", strings.Repeat("1+", 30_000) + "1",
		"1" + strings.Repeat("0", 60_000), `"` + strings.Repeat("a", 60_000) + `"`, "(int" + strings.Repeat("*", 60_000) + ")0",
		"(int" + strings.Repeat("[2]", 10_000) + ")x", "(int (*" + strings.Repeat("(*", 10_000), "arr[9223372036854775807]", "arr@9223372036854775807",
		"x@9223372036854775807", "sizeof(int[99999999999999])", strings.Repeat("x ? ", 20_000), "x" + strings.Repeat("<a", 10_000), "$" + strings.Repeat("9", 1000),
		strings.Repeat("a.", 30_000) + "b", strings.Repeat("x,", 30_000) + "x",
	} {
		v, err := Evaluate(s, e)
		if err == nil {
			Format(v, e, DefaultOptions())
		}
	}
}

func TestExamine(t *testing.T) {
	e := newFakeEnv()
	e.memory[0x2000] = le([]uint32{1, 2, 3, 4, 5})
	e.symbols[0x2000] = "data"
	lines, next, err := Examine(0x2000, 'x', 'w', 6, e)
	want := "0x2000 <data>:\t0x00000001\t0x00000002\t0x00000003\t0x00000004|0x2010:\t0x00000005"
	if got := strings.Join(lines, "|"); got != want || next != 0x2014 || fmt.Sprint(err) != "Cannot access memory at address 0x2014" {
		t.Errorf("%s, next %v, %v", got, next, err)
	}
	for _, bad := range []struct{ format, unit byte }{{'q', 'w'}, {'x', 'y'}} {
		if _, _, err := Examine(0x2000, bad.format, bad.unit, 1, e); err == nil {
			t.Errorf("format %c, unit %c is taken", bad.format, bad.unit)
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, s := range []string{"x", "p->a + arr[1]", "(char *) u", "*p@3", "{int} 0x1000", "bf.mid = 3", "sizeof(struct pair)", `"a\n" "b"`,
		"x ? c : d", "$rax = $1 + $$", "(int (*)[3]) arr", "state == BUSY", "'\\x41'", "1e400f", "ref++", "static_cast<int>(d)", "a::b<c>::d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := world()
		Check(s)
		TypeOf(s, e)
		v, err := Evaluate(s, e)
		if err != nil {
			return
		}
		for _, letter := range []byte{0, 'x', 'd', 'u', 'o', 't', 'c', 'a', 's', 'f', 'z'} {
			if out := Format(v, e, Options{Format: letter}); len(out) > 2*maxOutput {
				t.Errorf("%d bytes of text", len(out))
			}
		}
		Children(v, e, 0, 10)
		NumChildren(v, e)
		Truth(v, e)
		Int(v, e)
		AddressOf(v, e)
		TypeName(v)
	})
}
