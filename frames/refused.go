package frames

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// refusal is a caller that a table yielded and that the walk rejected.
type refusal struct {
	is     bool
	how    Strategy
	caller row.Caller
}

// Refused returns the caller of the frame that was yielded last according to the module's table,
// and that frame's CFA, if the walk rejected it; otherwise nil. It requires KeepRefused. The
// caller's PC is 0 if the return address is unreadable. The result is valid until the next frame.
func (w *Walk) Refused() (caller *Frame, cfa target.Addr) {
	r := &w.refused
	if !r.is {
		return nil, 0
	}
	f := w.frame
	f.Attempts = nil
	r.caller.Commit(&f.Regs, &f.places)
	f.Index++
	f.PC, f.PCIsReturnAddress = target.Addr(r.caller.PC), !f.Signal
	f.Signal, f.CFA, f.HasCFA, f.Module = false, 0, false, nil
	f.Strategy, f.Trust = r.how, Guess
	return &f, target.Addr(r.caller.CFA)
}

// refuseTable records the table's caller if the code overrules the table.
func (w *Walk) refuseTable(s *site) {
	if !w.KeepRefused {
		return
	}
	w.caller.Start(arch.RegSet{})
	if row.Apply(s.table.Row(), &w.env, &w.caller) == nil && !w.caller.End {
		w.refuse(CFI)
	}
}

// refuse records the table's caller, for Refused.
func (w *Walk) refuse(how Strategy) {
	if w.KeepRefused && !w.done && !w.refused.is && w.caller.CFA != 0 {
		w.refused = refusal{true, how, w.caller}
	}
}
