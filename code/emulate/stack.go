package emulate

// push executes PUSH. PUSH RSP pushes the old value, and an address relative to RSP uses the old
// one.
func (o *Op) push(r *Regs, m Memory) error {
	value, err := o.read(r, m, o.src, o.size)
	if err != nil {
		return err
	}
	top := r.GPR[rsp] - uint64(o.size)
	if err := store(m, top, o.size, value); err != nil {
		return err
	}
	r.GPR[rsp] = top
	return nil
}

// pop executes POP. POP RSP yields the popped value, and an address relative to RSP uses the new
// one.
func (o *Op) pop(r *Regs, m Memory) error {
	value, err := load(m, r.GPR[rsp], o.size)
	if err != nil {
		return err
	}
	r.GPR[rsp] += uint64(o.size)
	if err := o.write(r, m, o.dst, o.size, value); err != nil {
		r.GPR[rsp] -= uint64(o.size)
		return err
	}
	return nil
}

// leave executes LEAVE.
func (o *Op) leave(r *Regs, m Memory) error {
	frame := r.GPR[rbp]
	value, err := load(m, frame, 8)
	if err != nil {
		return err
	}
	r.GPR[rsp], r.GPR[rbp] = frame+8, value
	return nil
}
