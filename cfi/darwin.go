package cfi

import (
	"dbg/arch"
	"dbg/expr"
	"dbg/row"
)

// numbered renumbers the registers of the row to their usual numbers. The state is not usable after
// that.
func (x *exec) numbered() error {
	if !x.t.darwin {
		return nil
	}
	r, err := x.darwinRow()
	if err == nil {
		x.row.CopyFrom(r)
	}
	return err
}

// darwinRow returns a copy of the row with the usual register numbers: see Config.DarwinEH.
func (x *exec) darwinRow() (*row.Row, error) {
	r := new(row.Row)
	r.CopyFrom(x.row)
	if !darwinRule(&r.CFA) {
		return nil, x.fail(defect("cannot decode an expression"))
	}
	for i := range r.Regs {
		rr := &r.Regs[i]
		rr.Reg = arch.Reg(darwinNumber(uint64(rr.Reg)))
		if !darwinRule(&rr.Rule) {
			return nil, x.fail(defect("cannot decode an expression"))
		}
	}
	return r, nil
}

func darwinRule(r *row.Rule) (ok bool) {
	if r.Kind == row.InReg {
		r.Reg = arch.Reg(darwinNumber(uint64(r.Reg)))
	}
	if r.Expr == nil {
		return true
	}
	r.Expr, ok = expr.Renumber(r.Expr, arch.I386.PtrSize, darwinNumber)
	return ok
}

// darwinNumber returns the usual number of a register.
func darwinNumber(n uint64) uint64 {
	switch n {
	case 4:
		return 5
	case 5:
		return 4
	}
	return n
}
