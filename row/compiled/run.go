package compiled

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// Window is a piece of the process's memory that was read before.
type Window struct {
	Addr uint64
	Data []byte
}

// Step is the result of Plan.Begin, for Plan.Finish. It has no pointers, so that it is passed in
// registers.
type Step struct {
	CFA uint64 // also the caller's SP
	PC  uint64 // the caller's PC
	at  int    // the offset of CFA+Lo in the window, or far
	win uint64 // the window's address
}

// far is Step.at if the plan is not near, or if the window has fewer than NearSpan bytes from
// CFA+Lo on. Then Finish checks the bounds again.
const far = -1

// Begin computes the CFA and the return address, and changes nothing. It returns false if the plan
// is not fast, if a register has no value, or if the memory is not in w. Then row.Apply must be
// called.
func (p *Plan) Begin(regs *arch.Registers, w *Window) (Step, bool) {
	low := regs.Low()
	if !p.OK || low.Known>>(p.CFAReg&63)&1 == 0 {
		return p.beginFar(regs, w)
	}
	cfa := low.Value[p.CFAReg&63] + uint64(int64(p.CFAOff))
	b, at := w.Data, int(cfa+uint64(int64(p.Lo))-w.Addr)
	if at < 0 || at > len(b)-NearSpan {
		return p.beginFar(regs, w)
	}
	mem := (*[NearSpan]byte)(b[at : at+NearSpan])
	return Step{cfa, binary.LittleEndian.Uint64(mem[p.RA:]), at, w.Addr}, true
}

// Finish turns the registers of the frame into those of its caller, and the places too if pl is not
// nil. Begin must have returned s with the same registers and window.
func (p *Plan) Finish(regs *arch.Registers, pl *row.Places, w *Window, s Step) {
	b, at := w.Data, s.at
	if at < 0 || at > len(b)-NearSpan || w.Addr != s.win {
		p.finishFar(regs, pl, w, s)
		return
	}
	mem := (*[NearSpan]byte)(b[at : at+NearSpan])
	low := regs.Low()
	p.RestoreFirst(low, mem)
	p.RestoreLast(low, mem, s.PC, s.CFA)
	low.Known = low.Known&p.Keep | p.Set
	regs.KeepLow()
	if pl != nil {
		p.places(pl, target.Addr(p.base(s.CFA)))
	}
}

// RestoreFirst and RestoreLast write the caller's registers to low. mem is the memory from CFA+Lo
// on. Near.OK must be set. They leave low.Known to the caller: known in the caller's frame are the
// registers of Set, and those of Keep that are known in the callee.
//
// They always read six slots: the processor mispredicts the end of a loop whose length varies. The
// compiler inlines both methods. It does not inline one method of this size, and the call takes
// 1.2 ns: 6.1 instead of 4.9 ns for a frame (BenchmarkLookupApply in package frames, AMD EPYC).
func (n *Near) RestoreFirst(low *arch.Bank, mem *[NearSpan]byte) {
	low.Value[n.Saved[0].Reg&63] = binary.LittleEndian.Uint64(mem[n.Saved[0].Off:])
	low.Value[n.Saved[1].Reg&63] = binary.LittleEndian.Uint64(mem[n.Saved[1].Off:])
	low.Value[n.Saved[2].Reg&63] = binary.LittleEndian.Uint64(mem[n.Saved[2].Off:])
}

// RestoreLast does the rest. Call it after RestoreFirst: unused slots overwrite the PC, and it sets
// the PC last.
func (n *Near) RestoreLast(low *arch.Bank, mem *[NearSpan]byte, pc, cfa uint64) {
	low.Value[n.Saved[3].Reg&63] = binary.LittleEndian.Uint64(mem[n.Saved[3].Off:])
	low.Value[n.Saved[4].Reg&63] = binary.LittleEndian.Uint64(mem[n.Saved[4].Off:])
	low.Value[n.Saved[5].Reg&63] = binary.LittleEndian.Uint64(mem[n.Saved[5].Off:])
	low.Value[n.PC&63] = pc
	low.Value[n.SP&63] = cfa
}

// beginFar is Begin for the other fast plans: many registers, a link register, or memory near the
// end of the window.
func (p *Plan) beginFar(regs *arch.Registers, w *Window) (s Step, ok bool) {
	base, known := regs.Get(arch.Reg(p.CFAReg))
	if !p.Fast || !known {
		return s, false
	}
	s.CFA = base + uint64(int64(p.CFAOff))
	s.at = far
	mem := w.piece(p.base(s.CFA), p.size)
	if mem == nil {
		return s, false
	}
	if p.inReg {
		if s.PC, known = regs.Get(arch.Reg(p.raIn)); !known {
			return s, false
		}
	} else {
		s.PC = binary.LittleEndian.Uint64(mem[p.at(p.RA):])
	}
	if p.pac {
		s.PC = row.StripPAC(s.PC)
	}
	return s, true
}

// finishFar is Finish after beginFar.
func (p *Plan) finishFar(regs *arch.Registers, pl *row.Places, w *Window, s Step) {
	regs.Keep(p.more.keep)
	// In another window, the saved registers become unknown.
	if mem := w.piece(p.base(s.CFA), p.size); mem != nil {
		for _, sv := range p.Saved[:min(p.n, inPlan)] {
			regs.Set(arch.Reg(sv.Reg), binary.LittleEndian.Uint64(mem[p.at(sv.Off):]))
		}
		for _, sv := range p.more.saved {
			regs.Set(arch.Reg(sv.Reg), binary.LittleEndian.Uint64(mem[p.at(sv.Off):]))
		}
	}
	regs.Set(arch.Reg(p.PC), s.PC)
	regs.Set(arch.Reg(p.SP), s.CFA)
	if pl != nil {
		p.places(pl, target.Addr(p.base(s.CFA)))
	}
}

// places records where the registers are saved that were read from base on.
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

// base returns the address from which the plan reads.
func (p *Plan) base(cfa uint64) uint64 { return cfa + uint64(int64(p.Lo)) }

// at returns the offset of a slot in bytes.
func (p *Plan) at(off uint8) uint {
	if p.OK {
		return uint(off)
	}
	return 8 * uint(off)
}

// piece returns n bytes from addr on, or nil.
func (w *Window) piece(addr uint64, n uint16) []byte {
	if at, b := addr-w.Addr, w.Data; at <= uint64(len(b)) && uint64(len(b))-at >= uint64(n) {
		return b[at : at+uint64(n)]
	}
	return nil
}
