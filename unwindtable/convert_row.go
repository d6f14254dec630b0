package unwindtable

import (
	"dbg/arch"
	"dbg/row"
	"dbg/sframe"
)

// Reasons why SFrame can't express a row.
const (
	lostCFA       = "the rule of the CFA is an expression or missing"
	lostRA        = "the rule of the return address is an expression or missing"
	lostFP        = "the frame pointer is lost or an expression"
	lostSP        = "the stack pointer is not the CFA"
	lostFlexible  = "the rules need version 3"
	lostRange     = "an offset is too large"
	lostSigned    = "the return address is signed"
	lostSignal    = "signal frames need version 3"
	lostMalformed = "the entry is malformed"
	lostOverlap   = "another entry covers the addresses"
)

// rulesOf returns the rules of a row for SFrame, or the reason why it can't express them. outermost is set
// for a row whose return address is undefined: it has no rules.
func rulesOf(h *sframe.Header, a *arch.Arch, r *row.Row) (rules sframe.Rules, outermost bool, lost string) {
	ra := r.Rule(r.RA)
	if ra.Kind == row.Undefined {
		return rules, true, ""
	}
	if sp := r.Rule(a.SP); sp.Kind != row.Unspecified && (sp.Kind != row.Val || sp.N != 0) {
		return rules, false, lostSP
	}
	var ok bool
	if rules.CFA, ok = cfaRule(&r.CFA); !ok {
		return rules, false, lostCFA
	}
	switch {
	case h.FixedRA != 0 && ra.Kind == row.At && ra.N == int64(h.FixedRA):
		rules.RA = sframe.Rule{Set: true, Fixed: true, Deref: true, Offset: ra.N}
	case r.RA == a.LR && (ra.Kind == row.Unspecified || ra.Kind == row.Same):
	default:
		if rules.RA, ok = savedRule(&ra); !ok {
			return rules, false, lostRA
		}
	}
	if fp := r.Rule(a.FP); fp.Kind != row.Unspecified && fp.Kind != row.Same {
		if rules.FP, ok = savedRule(&fp); !ok {
			return rules, false, lostFP
		}
	}
	if r.Signed && a != arch.ARM64 {
		return rules, false, lostSigned
	}
	return rules, false, ""
}

func cfaRule(r *row.Rule) (sframe.Rule, bool) {
	switch r.Kind {
	case row.InReg:
		return sframe.Rule{Set: true, ByReg: true, Reg: r.Reg, Offset: r.N}, true
	case row.ValExpr:
		return basePlus(r.Expr, true)
	}
	return sframe.Rule{}, false
}

func savedRule(r *row.Rule) (sframe.Rule, bool) {
	switch r.Kind {
	case row.At:
		return sframe.Rule{Set: true, Deref: true, Offset: r.N}, true
	case row.Val:
		return sframe.Rule{Set: true, Offset: r.N}, true
	case row.InReg:
		return sframe.Rule{Set: true, ByReg: true, Reg: r.Reg}, true
	case row.ValExpr:
		return basePlus(r.Expr, true)
	case row.AtExpr:
		rule, ok := basePlus(r.Expr, false)
		rule.Deref = true
		return rule, ok
	}
	return sframe.Rule{}, false
}

// basePlus returns the rule of an expression that is a register plus an offset, and, if deref is set,
// maybe the word at that address (DWARF 5, section 2.5.1: DW_OP_breg0 to 31, DW_OP_deref).
func basePlus(e []byte, deref bool) (sframe.Rule, bool) {
	const opDeref, opBreg0, opBreg31 = 0x06, 0x70, 0x8f
	if len(e) < 2 || e[0] < opBreg0 || e[0] > opBreg31 {
		return sframe.Rule{}, false
	}
	rule := sframe.Rule{Set: true, ByReg: true, Reg: arch.Reg(e[0] - opBreg0)}
	shift, i := uint(0), 1
	for ; i < len(e) && shift < 63; i++ {
		rule.Offset |= int64(e[i]&0x7f) << shift
		if shift += 7; e[i]&0x80 == 0 {
			if e[i]&0x40 != 0 && shift < 64 {
				rule.Offset |= -1 << shift
			}
			break
		}
	}
	if i >= len(e) || e[i]&0x80 != 0 {
		return sframe.Rule{}, false
	}
	rest := e[i+1:]
	if deref && len(rest) == 1 && rest[0] == opDeref {
		rule.Deref = true
		return rule, true
	}
	return rule, len(rest) == 0
}
