package session

import (
	"dbg/arch"
	"dbg/target"
)

// registerEdits is what a call changes in a thread's state.
type registerEdits []struct {
	reg   arch.Reg
	value uint64
	bytes []byte // of a vector register, else nil
}

func (e *registerEdits) general(r arch.Reg, v uint64) {
	*e = append(*e, struct {
		reg   arch.Reg
		value uint64
		bytes []byte
	}{r, v, nil})
}

func (e *registerEdits) vector(r arch.Reg, b []byte) {
	*e = append(*e, struct {
		reg   arch.Reg
		value uint64
		bytes []byte
	}{r, 0, b})
}

// apply returns a changed copy of a state, in which the x87 stack is empty and no system call is
// resumed. It returns nil and the register if there is one that the state does not have.
func (e registerEdits) apply(saved *target.SavedState) (*target.SavedState, arch.Reg) {
	next := saved.Clone()
	next.LeaveSyscall()
	next.SetX87()
	for _, x := range e {
		ok := true
		if x.bytes != nil {
			ok = next.SetVector(x.reg, x.bytes)
		} else {
			ok = next.SetGeneral(x.reg, x.value)
		}
		if !ok {
			return nil, x.reg
		}
	}
	return next, 0
}

// savedRegisters reads registers of a saved state.
func savedRegisters(a *arch.Arch, st *target.SavedState) resultRegisters {
	regs := arch.Registers{Arch: a}
	target.SetUser(&regs, st.General)
	return resultRegisters{regs, func(r arch.Reg) ([]byte, error) {
		if b, ok := st.Wide(r); ok {
			return b, nil
		}
		return nil, target.ErrNoRegister
	}}
}
