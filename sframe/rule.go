package sframe

import "dbg/arch"

// Rule recovers a value: it is the base plus an offset, or the word at that address (section 3.2).
type Rule struct {
	Set    bool     // there is a rule
	Fixed  bool     // the rule is that of the header
	Pad    bool     // there is no rule, but a word that says so
	ByReg  bool     // the base is Reg; otherwise it is the CFA
	Reg    arch.Reg // DWARF number
	Deref  bool     // the value is the word at the address
	Offset int64
}

// Rules are the rules of a row.
type Rules struct {
	CFA, RA, FP Rule
}

// Bits of a control word (section 3.2).
const (
	controlReg    = 1
	controlDeref  = 2
	controlUnused = 4
	controlShift  = 3 // of the register's number
)

// The CFA of s390x is the stack pointer at the call plus 160. Its offsets from a base are stored
// without that and divided by 8 (section 3.1.3).
const (
	s390xBias  = 160
	s390xScale = 8
)

// Rules interprets the data words of a row (section 3). A row that marks an outermost frame has no
// rules. The error is an Error.
func (t *Table) Rules(e *FDE, f *FRE) (r Rules, err error) {
	switch {
	case f.Outermost() && t.Version == 1:
		return r, defect(f.Offset, "the row has no data words")
	case f.Outermost():
		return r, nil
	case e.Flexible:
		return t.flexible(f)
	}
	return t.fixed(f)
}

// fixed interprets the data words of a default FDE: offsets of the CFA, the return address and the frame
// pointer. Those whose offset is in the header have none (section 3.1).
func (t *Table) fixed(f *FRE) (r Rules, err error) {
	regs := registersOf[t.ABI]
	r.CFA = Rule{Set: true, ByReg: true, Reg: regs.fp, Offset: int64(f.Words[0])}
	if f.SP {
		r.CFA.Reg = regs.sp
	}
	t.scale(&r.CFA)
	n := 1
	next := func(fixed int8) (rule Rule) {
		switch {
		case fixed != 0:
			return headerRule(fixed)
		case n >= f.Count:
			return Rule{}
		}
		n++
		return t.saved(f.Words[n-1])
	}
	r.RA = next(t.FixedRA)
	if n == 2 && f.Words[1] == 0 {
		r.RA = Rule{Pad: true} // defined for s390x; a return address at the CFA itself does not exist elsewhere either
	}
	r.FP = next(t.FixedFP)
	if n != f.Count {
		return r, defect(f.Offset, "it has %d data words, and %d have a meaning", f.Count, n)
	}
	return r, nil
}

// scale undoes the scaling of the CFA's offset on s390x. The specification has it for default FDEs only, but
// gas scales the offset in flexible ones too, and readelf expects it.
func (t *Table) scale(cfa *Rule) {
	if t.ABI == S390X && cfa.Set {
		cfa.Offset = cfa.Offset*s390xScale + s390xBias
	}
}

func headerRule(offset int8) Rule {
	return Rule{Set: true, Fixed: true, Deref: true, Offset: int64(offset)}
}

// saved returns the rule of an offset: the value is saved there. Version 2 for s390x has odd offsets for
// registers (section 1.3, erratum 1).
func (t *Table) saved(w int32) Rule {
	if t.ABI == S390X && t.Version == 2 && w&1 != 0 {
		return Rule{Set: true, ByReg: true, Reg: register(uint32(w) >> 1)}
	}
	return Rule{Set: true, Deref: true, Offset: int64(w)}
}

// register returns the register with a DWARF number, or arch.NoReg.
func register(n uint32) arch.Reg {
	if n >= arch.MaxRegs {
		return arch.NoReg
	}
	return arch.Reg(n)
}

// flexible interprets the data words of a flexible FDE: a control word and an offset for each value, or
// the control word 0 for a value without a rule.
func (t *Table) flexible(f *FRE) (r Rules, err error) {
	n := 0
	next := func(header int8) Rule {
		if n >= f.Count {
			if header != 0 {
				return headerRule(header)
			}
			return Rule{}
		}
		control := uint32(f.Words[n])
		if f.Size < 4 {
			control &= 1<<(8*f.Size) - 1
		}
		n++
		switch {
		case control == 0 && header != 0:
			rule := headerRule(header)
			rule.Pad = true
			return rule
		case control == 0:
			return Rule{Pad: true}
		case n >= f.Count:
			err = defect(f.Offset, "the offset after its control word 0x%x is missing", control)
			return Rule{}
		case control&controlUnused != 0:
			err = defect(f.Offset, "bit 2 of its control word 0x%x is not known", control)
		}
		rule := Rule{Set: true, ByReg: control&controlReg != 0, Deref: control&controlDeref != 0, Offset: int64(f.Words[n])}
		if n++; rule.ByReg {
			rule.Reg = register(control >> controlShift)
		}
		if rule.Reg == arch.NoReg {
			err = defect(f.Offset, "register %d does not exist", control>>controlShift)
		}
		return rule
	}
	r.CFA = next(0)
	t.scale(&r.CFA)
	r.RA = next(t.FixedRA)
	r.FP = next(t.FixedFP)
	switch {
	case err != nil:
		return r, err
	case !r.CFA.Set || !r.CFA.ByReg:
		return r, defect(f.Offset, "its CFA is not relative to a register")
	case n != f.Count:
		return r, defect(f.Offset, "it has %d data words, and %d have a meaning", f.Count, n)
	}
	return r, nil
}
