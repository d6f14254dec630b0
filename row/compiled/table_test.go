package compiled_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
	"dbg/target"
)

// tableOf makes a table of n functions of 64 bytes, each with a prologue that pushes some of the callee-saved
// registers: four rows or more each.
func tableOf(n int) (*compiled.Table, []uint64) {
	b := compiled.NewBuilder(n)
	var size []uint64 // of each function's frame, in its body
	pushed := [][]arch.Reg{{arch.RBX}, {arch.RBP, arch.RBX}, {arch.R12, arch.RBP, arch.RBX}, {arch.R15, arch.R14, arch.R13, arch.R12, arch.RBP, arch.RBX}, {}}
	for i := range n {
		lo := uint64(0x1000 + 64*i)
		regs := pushed[i%len(pushed)]
		r := row.Row{RA: arch.RIP, CFA: row.Rule{Kind: row.InReg, Reg: arch.RSP, N: 8}}
		r.Set(arch.RIP, row.Rule{Kind: row.At, N: -8})
		at := lo
		for _, reg := range regs {
			b.Add(at, at+2, &r, compiled.HashRow(&r))
			at += 2
			r.CFA.N += 8
			r.Set(reg, row.Rule{Kind: row.At, N: -r.CFA.N})
		}
		b.Add(at, at+4, &r, compiled.HashRow(&r))
		r.CFA.N += int64(16 + 16*(i%7))
		b.Add(at+4, lo+60, &r, compiled.HashRow(&r))
		size = append(size, uint64(r.CFA.N))
	}
	return compiled.Join(arch.AMD64, []*compiled.Builder{b}, arch.AMD64.CalleeSavedSet), size
}

// stackOf is a stack of depth frames of random functions, and the registers of its innermost one.
func stackOf(depth, functions int, size []uint64, rnd *rand.Rand) (*compiled.Window, arch.Registers) {
	w := &compiled.Window{Addr: 0x7ff000000000}
	regs := arch.Registers{Arch: arch.AMD64}
	for _, r := range arch.AMD64.CalleeSaved {
		regs.Set(r, 1)
	}
	regs.Set(arch.RSP, w.Addr)
	fn := rnd.IntN(functions)
	regs.Set(arch.RIP, uint64(0x1000+64*fn+30))
	for range depth {
		frame := make([]byte, size[fn])
		fn = rnd.IntN(functions)
		binary.LittleEndian.PutUint64(frame[len(frame)-8:], uint64(0x1000+64*fn+30))
		w.Data = append(w.Data, frame...)
	}
	return w, regs
}

func walk(t *compiled.Table, w *compiled.Window, regs *arch.Registers, pl *row.Places, depth int) int {
	n := 0
	for ; n < depth; n++ {
		p, _ := t.Lookup(regs.Raw(arch.RIP) - 1)
		if p == nil {
			break
		}
		s, ok := p.Begin(regs, w)
		if !ok {
			break
		}
		p.Finish(regs, pl, w, s)
	}
	return n
}

