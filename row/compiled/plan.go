package compiled

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// Plan is a row's rules made ready to be run many times: which registers it reads at which
// offsets from the CFA. Only the common kind of row has a fast plan: a CFA that is a register
// plus an offset, registers saved at offsets from it, a 64-bit little-endian machine. Every other
// one is run by Apply; a fast plan gives the same result as Apply does.
//
// It is one cache line.
type Plan struct {
	Near
	Fast  bool
	pac   bool
	inReg bool // the return address is in the register raIn, else at RA
	wide  bool // registers above 63 have rules
	n     uint8
	raIn  uint8
	size  uint16 // of what is read from CFA+Lo on
	more  *rest
}

// Near is the part of a plan that says all where OK is true: a return address in memory, few registers, close to each other. It
// is open to those who run many of them, one after the other.
type Near struct {
	OK     bool
	CFAReg uint8
	PC, SP uint8
	CFAOff int32
	Lo     int32        // what is read is from CFA+Lo
	RA     uint8        // of it the return address, like Saved
	Keep   uint64       // the registers that pass through
	Set    uint64       // the registers that are set, PC and SP among them
	Saved  [inPlan]Slot // what is left names the PC, which is set last
}

// rest is what few need of a plan.
type rest struct {
	row       *row.Row
	keep, set arch.RegSet
	saved     []Slot // those that Plan has no room for
}

// Slot is a register below 64 and where it has been saved: an offset from what is read, in words, or in bytes in near plans.
type Slot struct{ Off, Reg uint8 }

// Limits of fast plans.
const (
	inPlan   = 8
	unrolled = 6            // x86-64's callee-saved registers
	NearSpan = 264          // of what is read, usually
	nearMost = NearSpan - 8 // and how much of it a plan may read: slots are in the bytes of uint8
	maxSpan  = 256 * 8
)

// NewPlan makes a plan of r, which it copies. preserved are the registers that
// keep their value where the row says nothing of them.
func NewPlan(a *arch.Arch, r *row.Row, preserved arch.RegSet) *Plan {
	own := new(row.Row)
	own.CopyFrom(r)
	own.Lo, own.Hi, own.Source = 0, 0, 0
	p := &Plan{more: &rest{row: own}}
	p.Fast = p.prepare(a, preserved)
	return p
}

