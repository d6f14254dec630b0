package module

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// CFAAt returns how to compute the canonical frame address at pc, an address in the file: a
// register plus an offset, from the table that the unwinder prefers there. ok is false if no table
// covers pc, or if its rule is an expression.
func (m *Module) CFAAt(a *arch.Arch, pc uint64) (r arch.Reg, offset int64, ok bool) {
	var found row.Row
	for _, s := range m.load(a).list {
		err := s.RowAt(pc, &found)
		if err == nil {
			return found.CFA.Reg, found.CFA.N, found.CFA.Kind == row.InReg && !found.Signal
		}
		if err != cfi.ErrNotCovered {
			break
		}
	}
	return arch.NoReg, 0, false
}
