package frames

import (
	"slices"

	"dbg/arch"
	"dbg/code/flow"
	"dbg/target"
)

// codeRule describes the frame at a PC as the instructions show it, independent of a thread's
// state: the places of the return address and of the registers that the code will restore.
type codeRule struct {
	why   string // why there is no rule, or ""
	cfa   place
	other place // the CFA relative to another register, if known
	// regs is indexed like code.Slots. If calls push the return address, it is the word below the
	// CFA; otherwise it is the caller's link register.
	regs [flow.MaxSlots]regCode
}

// ra returns the place of the return address, on a machine whose calls push it.
func (r *codeRule) ra() place { return r.cfa.plus(-8) }

// regCode is the place of the caller's value of a callee-saved register.
type regCode struct {
	kind codeKind
	at   place // for inStack; for inFrame only its offset
}

type codeKind uint8

const (
	asNow   codeKind = iota // in the register now
	inStack                 // at a place
	inFrame                 // at an offset from the CFA
	lost                    // unknown
)

// place is an address: the current value of a register plus an offset, or a word on the stack, at
// such an address, plus an offset.
type place struct {
	base    arch.Reg // NoReg means unknown
	through bool
	word    int64 // the word is at base+word
	off     int64
}

var noPlace = place{base: arch.NoReg}

func (p place) plus(n int64) place {
	p.off += n
	return p
}

// address returns the address of the place in a frame, without reading the stack.
func (p place) address(regs *arch.Registers) (uint64, bool) {
	v, known := regs.Get(p.base)
	return v + uint64(p.off), known && !p.through
}

// locate returns the address of the place in the walk's frame.
func (w *Walk) locate(p place) (uint64, bool) {
	if !p.through {
		at, known := p.address(&w.frame.Regs)
		return w.wrap(at), known
	}
	at, known := w.frame.Regs.Get(p.base)
	if !known {
		return 0, false
	}
	v, err := w.words.Word(target.Addr(w.wrap(at+uint64(p.word))), w.u.arch.PtrSize)
	return w.wrap(v + uint64(p.off)), err == nil
}

// wrap truncates an address to the address space.
func (w *Walk) wrap(v uint64) uint64 {
	if w.u.arch.PtrSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// locateCFA returns the CFA of a rule.
func (w *Walk) locateCFA(r *codeRule) (uint64, bool) {
	cfa, known := w.locate(r.cfa)
	if !known {
		cfa, known = w.locate(r.other)
	}
	return cfa, known
}

// byCode applies a rule from code.
func (w *Walk) byCode(r *codeRule) bool {
	if r.why != "" {
		return w.failed(Prologue, r.why)
	}
	a, c := w.u.arch, &w.caller
	cfa, known := w.locateCFA(r)
	if !known {
		return w.failed(Prologue, "cannot compute the frame's address from "+a.RegName(r.cfa.base))
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
		if v, at, ok := w.savedByCode(&r.regs[i], cfa); ok {
			c.SetSaved(reg, v, at)
		} else if r.regs[i].kind != asNow {
			c.Forget(reg)
		}
	}
	c.CFA = cfa
	c.SetSP(a, cfa)
	if link := flow.LinkSlot(a); link >= 0 {
		return w.linkByCode(&r.regs[link], cfa)
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
func (w *Walk) savedByCode(rc *regCode, cfa uint64) (v uint64, at target.Addr, ok bool) {
	where, known := w.wrap(cfa+uint64(rc.at.off)), true
	switch rc.kind {
	case inFrame:
	case inStack:
		where, known = w.locate(rc.at)
	default:
		return 0, 0, false
	}
	v, err := w.words.Word(target.Addr(where), w.u.arch.PtrSize)
	return v, target.Addr(where), known && err == nil
}

// linkByCode completes byCode if the return address is in the link register, or was saved from
// there.
func (w *Walk) linkByCode(rc *regCode, cfa uint64) bool {
	a, c := w.u.arch, &w.caller
	if rc.kind == asNow {
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
