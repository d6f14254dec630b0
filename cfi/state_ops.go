package cfi

import (
	"fmt"

	"dbg/arch"
	"dbg/row"
)

// rule executes the instructions that change rules: DWARF 5, 6.4.2.2 to 6.4.2.5,
// and the vendors' ones.
func (x *exec) rule(op byte) error {
	r, c, cur := &x.r, &x.fde.CIE, x.cur
	switch op {
	case cfaNop:

	// 6.4.2.2 CFA definition
	case cfaDefCFA:
		return x.defCFA(r.uleb(), int64(r.uleb()))
	case cfaDefCFASF:
		return x.defCFA(r.uleb(), r.sleb()*c.DataAlign)
	case cfaDefCFARegister:
		// DWARF forbids this after DW_CFA_def_cfa_expression. Perl-generated assembly
		// of OpenSSL and libgcrypt does it all the same and means the offset
		// before the expression, as GCC's unwinder and binutils have it.
		n := r.uleb()
		if cur.CFA.Kind == row.Unspecified {
			return x.fail("DW_CFA_def_cfa_register before the CFA is defined")
		}
		return x.defCFA(n, cur.CFA.N)
	case cfaDefCFAOffset, cfaDefCFAOffsetSF:
		var off int64
		if op == cfaDefCFAOffset {
			off = int64(r.uleb())
		} else {
			off = r.sleb() * c.DataAlign
		}
		if cur.CFA.Kind == row.Unspecified {
			return x.fail("DW_CFA_def_cfa_offset before the CFA is defined")
		}
		cur.CFA.N = off
	case cfaDefCFAExpression:
		cur.CFA = row.Rule{Kind: row.ValExpr, Expr: r.bytes(r.uleb()), N: cur.CFA.N}

	// 6.4.2.3 Register rules
	case cfaUndefined:
		x.set(r.uleb(), row.Rule{Kind: row.Undefined})
	case cfaSameValue:
		x.set(r.uleb(), row.Rule{Kind: row.Same})
	case cfaOffsetExtended:
		x.set(r.uleb(), row.Rule{Kind: row.At, N: int64(r.uleb()) * c.DataAlign})
	case cfaOffsetExtendedSF:
		x.set(r.uleb(), row.Rule{Kind: row.At, N: r.sleb() * c.DataAlign})
	case cfaGNUNegativeOffsetExtended:
		x.set(r.uleb(), row.Rule{Kind: row.At, N: -int64(r.uleb()) * c.DataAlign})
	case cfaValOffset:
		x.set(r.uleb(), row.Rule{Kind: row.Val, N: int64(r.uleb()) * c.DataAlign})
	case cfaValOffsetSF:
		x.set(r.uleb(), row.Rule{Kind: row.Val, N: r.sleb() * c.DataAlign})
	case cfaRegister:
		n := r.uleb()
		from, err := x.register(r.uleb())
		if err != nil {
			x.set(n, row.Rule{Kind: row.Undefined}) // kept where we can't look
			return nil
		}
		x.set(n, row.Rule{Kind: row.InReg, Reg: from})
	case cfaExpression:
		n := r.uleb()
		x.set(n, row.Rule{Kind: row.AtExpr, Expr: r.bytes(r.uleb())})
	case cfaValExpression:
		n := r.uleb()
		x.set(n, row.Rule{Kind: row.ValExpr, Expr: r.bytes(r.uleb())})
	case cfaRestoreExtended:
		x.restore(r.uleb())

	// 6.4.2.4 Row states
	case cfaRememberState:
		return x.remember()
	case cfaRestoreState:
		return x.recall()

	// Vendors' extensions
	case cfaGNUArgsSize:
		cur.ArgsSize = r.uleb()
	case cfaAArch64NegateRAState, cfaAArch64NegateRAStatePC:
		if x.t.arch != arch.ARM64 {
			return x.fail("DW_CFA_GNU_window_save is of SPARC")
		}
		cur.Signed = !cur.Signed
	default:
		return x.fail(fmt.Sprintf("instruction 0x%02x is unknown", op))
	}
	return nil
}

func (x *exec) defCFA(n uint64, off int64) error {
	reg, err := x.register(n)
	if err != nil {
		return err
	}
	x.cur.CFA = row.Rule{Kind: row.InReg, Reg: reg, N: off}
	return nil
}

// remember pushes the rules, the CFA's among them. GCC and LLVM agree that the
// CFA is part of the state, which DWARF 2 left open.
func (x *exec) remember() error {
	if x.depth >= maxRemembered {
		return x.fail("DW_CFA_remember_state nests too deep")
	}
	if x.depth == len(x.saved) {
		x.saved = append(x.saved, row.Row{})
	}
	x.saved[x.depth].CopyFrom(x.cur)
	x.depth++
	return nil
}

// recall pops them. Where the row begins, and the size of the arguments, are no
// part of the state.
func (x *exec) recall() error {
	if x.depth == 0 {
		return x.fail("DW_CFA_restore_state without DW_CFA_remember_state")
	}
	x.depth--
	s, cur := &x.saved[x.depth], x.cur
	cur.CFA, cur.Signed = s.CFA, s.Signed
	cur.Regs = append(cur.Regs[:0], s.Regs...)
	return nil
}
