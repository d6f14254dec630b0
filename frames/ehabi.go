package frames

import (
	"dbg/code"
	"dbg/frames/follow"
	"dbg/frames/module"
	"dbg/row"
)

// ARM's exception tables have one row for a function, which is valid at its calls. A frame that has
// made a call uses it. Any other frame may be in the prologue or in the epilogue, and only the code
// shows that.

// refineByCode replaces the site's plan if its table has rows for calls only and the code shows that
// the row is not valid at PC. Code that was followed from the function's start decides; if it does not
// lead to PC, as in the second function of an entry that covers several, the code from PC to the
// return does.
func (w *Walk) refineByCode(s *site) {
	if s.plan == nil || s.from.Kind() != module.KindEHABI || !s.precise || !w.u.Use.Has(Prologue) {
		return
	}
	if !code.Supported(w.u.arch) {
		s.unrefined = true
		return
	}
	rule := w.startOf(s)
	if rule.Why != "" {
		rule = w.aheadOf(s)
	}
	same := rule.HasPlacesOf(w.u.arch, s.plan.Row())
	if same && rule.HasCFAOf(s.plan.Row()) {
		return
	}
	r := &w.u.row
	r.CopyFrom(s.plan.Row())
	if !rule.Row(w.u.arch, r) {
		s.unrefined = true
		return
	}
	w.keepUntracked(rule, s.plan.Row(), r)
	w.replan(s, r)
	s.how, s.samePlaces = Prologue, same
}

// confirmedByTable reports whether the table's row, which the code has replaced, leads to the same
// frame: the code computes the CFA from the stack pointer, and the table from a frame pointer.
func (w *Walk) confirmedByTable(s *site) bool {
	said := s.table.Row()
	v, known := w.frame.Regs.Get(said.CFA.Reg)
	return s.samePlaces && said.CFA.Kind == row.InReg && known && w.wrap(v+uint64(said.CFA.N)) == w.wrap(w.caller.CFA)
}

// keepUntracked sets the rules of the registers in the table's row that the code's row does not track:
// D8 to D15. One whose place is below the stack pointer is not saved yet, or was restored. Otherwise
// it may or may not have its value still, and is unknown.
func (w *Walk) keepUntracked(rule *follow.Rule, said, is *row.Row) {
	a := w.u.arch
	for _, reg := range a.CalleeSaved {
		at := said.Rule(reg)
		if at.Kind == row.Unspecified || reg < firstD {
			continue
		}
		if at.Kind == row.At && rule.CFA.Base == a.SP && at.N < -rule.CFA.Off {
			continue
		}
		is.Set(reg, row.Rule{Kind: row.Undefined})
	}
}

// firstD is the number of D0 in package arch.
const firstD = 64

// isRefined reports whether the code has replaced a row that is valid at calls only.
func (s *site) isRefined() bool { return s.table != nil && s.from.Kind() == module.KindEHABI }
