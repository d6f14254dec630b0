package row

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/target"
)

// Plan is a row's rules made ready to be run many times: which registers it reads at which
// offsets from the CFA. Only the common kind of row has a fast plan: a CFA that is a register
// plus an offset, registers saved at offsets from it, a 64-bit little-endian machine. Every other
// one is run by Apply; a fast plan gives the same result as Apply does.
//
// What a fast plan needs on x86-64 is one cache line.
type Plan struct {
	Fast   bool
	pac    bool
	inReg  bool // the return address is in the register raIn, else at ra
	wide   bool // registers above 63 have rules
	n      uint8
	cfaReg uint8
	pc, sp uint8
	cfaOff int32
	lo     int32  // what is read is from CFA+lo
	size   uint16 // and so long
	ra     uint8  // of it the return address, in words, or like saved
	raIn   uint8
	near   bool            // Finish needs no loop: few registers, close to each other
	keep   uint64          // the registers that pass through
	set    uint64          // the registers that are set, PC and SP among them
	saved  [inPlan]savedAt // of n; what is left names the PC, which is set last; of near plans in bytes
	more   *rest
}

// rest is what few need of a plan.
type rest struct {
	row       *Row
	keep, set arch.RegSet
	saved     []savedAt // those that Plan has no room for
}

// savedAt is a register below 64 and where it has been saved: an offset from what is read, in words, or in bytes in near plans.
type savedAt struct{ off, reg uint8 }

// Limits of fast plans.
const (
	inPlan   = 8
	unrolled = 6            // x86-64's callee-saved registers
	nearSpan = 264          // of what is read, usually
	nearMost = nearSpan - 8 // and how much of it a plan may read: slots are in the bytes of uint8
	maxSpan  = 256 * 8
)

// NewPlan makes a plan of r, which it copies. preserved are the registers that
// keep their value where the row says nothing of them.
func NewPlan(a *arch.Arch, r *Row, preserved arch.RegSet) *Plan {
	row := new(Row)
	row.CopyFrom(r)
	row.Lo, row.Hi, row.Source = 0, 0, 0
	p := &Plan{more: &rest{row: row}}
	p.Fast = p.prepare(a, preserved)
	return p
}

// ownPlans makes the plans of rows, which they keep, by number: the first, of none, says nothing.
func ownPlans(a *arch.Arch, rows []*Row, preserved arch.RegSet) []Plan {
	plans, more := make([]Plan, len(rows)+1), make([]rest, len(rows))
	for i, r := range rows {
		p := &plans[i+1]
		p.more = &more[i]
		p.more.row = r
		p.Fast = p.prepare(a, preserved)
	}
	return plans
}

// Row has the rules; Lo, Hi and Source are of no entry.
func (p *Plan) Row() *Row { return p.more.row }

func (p *Plan) prepare(a *arch.Arch, preserved arch.RegSet) bool {
	r := p.more.row
	if a.PtrSize != 8 || a.ByteOrder != binary.LittleEndian || r.CFA.Kind != InReg || r.Signal {
		return false
	}
	if r.CFA.N != int64(int32(r.CFA.N)) || r.CFA.Reg >= 64 {
		return false
	}
	p.cfaReg, p.cfaOff, p.pc, p.sp = uint8(r.CFA.Reg), int32(r.CFA.N), uint8(a.PC), uint8(a.SP)
	p.pac = a == arch.ARM64
	lo, hi, ok := span(r)
	if !ok {
		return false
	}
	keep, set := preserved, arch.SetOf(a.PC, a.SP)
	ra := false
	var few [inPlan]savedAt
	saved := few[:0]
	for i := range r.Regs {
		rr := &r.Regs[i]
		if rr.Reg == r.RA && rr.Kind != At || rr.Reg == a.SP && (rr.Kind != Val || rr.N != 0) {
			return false
		}
		switch rr.Kind {
		case Same:
			keep.Add(rr.Reg)
		case Undefined:
			keep.Remove(rr.Reg)
		case Val:
			if rr.Reg != a.SP {
				return false
			}
		case At:
			if rr.Reg == r.RA {
				ra, p.ra = true, uint8((rr.N-lo)/8)
			}
			keep.Remove(rr.Reg)
			if rr.Reg != a.PC {
				saved = append(saved, savedAt{reg: uint8(rr.Reg), off: uint8((rr.N - lo) / 8)})
				set.Add(rr.Reg)
			}
		default:
			return false
		}
	}
	keep.Remove(a.PC)
	keep.Remove(a.SP)
	if !ra {
		if r.RA != a.LR || a.LR >= 64 {
			return false
		}
		p.raIn, p.inReg = uint8(a.LR), true
	}
	p.lo, p.size, p.n = int32(lo), uint16(hi-lo), uint8(len(saved))
	for i := copy(p.saved[:], saved); i < inPlan; i++ {
		p.saved[i] = savedAt{reg: p.pc}
	}
	p.near = ra && !p.pac && len(saved) <= unrolled && hi-lo <= nearMost && keep[1]|set[1] == 0 // the PC is in set
	if p.near {
		p.ra *= 8
		for i := range p.saved {
			p.saved[i].off *= 8
		}
	}
	p.keep, p.set, p.wide = keep[0], set[0], keep[1]|set[1] != 0
	p.more.keep, p.more.set, p.more.saved = keep, set, slices.Clone(saved[min(len(saved), inPlan):])
	return true
}

