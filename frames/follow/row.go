package follow

import (
	"dbg/arch"
	"dbg/code/flow"
	"dbg/row"
)

// Row writes the rule as rules of a row into r: the CFA, the return address and the registers in
// flow.Slots. It does not change Lo, Hi and Source. It returns false if a row can't express it, or if
// there is no rule.
func (r *Rule) Row(a *arch.Arch, to *row.Row) bool {
	link := flow.LinkSlot(a)
	if r.Why != "" || r.CFA.Base == arch.NoReg || r.CFA.Through || link < 0 {
		return false
	}
	lo, hi, source := to.Lo, to.Hi, to.Source
	to.Reset()
	to.Lo, to.Hi, to.Source, to.RA = lo, hi, source, a.LR
	to.CFA = row.Rule{Kind: row.InReg, Reg: r.CFA.Base, N: r.CFA.Off}
	for i, reg := range flow.Slots(a) {
		switch s := &r.Regs[i]; {
		case s.Kind == AsNow:
		case s.Kind == InFrame:
			to.Set(reg, row.Rule{Kind: row.At, N: s.At.Off})
		case s.Kind == InStack && s.At.Base == r.CFA.Base && !s.At.Through:
			to.Set(reg, row.Rule{Kind: row.At, N: s.At.Off - r.CFA.Off})
		case i == link:
			return false
		default:
			to.Set(reg, row.Rule{Kind: row.Undefined})
		}
	}
	return true
}

// HasCFAOf reports whether a row computes the same CFA from the same register.
func (r *Rule) HasCFAOf(with *row.Row) bool {
	cfa := Location{Base: with.CFA.Reg, Off: with.CFA.N}
	return r.Why == "" && with.CFA.Kind == row.InReg && (r.CFA == cfa || r.Other == cfa)
}

// HasPlacesOf reports whether a row has the return address and the registers in flow.Slots at the same
// places, relative to the CFA.
func (r *Rule) HasPlacesOf(a *arch.Arch, with *row.Row) bool {
	var own row.Row
	if !r.Row(a, &own) {
		return false
	}
	for _, reg := range flow.Slots(a) {
		said := with.Rule(reg)
		if reg == a.LR && with.RA != a.LR {
			said = with.Rule(with.RA)
		}
		if is := own.Rule(reg); is.Kind != said.Kind || is.N != said.N {
			return false
		}
	}
	return true
}
