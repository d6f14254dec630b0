package ehabi_test

import (
	"math/rand/v2"
	"testing"

	"dbg/arch"
	"dbg/ehabi"
	"dbg/expr"
	"dbg/row"
	"dbg/target"
)

// madeStack is the stack of a machine: a word's value depends on its address; eight bytes are their
// address, by which D registers are recognised.
type madeStack struct{}

func (madeStack) Word(addr target.Addr, size int) (uint64, error) {
	if size == 8 {
		return uint64(addr), nil
	}
	return uint64(wordAt(uint32(addr))), nil
}

func (s madeStack) ReadMemory(addr target.Addr, b []byte) (int, error) {
	v := wordAt(uint32(addr))
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	return len(b), nil
}

// TestRoundTrip holds the rows of random instructions, in each model, against a machine that executes
// the instructions one by one.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var start [16]uint32
	regs := arch.Registers{Arch: arch.ARM}
	for i := range start {
		start[i] = 0x40000000 + 0x1000*uint32(i)
		regs.Set(arch.Reg(i), uint64(start[i]))
	}
	const rounds = 20_000
	seen := map[ehabi.OpKind]int{}
	for n := range rounds {
		f := function{addr: 0x8000, model: ehabi.Model(1 + n%3), index: uint8(n / 3 % 3), personality: 0x9001, data: []byte{1, 2, 3, 4}}
		most := 200
		if f.model == ehabi.Inline || f.model == ehabi.Compact && f.index == 0 {
			most = 3
		}
		var m *machine
		f.code, m = randomCode(r, most, start)
		exidx, extab := encode([]function{f})
		tab := tableOf(exidx, extab)
		var e ehabi.Entry
		if err := tab.Find(0x8004, &e); err != nil || e.Model != f.model {
			t.Fatalf("%v: %+v, %v", f, e, err)
		}
		for i := range f.code {
			if e.Code.At(i) != f.code[i] {
				t.Fatalf("%v: byte %d is %#x", f, i, e.Code.At(i))
			}
		}
		for i := 0; i < e.Code.Len(); {
			op := e.Code.Op(i)
			seen[op.Kind]++
			i += op.Size
		}
		if lsda, ok := e.LSDA(); ok != (f.model == ehabi.Generic) || ok && lsda != extabAt+uint64(len(extab)-4) {
			t.Fatalf("%v: the LSDA is %#x, %v", f, lsda, ok)
		}
		var w row.Row
		if err := tab.Row(&e, &w); err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		core, d, err := describe(&w, start, &row.Env{Arch: arch.ARM, Regs: &regs, Mem: madeStack{}, Expr: &expr.Context{Mem: madeStack{}}})
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		check(t, f, &w, m, start, core, d)
	}
	for kind := range ehabi.Refuse {
		if seen[kind] < 100 {
			t.Errorf("instructions of kind %d were made %d times", kind, seen[kind])
		}
	}
}

// check compares the caller that a row computes with the machine.
func check(t *testing.T, f function, w *row.Row, m *machine, start [16]uint32, core map[arch.Reg]uint32, d map[int]uint64) {
	t.Helper()
	if core[13] != m.core[13] {
		t.Fatalf("%v: SP is %#x, want %#x; %s", f, core[13], m.core[13], w.Format(arch.ARM))
	}
	ra := m.core[15]
	if ra == start[15] { // not popped
		ra = m.core[14]
	}
	if core[15] != ra&^1 {
		t.Fatalf("%v: PC is %#x, want %#x; %s", f, core[15], ra, w.Format(arch.ARM))
	}
	for reg := range arch.Reg(13) {
		if v, set := core[reg]; set && v != m.core[reg] || !set && m.core[reg] != start[reg] {
			t.Fatalf("%v: r%d is %#x, %v, want %#x; %s", f, reg, v, set, m.core[reg], w.Format(arch.ARM))
		}
	}
	for i := range 32 {
		at, popped := m.d[i]
		if v, set := d[i]; set != popped || v != at&0xffffffff {
			t.Fatalf("%v: d%d is at %#x, %v, want %#x, %v; %s", f, i, v, set, at, popped, w.Format(arch.ARM))
		}
	}
}