// ownPlans makes the plans of rows, which they keep, by number: the first, of none, says nothing.
func ownPlans(a *arch.Arch, rows []*row.Row, preserved arch.RegSet) []Plan {
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
func (p *Plan) Row() *row.Row { return p.more.row }

func (p *Plan) prepare(a *arch.Arch, preserved arch.RegSet) bool {
	r := p.more.row
	if a.PtrSize != 8 || a.ByteOrder != binary.LittleEndian || r.CFA.Kind != row.InReg || r.Signal {
		return false
	}
	if r.CFA.N != int64(int32(r.CFA.N)) || r.CFA.Reg >= 64 {
		return false
	}
	p.CFAReg, p.CFAOff, p.PC, p.SP = uint8(r.CFA.Reg), int32(r.CFA.N), uint8(a.PC), uint8(a.SP)
	p.pac = a == arch.ARM64
	lo, hi, ok := span(r)
	if !ok {
		return false
	}
	keep, set := preserved, arch.SetOf(a.PC, a.SP)
	ra := false
	var few [inPlan]Slot
	saved := few[:0]
	for i := range r.Regs {
		rr := &r.Regs[i]
		if rr.Reg == r.RA && rr.Kind != row.At || rr.Reg == a.SP && (rr.Kind != row.Val || rr.N != 0) {
			return false
		}
		switch rr.Kind {
		case row.Same:
			keep.Add(rr.Reg)
		case row.Undefined:
			keep.Remove(rr.Reg)
		case row.Val:
			if rr.Reg != a.SP {
				return false
			}
		case row.At:
			if rr.Reg == r.RA {
				ra, p.RA = true, uint8((rr.N-lo)/8)
			}
			keep.Remove(rr.Reg)
			if rr.Reg != a.PC {
				saved = append(saved, Slot{Reg: uint8(rr.Reg), Off: uint8((rr.N - lo) / 8)})
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
	p.Lo, p.size, p.n = int32(lo), uint16(hi-lo), uint8(len(saved))
	for i := copy(p.Saved[:], saved); i < inPlan; i++ {
		p.Saved[i] = Slot{Reg: p.PC}
	}
	p.OK = ra && !p.pac && len(saved) <= unrolled && hi-lo <= nearMost && keep[1]|set[1] == 0 // the PC is in set
	if p.OK {
		p.RA *= 8
		for i := range p.Saved {
			p.Saved[i].Off *= 8
		}
	}
	p.Keep, p.Set, p.wide = keep[0], set[0], keep[1]|set[1] != 0
	p.more.keep, p.more.set, p.more.saved = keep, set, slices.Clone(saved[min(len(saved), inPlan):])
	return true
}

// span is the memory that a row reads, as offsets from the CFA; false where it is not words, or too large.
func span(r *row.Row) (lo, hi int64, ok bool) {
	for i := range r.Regs {
		rr := &r.Regs[i]
		if rr.Kind != row.At {
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
	at  int    // where in the window what is read begins, if NearSpan bytes are there and the plan is near; else far
	win uint64 // the window
}

const far = -1

// Begin computes the CFA and the return address. It is false where the plan
// is not fast or the window does not have the memory; Apply then tells what it is.
func (p *Plan) Begin(regs *arch.Registers, w *Window) (Step, bool) {
	if !p.OK || !regs.IsLowKnown(arch.Reg(p.CFAReg)) {
		return p.beginFar(regs, w)
	}
	cfa := regs.RawLow(arch.Reg(p.CFAReg)) + uint64(int64(p.CFAOff))
	b, at := w.Data, int(cfa+uint64(int64(p.Lo))-w.Addr)
	if at < 0 || at > len(b)-NearSpan {
		return p.beginFar(regs, w)
	}
	mem := (*[NearSpan]byte)(b[at : at+NearSpan])
	return Step{cfa, binary.LittleEndian.Uint64(mem[p.RA:]), at, w.Addr}, true
}

// base is where what is read begins.
func (p *Plan) base(cfa uint64) uint64 { return cfa + uint64(int64(p.Lo)) }

// beginFar is Begin for plans of many registers or with a link register, and at the window's end.
func (p *Plan) beginFar(regs *arch.Registers, w *Window) (s Step, ok bool) {
	if !p.Fast || !regs.IsLowKnown(arch.Reg(p.CFAReg)) {
		return s, false
	}
	s.CFA = regs.RawLow(arch.Reg(p.CFAReg)) + uint64(int64(p.CFAOff))
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
		s.PC = binary.LittleEndian.Uint64(mem[p.at(p.RA):])
	}
	if p.pac {
		s.PC = row.StripPAC(s.PC)
	}
	return s, true
}

// Finish turns the frame's registers into its caller's; pl may be nil. Begin must have
// been true with the same registers and window.
func (p *Plan) Finish(regs *arch.Registers, pl *row.Places, w *Window, s Step) {
	b, at := w.Data, s.at
	if at < 0 || at > len(b)-NearSpan || w.Addr != s.win {
		p.finishFar(regs, pl, w, s)
		return
	}
	mem := (*[NearSpan]byte)(b[at : at+NearSpan])
	// Always six of them: a loop that ends after another number each time costs more.
	low := regs.Low()
	low[p.Saved[0].Reg&63] = binary.LittleEndian.Uint64(mem[p.Saved[0].Off:])
	low[p.Saved[1].Reg&63] = binary.LittleEndian.Uint64(mem[p.Saved[1].Off:])
	low[p.Saved[2].Reg&63] = binary.LittleEndian.Uint64(mem[p.Saved[2].Off:])
	low[p.Saved[3].Reg&63] = binary.LittleEndian.Uint64(mem[p.Saved[3].Off:])
	low[p.Saved[4].Reg&63] = binary.LittleEndian.Uint64(mem[p.Saved[4].Off:])
	low[p.Saved[5].Reg&63] = binary.LittleEndian.Uint64(mem[p.Saved[5].Off:])
	low[p.PC&63] = s.PC
	low[p.SP&63] = s.CFA
	regs.PassLow(p.Keep, p.Set)
	if pl != nil {
		p.places(pl, target.Addr(p.base(s.CFA)))
	}
}

// finishFar is Finish for what beginFar began.
func (p *Plan) finishFar(regs *arch.Registers, pl *row.Places, w *Window, s Step) {
	keep, set := p.more.keep, p.more.set
	if mem := w.piece(p.base(s.CFA), p.size); mem != nil {
		for _, sv := range p.Saved[:min(p.n, inPlan)] {
			regs.SetRaw(arch.Reg(sv.Reg), binary.LittleEndian.Uint64(mem[p.at(sv.Off):]))
		}
		for _, sv := range p.more.saved {
			regs.SetRaw(arch.Reg(sv.Reg), binary.LittleEndian.Uint64(mem[p.at(sv.Off):]))
		}
	} else { // another window: what was saved is not known
		set = arch.SetOf(arch.Reg(p.PC), arch.Reg(p.SP))
	}
	regs.SetRaw(arch.Reg(p.PC), s.PC)
	regs.SetRaw(arch.Reg(p.SP), s.CFA)
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
	if p.OK {
		return uint(off)
	}
	return 8 * uint(off)
}

// places says where the registers are that were read from base on.
func (p *Plan) places(pl *row.Places, base target.Addr) {
	for _, sv := range p.Saved[:min(p.n, inPlan)] {
		pl.Addr[sv.Reg] = base + target.Addr(p.at(sv.Off))
	}
	for _, sv := range p.more.saved {
		pl.Addr[sv.Reg] = base + target.Addr(p.at(sv.Off))
	}
	pl.Addr[p.PC] = base + target.Addr(p.at(p.RA))
	keep, inMem := arch.RegSet{p.Keep}, arch.RegSet{p.Set}
	if p.wide {
		keep, inMem = p.more.keep, p.more.set
	}
	inMem.Remove(arch.Reg(p.SP))
	if p.inReg {
		inMem.Remove(arch.Reg(p.PC))
	}
	for i := range keep {
		pl.InMemory[i] = pl.InMemory[i]&keep[i] | inMem[i]
		pl.Live[i] &= keep[i]
	}
}