// span is the memory that a row reads, as offsets from the CFA; false where it is not words, or too large.
func span(r *Row) (lo, hi int64, ok bool) {
	for i := range r.Regs {
		rr := &r.Regs[i]
		if rr.Kind != At {
			continue
		}
		if rr.N%8 != 0 || rr.N < -1<<30 || rr.N > 1<<30 {
			return 0, 0, false
		}
		if lo == hi {
			lo, hi = rr.N, rr.N+8
		}
		lo, hi = min(lo, rr.N), max(hi, rr.N+8)
	}
	return lo, hi, hi-lo <= maxSpan
}

// Sets is the set of registers that a fast plan gives the caller anew.
func (p *Plan) Sets() arch.RegSet { return p.more.set }

// Window is a piece of memory that is at hand.
type Window struct {
	Addr uint64
	Data []byte
}

// Step is the outcome of Plan.Begin, which Plan.Finish needs. It has no pointers and goes from one to the other in registers.
type Step struct {
	CFA uint64 // and the caller's SP
	PC  uint64 // the caller's
	at  int    // where in the window what is read begins, if nearSpan bytes are there and the plan is near; else far
	win uint64 // the window
}

const far = -1

// Begin computes the CFA and the return address. It is false where the plan
// is not fast or the window does not have the memory; Apply then tells what it is.
func (p *Plan) Begin(regs *arch.Registers, w *Window) (Step, bool) {
	if !p.near || !regs.IsLowKnown(arch.Reg(p.cfaReg)) {
		return p.beginFar(regs, w)
	}
	cfa := regs.RawLow(arch.Reg(p.cfaReg)) + uint64(int64(p.cfaOff))
	b, at := w.Data, int(cfa+uint64(int64(p.lo))-w.Addr)
	if at < 0 || at > len(b)-nearSpan {
		return p.beginFar(regs, w)
	}
	mem := (*[nearSpan]byte)(b[at : at+nearSpan])
	return Step{cfa, binary.LittleEndian.Uint64(mem[p.ra:]), at, w.Addr}, true
}

// base is where what is read begins.
func (p *Plan) base(cfa uint64) uint64 { return cfa + uint64(int64(p.lo)) }

// beginFar is Begin for plans of many registers or with a link register, and at the window's end.
func (p *Plan) beginFar(regs *arch.Registers, w *Window) (s Step, ok bool) {
	if !p.Fast || !regs.IsLowKnown(arch.Reg(p.cfaReg)) {
		return s, false
	}
	s.CFA = regs.RawLow(arch.Reg(p.cfaReg)) + uint64(int64(p.cfaOff))
	s.at = far
	mem := w.piece(p.base(s.CFA), p.size)
	if mem == nil {
		return s, false
	}
	if p.inReg {
		if !regs.IsLowKnown(arch.Reg(p.raIn)) {
			return s, false
		}
		s.PC = regs.RawLow(arch.Reg(p.raIn))
	} else {
		s.PC = binary.LittleEndian.Uint64(mem[p.at(p.ra):])
	}
	if p.pac {
		s.PC = StripPAC(s.PC)
	}
	return s, true
}

