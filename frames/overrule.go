package frames

import (
	"strings"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/frames/follow"
	"dbg/row"
)

// overrule replaces the site's plan if the code certainly contradicts the table.
func (w *Walk) overrule(s *site) {
	if s.how != CFI && s.how != Compact && s.how != PData || *s.from.Preserved() == (arch.RegSet{}) || s.byHand {
		return
	}
	if w.overruleCFA(s) {
		return
	}
	lost := w.auditOf(s).LostAt(uint64(s.pc), s.precise)
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

// maxAudits is the maximum number of audits that are cached.
const maxAudits = 4096

// auditKey identifies a function in a module.
type auditKey struct {
	module *Module
	lo     uint64
}

// auditOf returns the audit of the site's function, which is computed once.
func (w *Walk) auditOf(s *site) *follow.Audit {
	m := s.module
	lo, hi, ok := s.from.Bounds(s.filePC())
	if !ok || m == nil || !code.Supported(w.u.arch) || w.u.arch == arch.ARM || hi-lo > follow.MaxFunction {
		return nil
	}
	key := auditKey{m, lo}
	if a, ok := w.u.audits[key]; ok {
		return a
	}
	if len(w.u.audits) >= maxAudits || w.u.audits == nil {
		w.u.audits = map[auditKey]*follow.Audit{}
	}
	var a *follow.Audit
	if s.from.RowAt(lo, &w.u.row) == nil && flow.IsEntry(w.u.arch, &w.u.row) {
		a = follow.NewAudit(w.reader(m), lo+m.Bias(), hi+m.Bias())
	}
	w.u.audits[key] = a
	return a
}

func (w *Walk) replan(s *site, r *row.Row) {
	s.table, s.plan = s.plan, w.u.lookup.Plan(s.from, r)
}

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
	if sp, ok := follow.Tail(w.reader(s.module), uint64(s.pc), at); !ok || sp == 8 {
		return false
	}
	c := w.aheadOf(s)
	if c.Why != "" || c.CFA.Base != arch.RSP || c.CFA.Through || c.CFA.Off < 8 {
		return false // or it returns to an address that it pushes itself
	}
	n := &w.u.row
	n.CopyFrom(r)
	n.CFA.N = c.CFA.Off
	for i, reg := range flow.Slots(w.u.arch) {
		switch rc := &c.Regs[i]; {
		case rc.Kind == follow.AsNow:
			n.Set(reg, row.Rule{})
		case rc.Kind == follow.InStack && rc.At.Base == arch.RSP && !rc.At.Through:
			n.Set(reg, row.Rule{Kind: row.At, N: rc.At.Off - c.CFA.Off})
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
	if s.isRefined() {
		return "the table's row, with the CFA " + said.CFAString(a) + ", is for calls; the code shows that the CFA is " + is.CFAString(a) + " here"
	}
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
