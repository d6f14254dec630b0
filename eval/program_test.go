package eval

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// programWorld is a world with variables of many types, for programs and for the evaluator.
func programWorld() (*fakeEnv, *ProgramContext) {
	e := newFakeEnv()
	le := binary.LittleEndian
	page := make([]byte, 4096)
	const at = target.Addr(0x10000)
	e.memory[at] = page
	next := target.Addr(0)
	put := func(name string, t *types.Type, b ...byte) {
		copy(page[next:], b)
		e.vars[name] = Value{Type: t, Name: name, Addr: at + next, HasAddr: true}
		next += 32
	}
	u64 := func(u uint64) []byte { return le.AppendUint64(nil, u) }
	point := types.NewStruct(types.Struct, "point", 16, []types.Field{
		{Name: "x", Type: typeInt}, {Name: "y", Type: typeShort, Offset: 4}, {Name: "low", Type: typeUint, BitSize: 3, BitOffset: 64},
		{Name: "high", Type: typeInt, BitSize: 7, BitOffset: 67}, {Name: "", Type: types.NewStruct(types.Union, "", 4, []types.Field{{Name: "inner", Type: typeChar}}), Offset: 12},
	})
	color := types.New(types.Enum, "color", 4, false, typeUint)
	ref := types.New(types.Reference, "", 8, false, typeInt)
	put("c", typeChar, 0xfe)
	put("uc", typeUchar, 0xfe)
	put("s", typeShort, 0x01, 0x80)
	put("us", typeUshort, 0x01, 0x80)
	put("i", typeInt, 0xf6, 0xff, 0xff, 0xff)
	put("u", typeUint, 0xf6, 0xff, 0xff, 0xff)
	put("l", typeLong, u64(1<<63)...)
	put("ul", typeUlong, u64(1<<63+5)...)
	put("f", typeFloat, 0, 0, 0x20, 0x41)
	put("nan", typeFloat, 0, 0, 0xc0, 0x7f)
	put("d", typeDouble, u64(0xc004000000000000)...) // -2.5
	put("b", typeBool, 1)
	put("odd", typeBool, 2)
	put("k", typeInt, 0, 1)
	put("e", color, 2)
	put("pt", point, 7, 0, 0, 0, 0xff, 0xff, 0, 0, 0x25, 2, 0, 0, 65, 0, 0, 0)
	put("p", pointerTo(point, 8), u64(uint64(e.vars["pt"].Addr))...)
	put("ip", pointerTo(typeInt, 8), u64(uint64(e.vars["i"].Addr))...)
	put("null", pointerTo(point, 8), u64(0)...)
	put("vp", pointerTo(nil, 8), u64(0x1234)...)
	put("r", ref, u64(uint64(e.vars["i"].Addr))...)
	put("a", types.NewArray(typeInt, 4), 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
	base := types.NewStruct(types.Struct, "base", 4, []types.Field{{Name: "z", Type: typeInt}})
	derived := types.NewStruct(types.Struct, "derived", 16, []types.Field{{Name: "pad", Type: typeLong}, {Name: "base", Type: base, Offset: 8, Base: true}})
	put("dv", derived, 1, 0, 0, 0, 0, 0, 0, 0, 9)
	put("dp", pointerTo(derived, 8), u64(uint64(e.vars["dv"].Addr))...)
	put("dn", pointerTo(derived, 8))
	slice := types.NewStruct(types.Struct, "[]int", 24, []types.Field{{Name: "array", Type: pointerTo(typeInt, 8)},
		{Name: "len", Type: typeLong, Offset: 8}, {Name: "cap", Type: typeLong, Offset: 16}})
	slice.Lang = lang.Go
	put("sl", slice, append(append(u64(uint64(e.vars["a"].Addr)), u64(3)...), u64(4)...)...)
	put("bad", slice, append(append(u64(uint64(e.vars["a"].Addr)), u64(1<<62)...), u64(4)...)...)
	e.types["point"], e.types["color"], e.types["base"], e.types["derived"] = point, color, base, derived
	e.regs.Set(arch.RAX, 0xffffffff80000001)
	e.regs.Set(arch.RSP, uint64(at))
	e.regs.Set(arch.RIP, 0x401000)
	e.regs.Set(arch.RFLAGS, 0x246)
	return e, &ProgramContext{Env: e, Arch: arch.AMD64, Language: lang.C}
}

// TestProgramLikeEvaluate compares programs with the evaluator, for every pair of variables and every operator.
func TestProgramLikeEvaluate(t *testing.T) {
	e, c := programWorld()
	var operands []string
	for name := range e.vars {
		operands = append(operands, name)
	}
	operands = append(operands, "0", "1", "-1", "3u", "7l", "2.5", "2.5f", "'a'", "40", "pt.x", "pt.y", "p->low", "p->high", "pt.inner", "a[2]", "ip[1]",
		"*ip", "&i", "-c", "~us", "!i", "+uc", "(char)i", "(unsigned char)i", "(float)l", "(double)ul", "(long)d", "(unsigned)d", "(bool)d", "(short)u",
		"sizeof(pt)", "sizeof i", "$rax", "$eax", "$al", "$ah", "$sp", "$pc", "$eflags", "(i, u)", "i ? c : s", "(i > u)", "i && u", "null || i", "{short} &i",
		"(bool)k", "(unsigned char)c", "(char)uc", "(f / 3) * 3", "f / 0.3f", "ip - 1", "p + 1", "1 + a", "&a[3] - a", "(b ? ip : &i)[1]", "(null ? ip : a)[1]", "(i, 3 % i)", "f / 3 == 10 / 3.0",
		"((base *)dp)->z", "(base *)dn", "((derived *)(base *)dp)->pad", "dp->z", "((base)dv).z",
		"sl[1]", "sl[b + (i == 0)]", "sl.len")
	operators := []string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||"}
	compiled, all := 0, 0
	for _, a := range operands {
		texts := []string{a}
		for _, b := range operands {
			for _, op := range operators {
				texts = append(texts, "("+a+") "+op+" ("+b+")")
			}
		}
		for _, text := range texts {
			all++
			if compareProgram(t, text, e, c) {
				compiled++
			}
		}
	}
	t.Logf("%d of %d expressions have a truth value and are compiled", compiled, all)
}

// compareProgram compiles and runs a condition, and compares with the evaluator. It reports whether both decided.
func compareProgram(t *testing.T, text string, e *fakeEnv, c *ProgramContext) bool {
	t.Helper()
	want, wantErr := conditionOf(text, e)
	p, err := Compile(text, c)
	if err != nil {
		// Evaluate does not look at a side of && or || that it does not take.
		skipped := wantErr == nil && strings.ContainsAny(text, "&|?")
		if !errors.Is(err, ErrNotCompiled) && !skipped && (wantErr == nil || wantErr.Error() != err.Error()) {
			t.Errorf("%s: Compile says %v; Evaluate gives %v, %v", text, err, want, wantErr)
		}
		return false
	}
	got, err := p.Run(&e.regs, e)
	if err != nil {
		return false
	}
	if wantErr != nil || got != want {
		t.Errorf("%s: the program gives %v; Evaluate gives %v, %v", text, got, want, wantErr)
	}
	return true
}

func conditionOf(text string, env Env) (bool, error) {
	v, err := Evaluate(text, env)
	if err != nil {
		return false, err
	}
	return Truth(v, env)
}
