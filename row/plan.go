package row

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/target"
)

// Plan is a row's rules made ready to be run many times: which registers it reads at which
// offsets from the CFA. Only the common kind of row has a fast plan: a CFA that is a register
// plus an offset, registers saved at offsets from it, a 64-bit little-endian machine. Every other
// one is run by Apply; a fast plan gives the same result as Apply does.
type Plan struct {
	Fast   bool
	pac    bool
	inReg  bool // the return address is in the register raIn, else at ra
	n      uint8
	cfaReg uint8
	pc, sp uint8
	raIn   uint8
	cfaOff int32
	lo     int32       // what is read is from CFA+lo
	size   uint32      // and so long
	ra     uint32      // of it the return address
	keep   arch.RegSet // the registers that pass through
	set    arch.RegSet // the registers that are set, PC and SP among them
	saved  [maxSaved]savedAt
	inMem  arch.RegSet // those of set that are in memory
	Row    Row         // the rules; Lo, Hi and Source are of no entry
}

// savedAt is a register and its offset from the lowest word that is read.
type savedAt struct {
	off uint16
	reg uint8
}

// Limits of fast plans: what the largest set of callee-saved registers (RISC-V's) needs.
const (
	maxSaved = 26
	maxSpan  = 32 << 10
)

// NewPlan makes a plan of r, which it copies. preserved are the registers that
// keep their value where the row says nothing of them.
func NewPlan(a *arch.Arch, r *Row, preserved arch.RegSet) *Plan {
	p := &Plan{}
	p.Row.CopyFrom(r)
	p.Row.Lo, p.Row.Hi, p.Row.Source = 0, 0, 0
	p.Fast = p.prepare(a, preserved)
	return p
}

func (p *Plan) prepare(a *arch.Arch, preserved arch.RegSet) bool {
	r := &p.Row
	if a.PtrSize != 8 || a.ByteOrder != binary.LittleEndian || r.CFA.Kind != InReg || r.Signal {
		return false
	}
	if r.CFA.N != int64(int32(r.CFA.N)) || r.CFA.Reg >= arch.MaxRegs {
		return false
	}
	p.cfaReg, p.cfaOff, p.pc, p.sp = uint8(r.CFA.Reg), int32(r.CFA.N), uint8(a.PC), uint8(a.SP)
	p.keep, p.pac = preserved, a == arch.ARM64
	lo, hi := int64(0), int64(-1<<62)
	ra, raAt := false, int64(0)
	for i := range r.Regs {
		rr := &r.Regs[i]
		if rr.Reg == a.SP && (rr.Kind != Val || rr.N != 0) {
			return false
		}
		switch rr.Kind {
		case Same:
			p.keep.Add(rr.Reg)
		case Undefined:
			p.keep.Remove(rr.Reg)
		case Val:
			if rr.Reg != a.SP {
				return false
			}
		case At:
			if rr.N%8 != 0 || rr.N < -maxSpan || rr.N >= maxSpan {
				return false
			}
			lo, hi = min(lo, rr.N), max(hi, rr.N+8)
			if rr.Reg == r.RA {
				ra, raAt = true, rr.N
			}
			p.keep.Remove(rr.Reg)
			if rr.Reg != a.PC {
				if int(p.n) == maxSaved {
					return false
				}
				p.saved[p.n] = savedAt{reg: uint8(rr.Reg), off: uint16(rr.N + maxSpan)}
				p.n++
				p.inMem.Add(rr.Reg)
			}
		default:
			return false
		}
		if rr.Reg == r.RA && rr.Kind != At {
			return false
		}
	}
	p.keep.Remove(a.PC)
	p.keep.Remove(a.SP)
	switch {
	case ra:
		p.inMem.Add(a.PC)
	case r.RA == a.LR && a.LR != arch.NoReg:
		p.raIn, p.inReg = uint8(a.LR), true
		hi = max(hi, lo)
	default:
		return false
	}
	for i := range p.n {
		p.saved[i].off = uint16(int64(p.saved[i].off) - maxSpan - lo)
	}
	p.lo, p.size = int32(lo), uint32(hi-lo)
	if ra {
		p.ra = uint32(raAt - lo)
	}
	p.set = p.inMem
	p.set.Add(a.PC)
	p.set.Add(a.SP)
	return true
}

// Sets is the set of registers that a fast plan gives the caller anew.
func (p *Plan) Sets() arch.RegSet { return p.set }

// Window is a piece of memory that is at hand.
type Window struct {
	Addr uint64
	Data []byte
}

// Step is the outcome of Plan.Begin, which Plan.Finish needs.
type Step struct {
	CFA uint64 // and the caller's SP
	PC  uint64 // the caller's
	at  uint64 // the index of the lowest word in the window
}

// Begin computes the CFA and the return address. It is false where the plan
// is not fast or the window does not have the memory; Apply then tells what it is.
func (p *Plan) Begin(regs *arch.Registers, w *Window, s *Step) bool {
	if !p.Fast || !regs.IsKnown(arch.Reg(p.cfaReg)) {
		return false
	}
	cfa := regs.Raw(arch.Reg(p.cfaReg)) + uint64(int64(p.cfaOff))
	at := cfa + uint64(int64(p.lo)) - w.Addr
	if n := uint64(len(w.Data)); at > n || n-at < uint64(p.size) {
		return false
	}
	s.CFA, s.at = cfa, at
	if p.inReg {
		if !regs.IsKnown(arch.Reg(p.raIn)) {
			return false
		}
		s.PC = regs.Raw(arch.Reg(p.raIn))
	} else {
		s.PC = binary.LittleEndian.Uint64(w.Data[at+uint64(p.ra):])
	}
	if p.pac {
		s.PC = StripPAC(s.PC)
	}
	return true
}

// Finish turns the frame's registers into its caller's; pl may be nil. Begin must have
// been true with the same registers and window.
func (p *Plan) Finish(regs *arch.Registers, pl *Places, w *Window, s *Step) {
	mem := w.Data[s.at : s.at+uint64(p.size)]
	saved := p.saved[:p.n]
	for i := range saved {
		sv := saved[i]
		regs.SetRaw(arch.Reg(sv.reg), binary.LittleEndian.Uint64(mem[sv.off:]))
	}
	regs.SetRaw(arch.Reg(p.pc), s.PC)
	regs.SetRaw(arch.Reg(p.sp), s.CFA)
	regs.Pass(&p.keep, &p.set)
	if pl == nil {
		return
	}
	base := target.Addr(w.Addr + s.at)
	for i := range saved {
		pl.Addr[saved[i].reg] = base + target.Addr(saved[i].off)
	}
	pl.Addr[p.pc] = base + target.Addr(p.ra)
	pl.InMemory[0] = pl.InMemory[0]&p.keep[0] | p.inMem[0]
	pl.InMemory[1] = pl.InMemory[1]&p.keep[1] | p.inMem[1]
	pl.Live[0] &= p.keep[0]
	pl.Live[1] &= p.keep[1]
}
