package compiled

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/row"
)

// Plan holds the rules of a row, prepared to be run many times: which registers are read, at which
// offsets from the CFA. Begin and Finish run it.
//
// Only common rules have a fast plan: the CFA is a register plus an offset, registers are saved at
// offsets from it, and the machine is a 64-bit little-endian one. row.Apply runs all others. A fast
// plan gives the same result as row.Apply.
//
// A Plan is one cache line.
type Plan struct {
	Near
	Fast  bool
	pac   bool   // the return address may have a pointer authentication code
	inReg bool   // the return address is in the register raIn, else at RA
	wide  bool   // registers above 63 have rules
	n     uint8  // number of saved registers, without the return address
	raIn  uint8  // the register of the return address
	size  uint16 // number of bytes that are read from CFA+Lo on
	more  *rest
}

// Near holds the fields of a Plan that suffice when OK is set. OK is set for common fast plans: the
// return address is in memory, few registers are saved, and they are close to each other. The
// fields are exported for loops that run many plans: see Walk.Trace in package frames.
type Near struct {
	OK     bool
	CFAReg uint8 // the CFA is CFAReg+CFAOff
	PC, SP uint8
	CFAOff int32
	Lo     int32        // memory is read from CFA+Lo on
	RA     uint8        // offset of the return address from CFA+Lo, like Slot.Off
	Keep   uint64       // the registers whose value does not change
	Set    uint64       // the registers that get a value; includes PC and SP
	Saved  [inPlan]Slot // unused slots name the PC, which is set last
}

// rest holds the parts of a plan that are rarely needed.
type rest struct {
	row       *row.Row
	keep, set arch.RegSet
	saved     []Slot // slots beyond those in Near.Saved
}

// Slot is a register below 64 and its place. Off is an offset from CFA+Lo: in bytes if Near.OK is
// set, else in words.
type Slot struct{ Off, Reg uint8 }

// Limits of fast plans.
const (
	inPlan   = 8   // slots in a Plan
	unrolled = 6   // slots that a near plan uses: x86-64 has six callee-saved registers
	NearSpan = 264 // bytes that must be in the window from CFA+Lo on, to run a near plan

	nearMost = NearSpan - 8 // bytes in which the slots of a near plan lie: their offsets are uint8
	maxSpan  = 256 * 8      // bytes in which the slots of any fast plan lie: their offsets are words
)

// NewPlan makes a plan from a copy of r. The preserved registers keep their value if r has no rule
// for them.
func NewPlan(a *arch.Arch, r *row.Row, preserved arch.RegSet) *Plan {
	own := new(row.Row)
	own.CopyFrom(r)
	own.Lo, own.Hi, own.Source = 0, 0, 0
	p := &Plan{more: &rest{row: own}}
	p.Fast = p.prepare(a, preserved)
	return p
}

// plansOf makes a plan for each of the rows, and retains the rows. The plan of rows[n] has the
// number n+1: the number 0 is NoRule, and its plan is empty.
func plansOf(a *arch.Arch, rows []*row.Row, preserved arch.RegSet) []Plan {
	plans, more := make([]Plan, len(rows)+1), make([]rest, len(rows))
	for i, r := range rows {
		p := &plans[i+1]
		p.more = &more[i]
		p.more.row = r
		p.Fast = p.prepare(a, preserved)
	}
	return plans
}

// Row returns the rules. Its Lo, Hi and Source are zero. The caller must not change it.
func (p *Plan) Row() *row.Row { return p.more.row }

// Sets returns the registers that a fast plan reads or computes for the caller.
func (p *Plan) Sets() arch.RegSet { return p.more.set }

// prepare fills the plan from its row. It returns false if the rules have no fast plan.
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

// span returns the memory that a row reads, as offsets from the CFA. It returns false if that
// memory is not made of aligned words, or is too large.
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
