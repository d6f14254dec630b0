package frames

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// refusal is a caller that a table gave and that was not believed.
type refusal struct {
	is     bool
	how    Strategy
	caller row.Caller
}

// Refused returns the caller of the frame that was yielded last as the module's table has it, and that frame's CFA, if the walk
// did not believe it; else nil. It needs KeepRefused. The caller's PC is 0 where the return address can't be read. It is
// valid until the next frame is asked for.
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

// refuseTable keeps what the table says where the code overrules it.
func (w *Walk) refuseTable(s *site) {
	if !w.KeepRefused {
		return
	}
	w.caller.Start(arch.RegSet{})
	if row.Apply(s.table.Row(), &w.env, &w.caller) == nil && !w.caller.End {
		w.refuse(CFI)
	}
}

// refuse keeps what the table said, for Refused.
func (w *Walk) refuse(how Strategy) {
	if w.KeepRefused && !w.done && !w.refused.is && w.caller.CFA != 0 {
		w.refused = refusal{true, how, w.caller}
	}
}
