package compare

import (
	"bytes"

	"dbg/arch"
	"dbg/frames/module"
	"dbg/row"
)

// Class is the kind of a difference.
type Class uint8

const (
	Either   Class = iota // both rows may be right
	Conflict              // at most one row is right
	Broken                // one table has no row that can be read
)

func (c Class) String() string { return [...]string{"either", "conflict", "broken"}[c] }

// Item is one rule on which two rows differ.
type Item struct {
	Class Class
	What  string // "cfa", "ra", or the name of a register
	A, B  string // the rules in DWARF's shorthand
}

// side is one of two tables.
type side struct {
	table *module.Source
	arch  *arch.Arch
}

// ofRegister returns the rule of a register. Unspecified means that the table says nothing of it.
func (s *side) ofRegister(r *row.Row, reg arch.Reg) row.Rule {
	rule := r.Rule(reg)
	if rule.Kind == row.Unspecified && s.table.Preserved().Has(reg) {
		rule.Kind = row.Same
	}
	return rule
}

// ofReturn returns the rule of the return address. A column that is not saved is in its register.
func ofReturn(r *row.Row) row.Rule {
	rule := r.Rule(r.RA)
	if rule.Kind == row.Unspecified || rule.Kind == row.Same {
		return row.Rule{Kind: row.InReg, Reg: r.RA}
	}
	return rule
}

// compare appends the rules on which two rows differ to list.
func (p *pair) compare(list []Item, a, b *row.Row) []Item {
	ar := p.a.arch
	add := func(c Class, what, x, y string) { list = append(list, Item{c, what, x, y}) }
	if c, differ := cfaClass(a, b); differ {
		add(c, "cfa", a.CFAString(ar), b.CFAString(ar))
	}
	ra, rb := ofReturn(a), ofReturn(b)
	if c, differ := ruleClass(&ra, &rb); differ {
		add(c, "ra", ruleText(ar, &ra), ruleText(ar, &rb))
	}
	p.regs = p.regs[:0]
	for _, r := range []*row.Row{a, b} {
		for i := range r.Regs {
			if reg := r.Regs[i].Reg; reg != a.RA && reg != b.RA && reg != ar.SP && !contains(p.regs, reg) {
				p.regs = append(p.regs, reg)
			}
		}
	}
	for _, reg := range p.regs {
		x, y := p.a.ofRegister(a, reg), p.b.ofRegister(b, reg)
		if x.Kind == row.Unspecified || y.Kind == row.Unspecified {
			continue
		}
		if c, differ := ruleClass(&x, &y); differ {
			add(c, ar.RegName(reg), ruleText(ar, &x), ruleText(ar, &y))
		}
	}
	return list
}

func contains(list []arch.Reg, reg arch.Reg) bool {
	for _, r := range list {
		if r == reg {
			return true
		}
	}
	return false
}

// cfaClass compares two rules for the CFA.
func cfaClass(a, b *row.Row) (c Class, differ bool) {
	x, y := &a.CFA, &b.CFA
	switch {
	case x.Kind != y.Kind:
		return Either, true
	case x.Kind == row.InReg && x.Reg != y.Reg:
		return Either, true
	case x.Kind == row.InReg:
		return Conflict, x.N != y.N
	}
	return Either, !bytes.Equal(x.Expr, y.Expr)
}

// ruleClass compares two rules that are not Unspecified.
func ruleClass(x, y *row.Rule) (c Class, differ bool) {
	if x.Kind != y.Kind {
		return kindsClass(x.Kind, y.Kind), true
	}
	switch x.Kind {
	case row.At, row.Val:
		return Conflict, x.N != y.N
	case row.InReg:
		return Either, x.Reg != y.Reg
	case row.AtExpr, row.ValExpr:
		return Either, !bytes.Equal(x.Expr, y.Expr)
	}
	return Conflict, false
}

// kindsClass is the class of rules of two kinds. A value may be in several places at a time; but what
// is lost is nowhere.
func kindsClass(x, y row.Kind) Class {
	if x == row.Undefined || y == row.Undefined {
		return Conflict
	}
	return Either
}

func ruleText(a *arch.Arch, r *row.Rule) string {
	if r.Kind == row.InReg {
		return a.RegName(r.Reg)
	}
	return r.String()
}
