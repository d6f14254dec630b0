package pdata

import (
	"fmt"

	"dbg/arch"
	"dbg/row"
)

// amd64Row returns the row at an offset of the function, outside of epilogues. The operations of the
// entry itself are undone as far as they have been executed, those of the entries to which it is
// chained all.
func (b *builder) amd64Row(list []*unwindInfo, at int) (*row.Row, error) {
	b.state.start(b.t.config.Arch)
	for i, u := range list {
		if i > 0 {
			at = 1 << 30
		}
		if err := b.undo(u, at); err != nil {
			return nil, err
		}
	}
	var r row.Row
	b.fillAMD64(&r)
	return &r, nil
}

func (b *builder) fillAMD64(r *row.Row) {
	cfa := entryCFA(b.t.config.Arch)
	if b.state.ended {
		cfa = 0
	}
	b.state.fill(r, cfa)
}

// undo undoes the operations of one record that have been executed at an offset.
func (b *builder) undo(u *unwindInfo, at int) error {
	executed := u.operations
	for len(executed) > 0 && executed[0].at > at {
		executed = executed[1:]
	}
	// Offsets of saved registers count from the stack pointer after the fixed allocation. With a frame
	// register, they count from there once it is set: the stack pointer may have moved since.
	base := b.state.sp
	if u.version < 3 && u.frameReg != 0 && u.established(executed) {
		base = place{amd64Regs[u.frameReg], -u.frameOffset}
	}
	if u.version == 3 {
		b.state.sp = initialSP(executed, b.state.sp)
	}
	for i := range executed {
		o := &executed[i]
		if o.at > at {
			continue
		}
		if u.version == 3 {
			base = b.state.sp
		}
		if err := b.undoOne(u, o, base); err != nil {
			return err
		}
	}
	return nil
}

// established reports whether the frame register is set: by an executed operation, or, in a chained
// entry, by that to which it is chained.
func (u *unwindInfo) established(executed []operation) bool {
	for i := range executed {
		if executed[i].code == uwopSetFPReg {
			return true
		}
	}
	for i := range u.operations {
		if u.operations[i].code == uwopSetFPReg {
			return false
		}
	}
	return u.chained()
}

// initialSP returns where the stack pointer was after the operations of version 3: if they set a
// frame register, relative to that, since the body may have moved the stack pointer.
func initialSP(executed []operation, sp place) place {
	below := int64(0)
	for i := range executed {
		switch o := &executed[i]; o.code {
		case uwopAllocLarge:
			below += o.n
		case uwopPushNonvol:
			below += 8
		case uwopSetFPReg:
			return place{amd64Regs[o.reg&15], -o.n - below}
		}
	}
	return sp
}

// undoOne undoes an operation. base is the address to which the offsets of saved registers are
// relative.
func (b *builder) undoOne(u *unwindInfo, o *operation, base place) error {
	s := &b.state
	if b.steps++; b.steps > maxSteps {
		return errSteps
	}
	switch o.code {
	case uwopPushNonvol:
		if o.reg == 4 {
			return fmt.Errorf("the stack pointer is pushed")
		}
		if o.reg < 16 {
			if err := s.save(amd64Regs[o.reg], s.sp); err != nil {
				return err
			}
		}
		return s.alloc(8)
	case uwopAllocLarge:
		return s.alloc(o.n)
	case uwopSetFPReg:
		reg, n := u.frameReg, u.frameOffset
		if u.version == 3 {
			reg, n = o.reg, o.n
		}
		if reg == 4 || u.version < 3 && reg == 0 {
			return fmt.Errorf("a frame register is set, but none is named")
		}
		return s.setSP(amd64Regs[reg&15], n)
	case uwopSaveNonvol:
		if o.reg == 4 {
			return fmt.Errorf("the stack pointer is saved")
		}
		if o.reg > 15 {
			return nil // APX: dbg has no such register
		}
		return s.save(amd64Regs[o.reg], place{base.reg, base.off + o.n})
	case uwopSaveXMM:
		return s.save(arch.XMM0+arch.Reg(o.reg&15), place{base.reg, base.off + o.n})
	case uwopPushMachFrame:
		return s.machineFrame(8 * o.n)
	}
	return fmt.Errorf("unknown unwind code %d", o.code)
}

// machineFrame undoes what the processor pushes at an interrupt: SS, RSP, RFLAGS, CS, RIP and, of
// n bytes, an error code. The CFA is above it.
func (s *state) machineFrame(n int64) error {
	if s.ended {
		return errAfterFrame
	}
	for i, reg := range []arch.Reg{arch.RIP, arch.CS, arch.RFLAGS, arch.RSP, arch.SS} {
		s.set(reg, place{s.sp.reg, s.sp.off + n + 8*int64(i)})
	}
	s.sp.off += n + 40
	s.ended, s.precise = true, true
	return nil
}
