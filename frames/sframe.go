package frames

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/frames/follow"
	"dbg/frames/module"
	"dbg/row"
)

// SFrame has the CFA, the return address and the frame pointer. Other callee-saved registers are unknown
// in the caller, unless the function's code shows where they are.

// completeByCode adds to the row of an SFrame table the registers that the code has saved or has not
// changed. The code counts only if it has the table's CFA. If the instructions up to the return certainly
// contradict the table, they replace it.
func (w *Walk) completeByCode(s *site) {
	if s.plan == nil || s.from.Kind() != module.KindSFrame || s.byHand {
		return
	}
	if !w.u.Use.Has(Prologue) || !code.Supported(w.u.arch) {
		return
	}
	said := s.plan.Row()
	if said.Signal || said.Rule(said.RA).Kind == row.Undefined {
		return
	}
	r := &w.u.row
	if w.u.Audit && w.overruleCFA(s) {
		r.CopyFrom(s.plan.Row())
		w.addSaved(r, w.aheadOf(s))
		s.plan = w.u.lookup.Plan(s.from, r)
		return
	}
	rule := w.startOf(s)
	if rule.Why != "" {
		rule = w.aheadOf(s)
	}
	if !rule.HasCFAOf(said) {
		return
	}
	r.CopyFrom(said)
	if s.completed = w.addSaved(r, rule); s.completed {
		s.plan = w.u.lookup.Plan(s.from, r)
	}
}

// addSaved adds the registers that a row has no rule for. It returns false if there are none.
func (w *Walk) addSaved(r *row.Row, rule *follow.Rule) (added bool) {
	a := w.u.arch
	for i, reg := range flow.Slots(a) {
		if reg == a.LR || r.Rule(reg).Kind != row.Unspecified {
			continue
		}
		switch c := &rule.Regs[i]; {
		case c.Kind == follow.AsNow:
			r.Set(reg, row.Rule{Kind: row.Same})
		case c.Kind == follow.InFrame:
			r.Set(reg, row.Rule{Kind: row.At, N: c.At.Off})
		default:
			n, ok := distance(c, rule)
			if !ok {
				continue
			}
			r.Set(reg, row.Rule{Kind: row.At, N: n})
		}
		added = true
	}
	return added
}

// distance returns the offset of a register's place from the CFA. It returns false if it is not constant.
func distance(c *follow.Saved, rule *follow.Rule) (int64, bool) {
	if c.Kind != follow.InStack {
		return 0, false
	}
	for _, cfa := range [...]follow.Location{rule.CFA, rule.Other} {
		at := c.At
		if at.Off = cfa.Off; at == cfa && cfa.Base != arch.NoReg {
			return c.At.Off - cfa.Off, true
		}
	}
	return 0, false
}
