package frames

import (
	"slices"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/frames/follow"
	"dbg/target"
)

// ahead finds the caller by following the code from PC to the return.
func (w *Walk) ahead(s *site) bool {
	if !code.Supported(w.u.arch) {
		return w.failed(Prologue, "the instructions at PC do not show where the return address is")
	}
	return w.byCode(w.aheadOf(s))
}

// aheadOf follows the code from the site on, once, and caches the result.
func (w *Walk) aheadOf(s *site) *follow.Rule {
	if s.ahead == nil {
		thumb := false
		if m := s.module; m != nil && w.u.arch == arch.ARM {
			lo, _, ok := w.boundsOf(s)
			thumb = ok && w.isThumb(m, lo) || s.pc%4 != 0
		}
		var slots bool
		s.ahead, slots = follow.Ahead(w.reader(s.module), uint64(s.pc), thumb)
		s.slots = s.slots || slots
	}
	return s.ahead
}

// locate returns the address of the place in the walk's frame.
func (w *Walk) locate(p follow.Location) (uint64, bool) {
	if !p.Through {
		at, known := p.Address(&w.frame.Regs)
		return w.wrap(at), known
	}
	at, known := w.frame.Regs.Get(p.Base)
	if !known {
		return 0, false
	}
	v, err := w.words.Word(target.Addr(w.wrap(at+uint64(p.Word))), w.u.arch.PtrSize)
	return w.wrap(v + uint64(p.Off)), err == nil
}

// wrap truncates an address to the address space.
func (w *Walk) wrap(v uint64) uint64 {
	if w.u.arch.PtrSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// locateCFA returns the CFA of a rule.
func (w *Walk) locateCFA(r *follow.Rule) (uint64, bool) {
	cfa, known := w.locate(r.CFA)
	if !known {
		cfa, known = w.locate(r.Other)
	}
	return cfa, known
}

// byCode applies a rule from code.
func (w *Walk) byCode(r *follow.Rule) bool {
	if r.Why != "" {
		return w.failed(Prologue, r.Why)
	}
	a, c := w.u.arch, &w.caller
	cfa, known := w.locateCFA(r)
	if !known {
		return w.failed(Prologue, "cannot compute the frame's address from "+a.RegName(r.CFA.Base))
	}
	c.Start(w.preserved())
	slots := flow.Slots(a)
	for _, reg := range a.CalleeSaved {
		if !slices.Contains(slots, reg) { // its changes were not tracked
			c.Forget(reg)
		}
	}
	for i, reg := range slots {
		if f := w.frame.Module; f != nil && f.IsGo() && reg != a.FP && reg != a.LR {
			continue
		}
		if v, at, ok := w.savedByCode(&r.Regs[i], cfa); ok {
			c.SetSaved(reg, v, at)
		} else if r.Regs[i].Kind != follow.AsNow {
			c.Forget(reg)
		}
	}
	c.CFA = cfa
	c.SetSP(a, cfa)
	if link := flow.LinkSlot(a); link >= 0 {
		return w.linkByCode(&r.Regs[link], cfa)
	}
	at := target.Addr(w.wrap(cfa - uint64(a.PtrSize)))
	ra, err := w.words.Word(at, a.PtrSize)
	if err != nil {
		return w.unreadable(Prologue, err)
	}
	c.SetPC(a, ra, at, true)
	return w.judge(Prologue)
}

// savedByCode reads a register from the place where code has saved it. It returns false if it is
// not on the stack.
func (w *Walk) savedByCode(rc *follow.Saved, cfa uint64) (v uint64, at target.Addr, ok bool) {
	where, known := w.wrap(cfa+uint64(rc.At.Off)), true
	switch rc.Kind {
	case follow.InFrame:
	case follow.InStack:
		where, known = w.locate(rc.At)
	default:
		return 0, 0, false
	}
	v, err := w.words.Word(target.Addr(where), w.u.arch.PtrSize)
	return v, target.Addr(where), known && err == nil
}

// linkByCode completes byCode if the return address is in the link register, or was saved from
// there.
func (w *Walk) linkByCode(rc *follow.Saved, cfa uint64) bool {
	a, c := w.u.arch, &w.caller
	if rc.Kind == follow.AsNow {
		lr, known := w.frame.Regs.Get(a.LR)
		if !known || w.frame.PCIsReturnAddress {
			return w.failed(Prologue, "the return address is in "+a.RegName(a.LR)+", whose value is not known")
		}
		c.SetPC(a, w.code64(lr), 0, false)
		return w.judge(Prologue)
	}
	ra, at, ok := w.savedByCode(rc, cfa)
	if !ok {
		return w.failed(Prologue, "the instructions do not show where the return address is")
	}
	c.SetPC(a, w.code64(ra), at, true)
	return w.judge(Prologue)
}

// preserved returns the registers that the frame's function preserves according to its ABI.
func (w *Walk) preserved() arch.RegSet {
	a := w.u.arch
	if m := w.frame.Module; m != nil && m.IsGo() {
		return arch.SetOf(a.FP)
	}
	return a.CalleeSavedSet
}
