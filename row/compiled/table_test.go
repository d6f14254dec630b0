package compiled_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// tableOf makes a table of n functions of 64 bytes. Each has a prologue that pushes some of the
// callee-saved registers, and four rows or more.
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
		p, _ := t.Lookup(regs.Stale(arch.RIP) - 1)
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

// BenchmarkWarm looks up and applies the same 108 frames again and again, with SP, FP, RA and all
// callee-saved registers.
func BenchmarkWarm(b *testing.B) { benchmarkWalk(b, 1000, 108, false) }

// BenchmarkWarmPlaces also keeps where each register is saved.
func BenchmarkWarmPlaces(b *testing.B) { benchmarkWalk(b, 1000, 108, true) }

// BenchmarkColdRows does the same for a stack in which almost each frame is of another one of
// 25,000 functions (more than 100,000 rows, four times libc's). The rows are compiled, but no cache
// has their PCs.
func BenchmarkColdRows(b *testing.B) { benchmarkWalk(b, 25_000, 20_000, false) }

// BenchmarkColdMemory has 250,000 functions, a million rows (as many as libLLVM), and 20 MB of
// stack. Neither is in the caches of the processor.
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

// TestJoin joins parts that overlap, touch or have gaps: no address gets the rules of another.
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
