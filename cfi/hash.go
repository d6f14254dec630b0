package cfi

import (
	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// hash returns compiled.HashRow of the row. Every change of the row updates the parts of it.
func (x *exec) hash() uint64 {
	cfa := &x.row.CFA
	if cfa.Kind == row.InReg {
		return x.sum ^ x.flagSum ^ x.cfaSums.of(row.InReg, cfa.Reg, cfa.N)
	}
	if cfa.Kind == row.ValExpr {
		return x.sum ^ x.flagSum ^ x.exprSum
	}
	return x.sum ^ x.flagSum ^ compiled.HashCFA(cfa)
}

// hashFlags updates flagSum. It must be called after a change of anything but rules.
func (x *exec) hashFlags() {
	r := x.row
	x.flagSum = compiled.HashRow(&row.Row{RA: r.RA, Signal: r.Signal, Signed: r.Signed, ArgsSize: r.ArgsSize}) ^ compiled.HashCFA(&unspecified)
}

// hashCache caches the hashes of rules that consist of a register and an offset: a file has few
// different ones. A key combines the offset and the register; 0 marks an empty slot.
type hashCache [256]struct{ key, sum uint64 }

// of returns the hash of the CFA rule reg+n if kind is InReg, and of the rule offset(n) of register
// reg if kind is At. A cache serves one kind only.
func (m *hashCache) of(kind row.Kind, reg arch.Reg, n int64) uint64 {
	key := uint64(n)<<8 | uint64(reg) + 1
	e := &m[(uint64(n)>>3^uint64(reg)*5)%uint64(len(m))]
	if e.key == key && n == n<<8>>8 {
		return e.sum
	}
	return m.miss(kind, reg, n)
}

func (m *hashCache) miss(kind row.Kind, reg arch.Reg, n int64) (sum uint64) {
	if kind == row.At {
		sum = compiled.HashRule(reg, &row.Rule{Kind: row.At, N: n})
	} else {
		sum = compiled.HashCFA(&row.Rule{Kind: row.InReg, Reg: reg, N: n})
	}
	e := &m[(uint64(n)>>3^uint64(reg)*5)%uint64(len(m))]
	e.key, e.sum = uint64(n)<<8|uint64(reg)+1, sum
	return sum
}
