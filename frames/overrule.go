package frames

import (
	"strings"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/row"
)

// overrule replaces the site's plan if the code certainly contradicts the table.
func (w *Walk) overrule(s *site) {
	if s.how != CFI && s.how != Compact || *s.from.Preserved() == (arch.RegSet{}) || s.byHand {
		return
	}
	if w.overruleCFA(s) {
		return
	}
	lost := w.auditOf(s).lostAt(s)
	if lost == 0 {
		return
	}
	r := &w.u.row
	r.CopyFrom(s.plan.Row())
	changed := false
	for i, reg := range flow.Slots(w.u.arch) {
		if lost&(1<<i) == 0 || reg == r.RA || r.CFA.Kind == row.InReg && r.CFA.Reg == reg {
			continue
		}
		if k := r.Rule(reg).Kind; k == row.Same || k == row.Unspecified && s.from.Preserved().Has(reg) {
			r.Set(reg, row.Rule{Kind: row.Undefined})
			changed = true
		}
	}
	if changed {
		w.replan(s, r)
	}
}

func (w *Walk) replan(s *site, r *row.Row) {
	s.table, s.plan = s.plan, w.u.lookup.Plan(s.from, r)
}

// tailLength is the maximum number of instructions that overruleCFA reads.
const tailLength = 24

// overruleCFA handles the last instructions of a function, from which a single path without calls
// leads to the return: they show the place of the return address. If the table has another place,
// the table is wrong.
func (w *Walk) overruleCFA(s *site) bool {
	r := s.plan.Row()
	ra := r.Rule(r.RA)
	if !s.precise || w.u.arch != arch.AMD64 || r.CFA.Kind != row.InReg || r.CFA.Reg != arch.RSP || ra.Kind != row.At || ra.N != -8 {
		return false
	}
	at, ok := flow.FromRow(w.u.arch, r)
	if !ok {
		return false
	}
	sim := simulation{w: w, module: s.module}
	text := sim.read(uint64(s.pc), make([]byte, 0, aheadBytes)[:aheadBytes])
	for range tailLength {
		in := code.Decode(w.u.arch, text)
		if in.Next == code.Return {
			break
		}
		if in.Next != code.Onward || in.Len == 0 || omitted(text) {
			return false
		}
		at.Apply(&in)
		text = text[in.Len:]
	}
	var f flow.Frame
	at.Frame(&f)
	if code.Decode(w.u.arch, text).Next != code.Return || !f.HasSP || f.SP == 8 {
		return false
	}
	c := w.aheadOf(s)
	if c.why != "" || c.cfa.base != arch.RSP || c.cfa.through || c.cfa.off < 8 {
		return false // or it returns to an address that it pushes itself
	}
	n := &w.u.row
	n.CopyFrom(r)
	n.CFA.N = c.cfa.off
	for i, reg := range flow.Slots(w.u.arch) {
		switch rc := &c.regs[i]; {
		case rc.kind == asNow:
			n.Set(reg, row.Rule{})
		case rc.kind == inStack && rc.at.base == arch.RSP && !rc.at.through:
			n.Set(reg, row.Rule{Kind: row.At, N: rc.at.off - c.cfa.off})
		default:
			n.Set(reg, row.Rule{Kind: row.Undefined})
		}
	}
	w.replan(s, n)
	s.how = Prologue
	return true
}

// Overruled returns the registers that the table describes, for the frame that was yielded last,
// and that the code contradicts: they have no value in the caller. The result is valid until the
// next frame.
func (w *Walk) Overruled() (set arch.RegSet) {
	s := w.pinned
	if s == nil || s.table == nil {
		return set
	}
	said, is := s.table.Row(), s.plan.Row()
	for _, reg := range flow.Slots(w.u.arch) {
		if is.Rule(reg).Kind == row.Undefined && said.Rule(reg).Kind != row.Undefined {
			set.Add(reg)
		}
	}
	return set
}

// overruled describes the contradiction between the table's row and the code.
func (w *Walk) overruled(s *site) string {
	a, said, is := w.u.arch, s.table.Row(), s.plan.Row()
	set := w.Overruled()
	if said.CFA.N != is.CFA.N || said.CFA.Reg != is.CFA.Reg {
		return "according to the table the CFA is " + said.CFAString(a) + ", but the code returns from " + is.CFAString(a)
	}
	var lost []string
	for _, reg := range flow.Slots(a) {
		if set.Has(reg) {
			lost = append(lost, a.RegName(reg))
		}
	}
	return "according to the table " + strings.Join(lost, ", ") + " did not change, but the code has overwritten them without saving them"
}
