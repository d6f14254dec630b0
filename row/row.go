package row

import (
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/expr"
)

// Kind is how a rule finds a value; the names are those of DWARF 5, section 6.4.1.
type Kind uint8

const (
	Unspecified Kind = iota // the table does not say
	Undefined               // lost: it can't be recovered
	Same                    // not changed
	At                      // offset(N): saved at CFA+N
	Val                     // val_offset(N): it is CFA+N
	InReg                   // register(R): kept in another register
	AtExpr                  // expression(E): saved at the address that E computes from the CFA
	ValExpr                 // val_expression(E): it is what E computes from the CFA
)

// Rule is one register's rule, or the rule of the CFA. As the CFA's, only three
// kinds have a meaning: InReg (register Reg plus N), ValExpr, and Unspecified.
type Rule struct {
	Kind Kind
	Reg  arch.Reg // of InReg
	N    int64    // offset of At and Val; of the CFA's InReg
	Expr []byte   // of AtExpr and ValExpr: bytes of the section
}

// RegRule is the rule of a register.
type RegRule struct {
	Reg arch.Reg
	Rule
}

// Row is valid for the addresses from Lo up to but not including Hi, in the
// file's address space.
type Row struct {
	Lo, Hi uint64
	CFA    Rule
	Regs   []RegRule // each register at most once, in no order; never Unspecified
	RA     arch.Reg  // the column that holds the return address

	Signal   bool   // this is a signal trampoline: the caller was interrupted (augmentation S)
	Signed   bool   // the return address is signed, see DW_CFA_AARCH64_negate_ra_state
	ArgsSize uint64 // DW_CFA_GNU_args_size
	Source   uint64 // offset of the entry in its section
}

// Reset makes r empty; it keeps the capacity of its slices.
func (r *Row) Reset() { *r = Row{Regs: r.Regs[:0], RA: arch.NoReg} }

// CopyFrom makes r equal to o, with its own slice of rules.
func (r *Row) CopyFrom(o *Row) {
	regs := append(r.Regs[:0], o.Regs...)
	*r = *o
	r.Regs = regs
}

// Rule returns the rule of a register, Unspecified if there is none.
func (r *Row) Rule(reg arch.Reg) Rule {
	for i := range r.Regs {
		if r.Regs[i].Reg == reg {
			return r.Regs[i].Rule
		}
	}
	return Rule{}
}

// Set gives a register a rule; an Unspecified one takes its rule away.
func (r *Row) Set(reg arch.Reg, rule Rule) {
	for i := range r.Regs {
		if r.Regs[i].Reg != reg {
			continue
		}
		if rule.Kind == Unspecified {
			last := len(r.Regs) - 1
			r.Regs[i] = r.Regs[last]
			r.Regs = r.Regs[:last]
			return
		}
		r.Regs[i].Rule = rule
		return
	}
	if rule.Kind != Unspecified {
		r.Regs = append(r.Regs, RegRule{reg, rule})
	}
}

// String is the rule in DWARF's shorthand (DWARF 5, appendix D.6): "u", "s", "c-16",
// "v-16", "r5", "exp", "vexp"; an unspecified one is "".
func (r Rule) String() string {
	switch r.Kind {
	case Undefined:
		return "u"
	case Same:
		return "s"
	case At:
		return fmt.Sprintf("c%+d", r.N)
	case Val:
		return fmt.Sprintf("v%+d", r.N)
	case InReg:
		return fmt.Sprintf("r%d", r.Reg)
	case AtExpr:
		return "exp"
	case ValExpr:
		return "vexp"
	}
	return ""
}

// CFAString is the CFA's rule: "rsp+8", or "exp" for an expression.
func (r *Row) CFAString(a *arch.Arch) string {
	switch r.CFA.Kind {
	case InReg:
		return fmt.Sprintf("%s%+d", name(a, r.CFA.Reg), r.CFA.N)
	case ValExpr:
		return "exp"
	}
	return "u"
}

// Format is the row on one line: the CFA and the rules in the order of the register
// numbers, the return address last.
func (r *Row) Format(a *arch.Arch) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%016x cfa=%s", r.Lo, r.CFAString(a))
	for reg := range arch.Reg(arch.MaxRegs) {
		if rule := r.Rule(reg); rule.Kind != Unspecified && reg != r.RA {
			fmt.Fprintf(&s, " %s=%s", name(a, reg), rule)
		}
	}
	if rule := r.Rule(r.RA); rule.Kind != Unspecified {
		fmt.Fprintf(&s, " ra=%s", rule)
	}
	if r.Signal {
		s.WriteString(" signal")
	}
	return s.String()
}

// Explain is a rule in words that a person can check: "saved at CFA-16",
// "breg7 (rsp) +8; deref".
func (r Rule) Explain(a *arch.Arch) string {
	switch r.Kind {
	case Undefined:
		return "lost"
	case Same:
		return "not changed"
	case At:
		return fmt.Sprintf("saved at CFA%+d", r.N)
	case Val:
		return fmt.Sprintf("is CFA%+d", r.N)
	case InReg:
		return "kept in " + name(a, r.Reg)
	case AtExpr:
		return "saved at " + expr.Dump(r.Expr, a)
	case ValExpr:
		return "is " + expr.Dump(r.Expr, a)
	}
	return "not said"
}

func name(a *arch.Arch, r arch.Reg) string {
	if a != nil && a.RegName(r) != "" {
		return a.RegName(r)
	}
	return fmt.Sprintf("r%d", r)
}