// Finish turns the frame's registers into its caller's; pl may be nil. Begin must have
// been true with the same registers and window.
func (p *Plan) Finish(regs *arch.Registers, pl *Places, w *Window, s Step) {
	b, at := w.Data, s.at
	if at < 0 || at > len(b)-nearSpan || w.Addr != s.win {
		p.finishFar(regs, pl, w, s)
		return
	}
	mem := (*[nearSpan]byte)(b[at : at+nearSpan])
	// Always six of them: a loop that ends after another number each time costs more.
	low := regs.Low()
	low[p.saved[0].reg&63] = binary.LittleEndian.Uint64(mem[p.saved[0].off:])
	low[p.saved[1].reg&63] = binary.LittleEndian.Uint64(mem[p.saved[1].off:])
	low[p.saved[2].reg&63] = binary.LittleEndian.Uint64(mem[p.saved[2].off:])
	low[p.saved[3].reg&63] = binary.LittleEndian.Uint64(mem[p.saved[3].off:])
	low[p.saved[4].reg&63] = binary.LittleEndian.Uint64(mem[p.saved[4].off:])
	low[p.saved[5].reg&63] = binary.LittleEndian.Uint64(mem[p.saved[5].off:])
	low[p.pc&63] = s.PC
	low[p.sp&63] = s.CFA
	regs.PassLow(p.keep, p.set)
	if pl != nil {
		p.places(pl, target.Addr(p.base(s.CFA)))
	}
}

// finishFar is Finish for what beginFar began.
func (p *Plan) finishFar(regs *arch.Registers, pl *Places, w *Window, s Step) {
	keep, set := p.more.keep, p.more.set
	if mem := w.piece(p.base(s.CFA), p.size); mem != nil {
		for _, sv := range p.saved[:min(p.n, inPlan)] {
			regs.SetRaw(arch.Reg(sv.reg), binary.LittleEndian.Uint64(mem[p.at(sv.off):]))
		}
		for _, sv := range p.more.saved {
			regs.SetRaw(arch.Reg(sv.reg), binary.LittleEndian.Uint64(mem[p.at(sv.off):]))
		}
	} else { // another window: what was saved is not known
		set = arch.SetOf(arch.Reg(p.pc), arch.Reg(p.sp))
	}
	regs.SetRaw(arch.Reg(p.pc), s.PC)
	regs.SetRaw(arch.Reg(p.sp), s.CFA)
	regs.Pass(&keep, &set)
	if pl != nil {
		p.places(pl, target.Addr(p.base(s.CFA)))
	}
}

// piece is n bytes from an address on, or nil.
func (w *Window) piece(addr uint64, n uint16) []byte {
	if at, b := addr-w.Addr, w.Data; at <= uint64(len(b)) && uint64(len(b))-at >= uint64(n) {
		return b[at : at+uint64(n)]
	}
	return nil
}

// at is the offset, in bytes, of a slot of the plan.
func (p *Plan) at(off uint8) uint {
	if p.near {
		return uint(off)
	}
	return 8 * uint(off)
}

// places says where the registers are that were read from base on.
func (p *Plan) places(pl *Places, base target.Addr) {
	for _, sv := range p.saved[:min(p.n, inPlan)] {
		pl.Addr[sv.reg] = base + target.Addr(p.at(sv.off))
	}
	for _, sv := range p.more.saved {
		pl.Addr[sv.reg] = base + target.Addr(p.at(sv.off))
	}
	pl.Addr[p.pc] = base + target.Addr(p.at(p.ra))
	keep, inMem := arch.RegSet{p.keep}, arch.RegSet{p.set}
	if p.wide {
		keep, inMem = p.more.keep, p.more.set
	}
	inMem.Remove(arch.Reg(p.sp))
	if p.inReg {
		inMem.Remove(arch.Reg(p.pc))
	}
	for i := range keep {
		pl.InMemory[i] = pl.InMemory[i]&keep[i] | inMem[i]
		pl.Live[i] &= keep[i]
	}
}
