package emulate

import "errors"

var (
	errPC    = errors.New("emulate: RIP is not at the instruction")
	errFlags = errors.New("emulate: the trap flag or the alignment-check flag is set")
)

// Run executes the instruction, which must be at r.RIP. If it returns an error, then neither r nor
// the memory has changed, and the processor must execute the instruction: it raises the right
// fault. Besides errors of m, an error is a branch to an address that no program can have, or a set
// TF or AC flag.
func (o *Op) Run(r *Regs, m Memory) error {
	if r.RIP != o.pc {
		return errPC
	}
	if r.Flags&(flagTF|flagAC) != 0 {
		return errFlags
	}
	next, err := r.RIP+uint64(o.length), error(nil)
	switch o.kind {
	case nop, endbr:
	case lea:
		setRegister(&r.GPR[o.dst&15], o.size, o.offset(r))
	case xchg:
		o.exchange(r, m)
	case cmov:
		err = o.moveIf(r, m)
	case setcc:
		err = o.write(r, m, o.dst, 1, when(holds(o.cond, r.Flags), 1))
	case push:
		err = o.push(r, m)
	case pop:
		err = o.pop(r, m)
	case leave:
		err = o.leave(r, m)
	case call, jmp, jcc, jrcxz, ret:
		next, err = o.branch(r, m)
	default:
		err = o.compute(r, m)
	}
	if err != nil {
		return err
	}
	r.RIP = next
	r.Flags &^= flagRF // SDM volume 3, "Instruction-Breakpoint Exception Condition".
	return nil
}

// compute executes the kinds from add to lastComputed.
func (o *Op) compute(r *Regs, m Memory) error {
	c := &computations[o.kind]
	var dst uint64
	src, err := o.read(r, m, o.src, o.srcSize)
	if err != nil {
		return err
	}
	switch o.kind {
	case movsx, movsxd, cbw:
		src = signExtend(src, o.srcSize)
	case imul3:
		dst = o.imm & mask(o.size)
	default:
		if !c.reads {
			break
		}
		if dst, err = o.read(r, m, o.dst, o.size); err != nil {
			return err
		}
	}
	result, flags := c.compute(dst, src, o.size, r.Flags)
	if c.writes {
		if err := o.write(r, m, o.dst, o.size, result); err != nil {
			return err
		}
	}
	r.Flags = flags
	return nil
}

// exchange executes XCHG of two registers.
func (o *Op) exchange(r *Regs, m Memory) {
	dst, _ := o.read(r, m, o.dst, o.size)
	src, _ := o.read(r, m, o.src, o.size)
	_ = o.write(r, m, o.dst, o.size, src)
	_ = o.write(r, m, o.src, o.size, dst)
}

// moveIf executes CMOVcc. It reads the source in any case, and a 32-bit destination loses its upper
// half in any case.
func (o *Op) moveIf(r *Regs, m Memory) error {
	value, err := o.read(r, m, o.src, o.size)
	if err != nil {
		return err
	}
	reg := &r.GPR[o.dst&15]
	if !holds(o.cond, r.Flags) {
		value = *reg
	}
	setRegister(reg, o.size, value)
	return nil
}
