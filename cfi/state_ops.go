package cfi

import (
	"fmt"

	"dbg/arch"
	"dbg/internal/ehpointer"
	"dbg/row"
	"dbg/row/compiled"
)

// instruction executes an instruction whose first byte has been read; jumps reports whether it sets
// the location to at.
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
		b := ehpointer.Bases{Section: x.t.addr, Text: x.t.text, Data: x.t.dataBase, Func: x.fde.lo}
		return ehpointer.Read(r, c.ptrEnc, int(c.AddrSize), &b), true, nil
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

// change executes the instructions that change rules: DWARF 5, 6.4.2.2 to 6.4.2.5, and vendor
// extensions.
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
		// DWARF forbids this after DW_CFA_def_cfa_expression. Perl-generated assembly of OpenSSL
		// and libgcrypt does it nevertheless, and means the offset before the expression; GCC's
		// unwinder and binutils interpret it so. RISC-V's CIEs have only this instruction: the
		// offset is then 0.
		return x.defCFA(r.ULEB(), cur.CFA.N)
	case cfaDefCFAOffset, cfaDefCFAOffsetSF:
		var off int64
		if op == cfaDefCFAOffset {
			off = int64(r.ULEB())
		} else {
			off = r.SLEB() * c.DataAlign
		}
		cur.CFA.N = off // the register may follow later
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
			x.rule(n, row.Rule{Kind: row.Undefined}) // saved in a register that we cannot read
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

	// Vendor extensions
	case cfaGNUArgsSize:
		cur.ArgsSize = r.ULEB()
		x.hashFlags()
	case cfaAArch64NegateRAState, cfaAArch64NegateRAStatePC:
		switch a := x.t.arch; {
		case a == arch.ARM64, a == arch.BigARM64:
		case a.HasWindows() && op == cfaAArch64NegateRAState:
			x.saveWindow()
			return nil
		default:
			return defect("DW_CFA_GNU_window_save is valid only on SPARC")
		}
		cur.Signed = !cur.Signed
		x.hashFlags()
	default:
		return unknownInstruction(op)
	}
	return nil
}

// saveWindow executes DW_CFA_GNU_window_save: the function has a new register window. The caller's o0 to
// o7 are in i0 to i7, and its l0 to i7 are where its window is saved, from the CFA on.
func (x *exec) saveWindow() {
	const o0, l0, i0, end = 8, 16, 24, 32
	for n := range uint64(l0 - o0) {
		x.rule(o0+n, row.Rule{Kind: row.InReg, Reg: arch.Reg(i0 + n)})
	}
	for n := range uint64(end - l0) {
		x.rule(l0+n, row.Rule{Kind: row.At, N: int64(n) * int64(x.t.arch.PtrSize)})
	}
}

func unknownInstruction(op byte) defect {
	return defect(fmt.Sprintf("unknown call frame instruction 0x%02x", op))
}

func (x *exec) defCFA(n uint64, off int64) error {
	reg, err := x.register(n)
	if err != nil {
		return err
	}
	x.setCFA(&row.Rule{Kind: row.InReg, Reg: reg, N: off})
	return nil
}

// defCFAIn executes LLVM's extensions for processors whose stack has its own address space. The
// processors in package arch have a single address space, 0.
func (x *exec) defCFAIn(n uint64, off int64, space uint64) error {
	if space != 0 && x.r.Err() == nil {
		return defect(fmt.Sprintf("CFA is in unsupported address space %d", space))
	}
	return x.defCFA(n, off)
}

// rule gives a register, by its DWARF number, a rule. Rules for registers without a slot in the
// architecture (AVX-512 masks, and so on) are not used in this package, and are dropped.
func (x *exec) rule(n uint64, rule row.Rule) {
	if reg, ok := x.t.arch.FromDWARF(n); ok {
		x.set(reg, &rule, compiled.HashRule(reg, &rule))
	}
}

// restore gives a register the rule that the CIE gave it. If the CIE gave it none, the register is
// then unspecified, not undefined.
func (x *exec) restore(n uint64) {
	if reg, ok := x.t.arch.FromDWARF(n); ok {
		rule, sum := x.initial.rule(reg)
		x.set(reg, rule, sum)
	}
}

// remember pushes the rules, including the CFA's. DWARF 2 left open whether the CFA is part of the
// state; GCC and LLVM agree that it is.
func (x *exec) remember() error {
	if x.depth >= maxRemembered {
		return defect("too many nested DW_CFA_remember_state")
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

// restoreState pops the rules. The start of the row and the size of the arguments are not part of
// the state.
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
