package eval

import (
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/symbols/entry"
	"dbg/symbols/types"
)

// TestProgramPieces reads every member of a structure that is in several places, as the evaluator does.
func TestProgramPieces(t *testing.T) {
	e, c := programWorld()
	e.regs.Set(arch.RDX, 0x8877665544332211)
	inner := types.NewStruct(types.Struct, "inner", 8, []types.Field{{Name: "s", Type: typeShort}, {Name: "c", Type: typeChar, Offset: 2}, {Name: "u", Type: typeUint, Offset: 4}})
	whole := types.NewStruct(types.Struct, "whole", 56, []types.Field{
		{Name: "lo", Type: typeInt}, {Name: "hi", Type: typeInt, Offset: 4}, {Name: "bits", Type: typeInt, BitSize: 5, BitOffset: 3},
		{Name: "in", Type: inner, Offset: 8}, {Name: "m", Type: typeLong, Offset: 16}, {Name: "lost", Type: typeInt, Offset: 24}, {Name: "m2", Type: typeShort, Offset: 18},
		{Name: "k", Type: typeUchar, Offset: 28}, {Name: "k2", Type: typeUshort, Offset: 30}, {Name: "split", Type: typeLong, Offset: 28},
		{Name: "a", Type: types.NewArray(typeShort, 4), Offset: 32}, {Name: "f", Type: typeDouble, Offset: 40}, {Name: "after", Type: typeInt, Offset: 44},
	})
	const (
		reg0, breg7, piece, stack, implicit, lit5, const4 = 0x50, 0x77, 0x93, 0x9f, 0x9e, 0x35, 0x0c
		rdx                                               = reg0 + 1
	)
	code := []byte{rdx, piece, 8, rdx, piece, 8, breg7, 8, piece, 8, piece, 4, const4, 1, 2, 3, 0x84, stack, piece, 4, implicit, 8, 1, 0x80, 2, 0, 3, 0, 4, 0, piece, 8, breg7, 0x20, piece, 8}
	pieces, ok := expr.LinearizePieces(code, &expr.LinearContext{Arch: arch.AMD64})
	if !ok {
		t.Fatal("not linear")
	}
	fc := &FrameContext{Mem: e, Regs: &e.regs, Arch: arch.AMD64}
	located, err := expr.Locate(code, fc.context(&entry.Location{}))
	if err != nil {
		t.Fatal(err)
	}
	value := fc.assemble(Value{Type: whole, Name: "w"}, located)
	typer := evaluator{env: e}
	for _, r := range []struct {
		path []string
		lost bool // a program does not find it
	}{
		{path: []string{"lo"}}, {path: []string{"hi"}}, {path: []string{"bits"}}, {path: []string{"in", "s"}}, {path: []string{"in", "c"}}, {path: []string{"in", "u"}},
		{path: []string{"m"}}, {path: []string{"m2"}}, {path: []string{"k"}}, {path: []string{"k2"}}, {path: []string{"a", "0"}}, {path: []string{"a", "3"}},
		{path: []string{"f"}}, {path: []string{"after"}}, {path: []string{"lost"}, lost: true}, {path: []string{"split"}, lost: true},
	} {
		k := &compiler{c: c, types: typer}
		o, v := operand{at: inPieces, v: Value{Type: whole, Name: "w"}, pieces: pieces}, value
		var err error
		for _, name := range r.path {
			if i := int64(name[0] - '0'); i < 10 {
				index := constant(intValue(typeInt, uint64(i)))
				v, _ = typer.element(v, i)
				o, err = k.element(o, index)
			} else {
				v, _ = member(v, name, e)
				o, _, err = k.member(o, name)
			}
			if err != nil {
				t.Fatalf("%s: %v", r.path, err)
			}
		}
		if o, err = k.read(o); err != nil || (k.lost != nil) != r.lost || (o.at != onStack) {
			t.Errorf("%s: %v, lost: %v", r.path, err, k.lost)
			continue
		}
		if r.lost {
			continue
		}
		want, err := numberOf(load(v, e))
		if err != nil {
			t.Errorf("%s: %v", r.path, err)
			continue
		}
		k.constant(want)
		k.emit(instruction{op: opEq, bits: 64})
		if same, err := (&Program{code: k.code}).Run(&e.regs, e); err != nil || !same {
			t.Errorf("%s: not %#x, or %v", r.path, want.i, err)
		}
	}
}
