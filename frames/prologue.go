package frames

import "dbg/arch"

// prologue finds the caller if no table covers PC, but the instructions show the place of the
// return address: directly at the first and last instructions of a function, otherwise by reading
// from its start to PC (start.go) or from PC to its return (bycode.go). It also handles calls to
// invalid addresses.
func (w *Walk) prologue(s *site) bool {
	if w.frame.PCIsReturnAddress {
		if !s.exec {
			return w.failed(Prologue, "PC is not in executable memory")
		}
		return w.byStart(s) || w.ahead(s)
	}
	a := w.u.arch
	if !s.exec {
		// A call through a null or garbage pointer: no instruction of the "function" has been
		// executed, so the state is that at its entry.
		if a.LR != arch.NoReg {
			return w.leaf(Prologue)
		}
		return w.returnAt(Prologue, 0, false)
	}
	if w.byStart(s) {
		return true
	}
	if edge := w.u.machine.EntryOrExit; edge != nil {
		switch pushedFP, ok := edge(s.before(), s.at()); {
		case !ok:
		case a.LR != arch.NoReg:
			return w.leaf(Prologue)
		case pushedFP && w.returnAt(Prologue, 1, true), !pushedFP && w.returnAt(Prologue, 0, false):
			return true
		}
	}
	return w.byLink(s) || w.ahead(s)
}

// byStart follows the function's code from its start to PC. The start comes from symbols, or from a
// call on the stack that has entered the function.
func (w *Walk) byStart(s *site) bool {
	if r := w.startOf(s); r.Why == "" && w.byCode(r) {
		return true
	}
	return w.byCalls(s)
}
