package frames

import (
	"errors"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
	"dbg/target"
)

// byTable unwinds with the module's call frame information.
func (w *Walk) byTable(s *site) bool {
	switch {
	case s.module == nil:
		if !s.exec {
			return w.failed(CFI, "PC is not in executable memory")
		}
		return w.failed(CFI, "PC is not in a module")
	}
	if _, err := w.planAt(s); err != nil {
		if err == cfi.ErrNotCovered {
			if w.leadsToEnd(s) {
				w.finish(End{Outermost: true, Reason: UndefinedReturnAddress})
				return false
			}
			return w.failed(howByKind[s.module.Kind()], "no entry covers PC")
		}
		return w.failed(s.how, err.Error())
	}
	return w.applyRow(s, s.how)
}

// applyRow applies the site's row. An explicitly undefined return address ends the walk, also in a
// signal frame.
func (w *Walk) applyRow(s *site, how Strategy) bool {
	r := s.plan.Row()
	w.env.Bias, w.env.Preserved = s.module.Bias(), s.from.Preserved()
	w.usesRow(s)
	if s.completed {
		w.guard("the code has the table's CFA, and shows where the other registers are")
	}
	if s.table != nil {
		w.guard(w.overruled(s))
		w.refuseTable(s)
	}
	w.caller.Start(arch.RegSet{})
	err := row.Apply(r, &w.env, &w.caller)
	if err != nil && w.borrow(r) {
		err = row.Apply(r, &w.env, &w.caller)
		defer w.frame.Regs.Forget(r.CFA.Reg)
	}
	if err != nil {
		w.refuse(how)
		return w.unreadable(how, err)
	}
	if w.caller.End {
		w.frame.CFA, w.frame.HasCFA = target.Addr(w.caller.CFA), w.caller.CFA != 0
		w.finish(End{Outermost: true, Reason: UndefinedReturnAddress})
		return false
	}
	w.switches = r.CFA.Kind == row.ValExpr || r.Rule(w.u.arch.SP).Kind != row.Unspecified
	ra := r.Rule(r.RA).Kind
	if !w.byORC(s, r) {
		return false
	}
	w.inRegister, w.byExpr = ra == row.InReg, ra == row.AtExpr || ra == row.ValExpr
	if w.judge(how) {
		return true
	}
	w.refuse(how)
	return false
}

// borrow uses the inner frame's value of the register that the CFA depends on. Assembly that calls
// only its own helpers (OpenSSL's aesni_gcm_encrypt: CFA=rax+8) depends on registers that a call
// may change. After a search, the frame pointer may be unchanged too. The result is a heuristic,
// and must follow a call.
func (w *Walk) borrow(r *row.Row) bool {
	f := &w.frame
	if r.CFA.Kind != row.InReg || !f.PCIsReturnAddress || f.Regs.IsKnown(r.CFA.Reg) || r.CFA.Reg >= arch.MaxRegs ||
		r.CFA.Reg == w.u.arch.SP || f.Regs.Stale(r.CFA.Reg) == 0 {
		return false
	}
	if w.u.arch.CalleeSavedSet.Has(r.CFA.Reg) {
		if _, ok := w.unsureFP(r.CFA.Reg); !ok || r.CFA.Reg != w.u.arch.FP {
			return false
		}
	}
	f.Regs.Set(r.CFA.Reg, f.Regs.Stale(r.CFA.Reg))
	w.borrowed = true
	return true
}

// unreadable records the failure of a strategy, and the address if the error is unreadable memory.
func (w *Walk) unreadable(how Strategy, err error) bool {
	var m *target.MemoryError
	if errors.As(err, &m) && !w.hasBad {
		w.bad, w.hasBad = m.Addr, true
	}
	return w.failed(how, err.Error())
}
