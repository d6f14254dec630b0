package row

import (
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/expr"
)

// Kind is the kind of a rule: how it finds a value. DWARF 5, section 6.4.1, defines them.
type Kind uint8

const (
	Unspecified Kind = iota // the table has no rule
	Undefined               // lost: it is not recoverable
	Same                    // not changed
	At                      // offset(N): saved at CFA+N
	Val                     // val_offset(N): the value is CFA+N
	InReg                   // register(R): saved in another register
	AtExpr                  // expression(E): saved at the address that E computes from the CFA
	ValExpr                 // val_expression(E): the value is the result of E for the CFA
)

// Rule is the rule of a register, or of the CFA. A CFA has one of three kinds: InReg (the CFA is
// register Reg plus N), ValExpr, or Unspecified.
type Rule struct {
	Kind Kind
	Reg  arch.Reg // for InReg
	N    int64    // offset for At and Val, and for InReg in a CFA rule
	Expr []byte   // for AtExpr and ValExpr; aliases the section
}

// RegRule is the rule of a register.
type RegRule struct {
	Reg arch.Reg
	Rule
}

// Row is valid for the addresses from Lo up to but not including Hi, in the file's address space.
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

// Reset makes r empty. It keeps the capacity of its slices.
func (r *Row) Reset() { *r = Row{Regs: r.Regs[:0], RA: arch.NoReg} }

// CopyFrom makes r equal to o, with its own slice of rules.
func (r *Row) CopyFrom(o *Row) {
	regs := append(r.Regs[:0], o.Regs...)
	*r = *o
	r.Regs = regs
}

// Rule returns the rule of a register. Its kind is Unspecified if there is none.
func (r *Row) Rule(reg arch.Reg) Rule {
	for i := range r.Regs {
		if r.Regs[i].Reg == reg {
			return r.Regs[i].Rule
		}
	}
	return Rule{}
}

// Set sets the rule of a register. An Unspecified rule removes it.
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

// String returns the rule in DWARF's shorthand (DWARF 5, appendix D.6): "u", "s", "c-16", "v-16",
// "r5", "exp", "vexp". An unspecified rule is "".
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

// CFAString returns the rule of the CFA: "rsp+8", "exp" for an expression, or "u" if there is none.
func (r *Row) CFAString(a *arch.Arch) string {
	switch r.CFA.Kind {
	case InReg:
		return fmt.Sprintf("%s%+d", name(a, r.CFA.Reg), r.CFA.N)
	case ValExpr:
		return "exp"
	}
	return "u"
}

// Format returns the row as one line: the CFA, then the rules by register number, the return
// address last.
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

// Explain returns the rule in words: "saved at CFA-16", "saved at breg7 (rsp) +8; deref".
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
