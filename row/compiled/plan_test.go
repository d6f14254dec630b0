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

// TestPlanIsApply compares fast plans with Apply, for random rows: all registers, places and the
// CFA.
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
