package cfi

import (
	"fmt"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// instruction executes one whose first byte is read; jumps says that it sets the
// location to at.
func (x *exec) instruction(op byte) (at uint64, jumps bool, err error) {
	r, c := &x.r, x.c
	switch op & 0xc0 {
	case cfaOffset:
		x.rule(uint64(op&0x3f), row.Rule{Kind: row.At, N: int64(r.ULEB()) * c.DataAlign})
		return 0, false, nil
	}
	switch op {
	case cfaSetLoc:
		if x.t.debug {
			r.Block(uint64(c.SegSize))
			return r.Uint(int(c.AddrSize)), true, nil
		}
		b := bases{section: x.t.addr, text: x.t.text, data: x.t.dataBase, fn: x.fde.lo}
		return pointer(r, c.ptrEnc, int(c.AddrSize), &b), true, nil
	case cfaAdvanceLoc1:
		return x.advance(uint64(r.U8())), true, nil
	case cfaAdvanceLoc2:
		return x.advance(uint64(r.U16())), true, nil
	case cfaAdvanceLoc4:
		return x.advance(uint64(r.U32())), true, nil
	case cfaMIPSAdvanceLoc8:
		return x.advance(r.U64()), true, nil
	}
	return 0, false, x.change(op)
}

// change executes the instructions that change rules: DWARF 5, 6.4.2.2 to 6.4.2.5,
// and the vendors' ones.
func (x *exec) change(op byte) error {
	r, c, cur := &x.r, x.c, x.row
	switch op {
	// 6.4.2.2 CFA definition
	case cfaDefCFA:
		return x.defCFA(r.ULEB(), int64(r.ULEB()))
	case cfaDefCFASF:
		return x.defCFA(r.ULEB(), r.SLEB()*c.DataAlign)
	case cfaLLVMDefAspaceCFA:
		return x.defCFAIn(r.ULEB(), int64(r.ULEB()), r.ULEB())
	case cfaLLVMDefAspaceCFASF:
		return x.defCFAIn(r.ULEB(), r.SLEB()*c.DataAlign, r.ULEB())
	case cfaDefCFARegister:
		// DWARF forbids this after DW_CFA_def_cfa_expression. Perl-generated assembly
		// of OpenSSL and libgcrypt does it all the same and means the offset
		// before the expression, as GCC's unwinder and binutils have it. RISC-V's CIEs have
		// nothing else: the offset is then 0.
		return x.defCFA(r.ULEB(), cur.CFA.N)
	case cfaDefCFAOffset, cfaDefCFAOffsetSF:
		var off int64
		if op == cfaDefCFAOffset {
			off = int64(r.ULEB())
		} else {
			off = r.SLEB() * c.DataAlign
		}
		cur.CFA.N = off // of a register that may come later
	case cfaDefCFAExpression:
		cur.CFA = row.Rule{Kind: row.ValExpr, Expr: r.Block(r.ULEB()), N: cur.CFA.N}
		x.exprSum = compiled.HashCFA(&cur.CFA)

	// 6.4.2.3 Register rules
	case cfaUndefined:
		x.rule(r.ULEB(), row.Rule{Kind: row.Undefined})
	case cfaSameValue:
		x.rule(r.ULEB(), row.Rule{Kind: row.Same})
	case cfaOffsetExtended:
		x.rule(r.ULEB(), row.Rule{Kind: row.At, N: int64(r.ULEB()) * c.DataAlign})
	case cfaOffsetExtendedSF:
		x.rule(r.ULEB(), row.Rule{Kind: row.At, N: r.SLEB() * c.DataAlign})
	case cfaGNUNegativeOffsetExtended:
		x.rule(r.ULEB(), row.Rule{Kind: row.At, N: -int64(r.ULEB()) * c.DataAlign})
	case cfaValOffset:
		x.rule(r.ULEB(), row.Rule{Kind: row.Val, N: int64(r.ULEB()) * c.DataAlign})
	case cfaValOffsetSF:
		x.rule(r.ULEB(), row.Rule{Kind: row.Val, N: r.SLEB() * c.DataAlign})
	case cfaRegister:
		n := r.ULEB()
		from, err := x.register(r.ULEB())
		if err != nil {
			x.rule(n, row.Rule{Kind: row.Undefined}) // kept where we can't look
			return nil
		}
		x.rule(n, row.Rule{Kind: row.InReg, Reg: from})
	case cfaExpression:
		n := r.ULEB()
		x.rule(n, row.Rule{Kind: row.AtExpr, Expr: r.Block(r.ULEB())})
	case cfaValExpression:
		n := r.ULEB()
		x.rule(n, row.Rule{Kind: row.ValExpr, Expr: r.Block(r.ULEB())})
	case cfaRestoreExtended:
		x.restore(r.ULEB())

	// 6.4.2.4 Row states
	case cfaRememberState:
		return x.remember()
	case cfaRestoreState:
		return x.restoreState()

	// Vendors' extensions
	case cfaGNUArgsSize:
		cur.ArgsSize = r.ULEB()
		x.hashFlags()
	case cfaAArch64NegateRAState, cfaAArch64NegateRAStatePC:
		if x.t.arch != arch.ARM64 {
			return defect("DW_CFA_GNU_window_save is of SPARC")
		}
		cur.Signed = !cur.Signed
		x.hashFlags()
	default:
		return unknownInstruction(op)
	}
	return nil
}

func unknownInstruction(op byte) defect {
	return defect(fmt.Sprintf("instruction 0x%02x is unknown", op))
}

func (x *exec) defCFA(n uint64, off int64) error {
	reg, err := x.register(n)
	if err != nil {
		return err
	}
	x.setCFA(&row.Rule{Kind: row.InReg, Reg: reg, N: off})
	return nil
}

// defCFAIn is of LLVM's extensions for processors whose stack is in an address space of its own;
// those that there are facts of in package arch have only one, 0.
func (x *exec) defCFAIn(n uint64, off int64, space uint64) error {
	if space != 0 && x.r.Err() == nil {
		return defect(fmt.Sprintf("the CFA is in address space %d", space))
	}
	return x.defCFA(n, off)
}

// rule gives a register, by its DWARF number, a rule. Rules for registers that the
// architecture has no slot for (AVX-512 masks, and so on) are of no use to anybody here and are left out.
func (x *exec) rule(n uint64, rule row.Rule) {
	if reg, ok := x.t.arch.FromDWARF(n); ok {
		x.set(reg, &rule, compiled.HashRule(reg, &rule))
	}
}

// restore gives a register the rule that the CIE gave it, which may be none: it is
// then unspecified, not undefined.
func (x *exec) restore(n uint64) {
	if reg, ok := x.t.arch.FromDWARF(n); ok {
		rule, sum := x.initial.rule(reg)
		x.set(reg, rule, sum)
	}
}

// remember pushes the rules, the CFA's among them. GCC and LLVM agree that the
// CFA is part of the state, which DWARF 2 left open.
func (x *exec) remember() error {
	if x.depth >= maxRemembered {
		return defect("DW_CFA_remember_state nests too deep")
	}
	if x.depth == len(x.saved) {
		x.saved = append(x.saved, savedState{})
	}
	if x.copied += len(x.sums); x.copied > maxCopied {
		return tooCostly
	}
	k := &x.saved[x.depth]
	x.keep(k)
	k.cfaSum = x.exprSum
	x.depth++
	return nil
}

// restoreState pops them. Where the row begins, and the size of the arguments, are no
// part of the state.
func (x *exec) restoreState() error {
	if x.depth == 0 {
		return defect("DW_CFA_restore_state without DW_CFA_remember_state")
	}
	x.depth--
	k := &x.saved[x.depth]
	signed := x.row.Signed
	x.recall(k)
	x.exprSum = k.cfaSum
	if x.row.Signed != signed {
		x.hashFlags()
	}
	return nil
}