func TestTableWalk(t *testing.T) {
	table, size := tableOf(1000)
	w, start := stackOf(200, 1000, size, rand.New(rand.NewPCG(1, 2)))
	regs := start
	var pl row.Places
	if n := walk(table, w, &regs, &pl, 200); n != 200 {
		t.Errorf("%d frames", n)
	}
	if sp, _ := regs.SP(); sp != w.Addr+uint64(len(w.Data)) {
		t.Errorf("sp 0x%x", sp)
	}
	if n := testing.AllocsPerRun(10, func() { r := start; walk(table, w, &r, &pl, 200) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkWarm is look-up and apply with SP, FP, RA and all callee-saved registers, in process memory: the
// same 108 frames again and again.
func BenchmarkWarm(b *testing.B) { benchmarkWalk(b, 1000, 108, false) }

// BenchmarkWarmPlaces also keeps where each register is saved.
func BenchmarkWarmPlaces(b *testing.B) { benchmarkWalk(b, 1000, 108, true) }

// BenchmarkColdRows is the same for a stack in which nearly each frame is of another one of 25,000 functions (more than 100,000
// rows, four times libc's): the rows are compiled, their PCs are in no cache.
func BenchmarkColdRows(b *testing.B) { benchmarkWalk(b, 25_000, 20_000, false) }

// BenchmarkColdMemory has 250,000 functions, a million rows (as many as libLLVM), and 20 MB of stack: neither they nor the stack are
// in a processor's own caches.
func BenchmarkColdMemory(b *testing.B) { benchmarkWalk(b, 250_000, 200_000, false) }

func benchmarkWalk(b *testing.B, functions, depth int, places bool) {
	table, size := tableOf(functions)
	w, start := stackOf(depth, functions, size, rand.New(rand.NewPCG(1, 2)))
	var pl *row.Places
	if places {
		pl = &row.Places{}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		regs := start
		n += walk(table, w, &regs, pl, depth)
	}
}

// A fast plan gives what Apply gives: for random rows, all registers, places and the CFA.
func TestPlanIsApply(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	fast := 0
	for range 20_000 {
		a := []*arch.Arch{arch.AMD64, arch.ARM64, arch.RISCV64}[rnd.IntN(3)]
		r := randomRow(a, rnd)
		p := compiled.NewPlan(a, r, a.CalleeSavedSet)
		if !p.Fast {
			continue
		}
		w := &compiled.Window{Addr: 0x10000, Data: make([]byte, 4096)}
		for i := range w.Data {
			w.Data[i] = byte(rnd.Uint32())
		}
		regs := &arch.Registers{Arch: a}
		for reg := range arch.Reg(70) {
			if rnd.IntN(5) > 0 {
				regs.Set(reg, 0x10000+2048+8*uint64(rnd.IntN(20)))
			}
		}
		known := regs.Known()
		pl := row.Places{Live: known}
		regs1, pl1 := *regs, pl
		s, ok := p.Begin(&regs1, w)
		if ok {
			p.Finish(&regs1, &pl1, w, s)
		}
		var c row.Caller
		err := row.Apply(r, &row.Env{Arch: a, Regs: regs, Mem: windowWords{w}}, &c)
		if err != nil || c.End {
			if ok {
				t.Fatalf("%s: Apply fails (%v), the plan does not", r.Format(a), err)
			}
			continue
		}
		if !ok {
			continue
		}
		fast++
		c.Commit(regs, &pl)
		if s.CFA != c.CFA || s.PC != c.PC || regs1.Known() != regs.Known() || pl1.InMemory != pl.InMemory || pl1.Live != pl.Live {
			t.Fatalf("%s %s: CFA 0x%x 0x%x, PC 0x%x 0x%x, known %v %v, in memory %v %v, live %v %v", a.Name, r.Format(a), s.CFA, c.CFA, s.PC, c.PC,
				regs1.Known(), regs.Known(), pl1.InMemory, pl.InMemory, pl1.Live, pl.Live)
		}
		for reg := range arch.Reg(arch.MaxRegs) {
			v1, k1 := regs1.Get(reg)
			v, k := regs.Get(reg)
			if v1 != v || k1 != k || pl.InMemory.Has(reg) && pl.Addr[reg] != pl1.Addr[reg] {
				t.Fatalf("%s %s: %s is 0x%x %v at %v, want 0x%x %v at %v", a.Name, r.Format(a), a.RegName(reg), v1, k1, pl1.Addr[reg], v, k, pl.Addr[reg])
			}
		}
	}
	if fast < 2000 {
		t.Errorf("only %d rows were compared", fast)
	}
}

type windowWords struct{ w *compiled.Window }

func (m windowWords) Word(addr target.Addr, size int) (uint64, error) {
	off := uint64(addr) - m.w.Addr
	if off >= uint64(len(m.w.Data)) || uint64(len(m.w.Data))-off < uint64(size) {
		return 0, &target.MemoryError{Addr: addr}
	}
	return binary.LittleEndian.Uint64(m.w.Data[off:]), nil
}

func randomRow(a *arch.Arch, rnd *rand.Rand) *row.Row {
	r := &row.Row{CFA: row.Rule{Kind: row.InReg, Reg: a.SP, N: int64(8 * rnd.IntN(10))}, RA: a.PC}
	if a.LR != arch.NoReg {
		r.RA = a.LR
	}
	if rnd.IntN(4) == 0 {
		r.CFA.Reg = a.FP
	}
	if rnd.IntN(5) > 0 {
		r.Set(r.RA, row.Rule{Kind: row.At, N: -8})
	}
	for range rnd.IntN(6) {
		reg := arch.Reg(rnd.IntN(34))
		switch rnd.IntN(8) {
		case 0:
			r.Set(reg, row.Rule{Kind: row.Same})
		case 1:
			r.Set(reg, row.Rule{Kind: row.Undefined})
		case 2:
			r.Set(a.SP, row.Rule{Kind: row.Val})
		default:
			r.Set(reg, row.Rule{Kind: row.At, N: int64(-8 * rnd.IntN(40))})
		}
	}
	return r
}

// Parts that overlap, touch or have gaps: no address gets the rules of another.
func TestJoin(t *testing.T) {
	mk := func(n int64) *row.Row {
		return &row.Row{RA: arch.RIP, CFA: row.Rule{Kind: row.InReg, Reg: arch.RSP, N: n}, Regs: []row.RegRule{{Reg: arch.RIP, Rule: row.Rule{Kind: row.At, N: -8}}}}
	}
	one, two := compiled.NewBuilder(1), compiled.NewBuilder(1)
	add := func(b *compiled.Builder, lo, hi uint64, n int64) { r := mk(n); b.Add(lo, hi, r, compiled.HashRow(r)) }
	add(one, 0x100, 0x110, 8)
	add(one, 0x110, 0x120, 16)
	add(one, 0x130, 0x140, 8)  // a gap before it
	add(one, 0x138, 0x148, 24) // overlaps
	one.AskDecoder(0x148, 0x150)
	add(two, 0x14c, 0x160, 32) // overlaps the end of the other part
	add(two, 0x170, 0x180, 16)
	table := compiled.Join(arch.AMD64, []*compiled.Builder{one, two}, arch.AMD64.CalleeSavedSet)
	for pc, want := range map[uint64]int64{0xff: -1, 0x100: 8, 0x10f: 8, 0x110: 16, 0x11f: 16, 0x120: -1, 0x12f: -1, 0x130: 8, 0x137: 8, 0x138: -2, 0x147: -2,
		0x148: -2, 0x14f: -2, 0x150: 32, 0x15f: 32, 0x160: -1, 0x170: 16, 0x17f: 16, 0x180: -1, 0: -1, 1<<64 - 1: -1, 0x100 + 1<<32: -1} {
		p, n := table.Lookup(pc)
		got := int64(-1)
		switch {
		case p != nil:
			got = p.Row().CFA.N
		case n == compiled.AskDecoder:
			got = -2
		}
		if got != want {
			t.Errorf("0x%x: %d, want %d", pc, got, want)
		}
	}
}
