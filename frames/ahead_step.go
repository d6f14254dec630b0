package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/target"
)

// jumpsTo is where a JMP goes, 0 if nobody knows: through a slot that is addressed relative to RIP, as stubs
// of the procedure linkage table do, it is known.
func (s *simulation) jumpsTo(in *x86asm.Inst, next uint64) uint64 {
	switch a := in.Args[0].(type) {
	case x86asm.Rel:
		return next + uint64(int64(a))
	case x86asm.Mem:
		if a.Base == x86asm.RIP && a.Index == 0 {
			s.slots = true
			to := s.w.slot(target.Addr(next + uint64(a.Disp)))
			if s.w.u.space.Executable(to) {
				return uint64(to)
			}
		}
	}
	return 0
}

// step does what one instruction does to RSP, RBP and the callee-saved registers. It is
// false where nothing can come of it any more.
func (at *way) step(in *x86asm.Inst) bool {
	dst, _ := in.Args[0].(x86asm.Reg)
	m, isMem := in.Args[1].(x86asm.Mem)
	switch in.Op {
	case x86asm.PUSH, x86asm.PUSHFQ:
		at.sp = at.sp.plus(-8)
		at.store(at.sp, dst)
		return true
	case x86asm.POPFQ:
		at.sp = at.sp.plus(8)
		return true
	case x86asm.POP:
		if dst == x86asm.RSP {
			return false
		}
		from := at.sp
		at.sp = at.sp.plus(8)
		at.load(dst, from)
		return true
	case x86asm.LEAVE:
		from := at.held[slotOf(arch.RBP)]
		if from.base == arch.NoReg {
			return false
		}
		at.sp = from.plus(8)
		at.load(x86asm.RBP, from)
		return true
	case x86asm.CALL, x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.BT:
		return true
	case x86asm.FNOP:
		for _, a := range in.Args {
			if r, ok := a.(x86asm.Reg); !ok {
				break
			} else if r == x86asm.RSP {
				at.sp = noPlace
			} else if r, ok := fromX86(r); ok {
				at.lose(r)
			}
		}
		return true
	case x86asm.CPUID:
		at.lose(arch.RBX)
		return true
	case x86asm.MOV:
		if to, ok := in.Args[0].(x86asm.Mem); ok {
			src, _ := in.Args[1].(x86asm.Reg)
			at.store(at.address(to), src)
			return true
		}
		if isMem && dst != x86asm.RSP {
			at.load(dst, at.address(m))
			return true
		}
	}
	if dst != x86asm.RSP && dst != x86asm.ESP {
		r, ok := calleeSavedPart(dst)
		if !ok {
			return true
		}
		p := noPlace
		if _, whole := fromX86(dst); whole {
			p = at.moved(in)
		}
		at.lose(r)
		at.held[slotOf(r)] = p
		return true
	}
	imm, isImm := in.Args[1].(x86asm.Imm)
	switch {
	case in.Op == x86asm.ADD && isImm:
		at.sp = at.sp.plus(int64(imm))
	case in.Op == x86asm.SUB && isImm:
		at.sp = at.sp.plus(-int64(imm))
	default:
		at.sp = at.moved(in) // not known after alloca, realignment: the frame pointer may bring it back
	}
	return true
}

// moved is the address that an instruction puts in a register: LEA, or a MOV from another register.
func (at *way) moved(in *x86asm.Inst) place {
	switch from := in.Args[1].(type) {
	case x86asm.Mem:
		if in.Op == x86asm.LEA {
			return at.address(from)
		}
	case x86asm.Reg:
		if in.Op == x86asm.MOV {
			return at.holds(from)
		}
	}
	return noPlace
}

// address is where an operand in memory is, if that is known.
func (at *way) address(m x86asm.Mem) place {
	if m.Index != 0 || m.Segment != 0 {
		return noPlace
	}
	p := at.holds(m.Base)
	if p.base == arch.NoReg {
		return noPlace
	}
	return p.plus(m.Disp)
}

// holds is the address in a register.
func (at *way) holds(r x86asm.Reg) place {
	if r == x86asm.RSP {
		return at.sp
	}
	if r, ok := fromX86(r); ok {
		return at.held[slotOf(r)]
	}
	return noPlace
}

// lose notes that a register has another value.
func (at *way) lose(r arch.Reg) {
	at.regs[slotOf(r)].kind = lost
	at.held[slotOf(r)] = noPlace
}

// store notes what is written to the stack.
func (at *way) store(to place, src x86asm.Reg) {
	if to.base != arch.RSP {
		return
	}
	w := storedWord{to.off, regCode{kind: lost}}
	if r, ok := fromX86(src); ok {
		w.what = at.regs[slotOf(r)]
	}
	for i := range at.nstored {
		if at.stored[i].off == to.off {
			at.stored[i] = w
			return
		}
	}
	if at.nstored < maxStored {
		at.stored[at.nstored] = w
		at.nstored++
	}
}

// read is what a word on the stack has: what the code has written there itself, or what was there before.
// Below the stack pointer of now there was nothing.
func (at *way) read(from place) regCode {
	for i := range at.nstored {
		if from.base == arch.RSP && at.stored[i].off == from.off {
			return at.stored[i].what
		}
	}
	if from.base == arch.NoReg || from.base == arch.RSP && from.off < 0 {
		return regCode{kind: lost}
	}
	return regCode{inStack, from}
}

// load notes that a register is loaded from the stack.
func (at *way) load(dst x86asm.Reg, from place) {
	r, ok := fromX86(dst)
	if !ok {
		if r, ok = calleeSavedPart(dst); ok {
			at.lose(r)
		}
		return
	}
	now := at.read(from)
	at.lose(r)
	if at.regs[slotOf(r)] = now; now.kind == asNow {
		at.held[slotOf(r)] = place{base: r}
	}
}

// calleeSavedPart is the callee-saved register that r is a part of.
func calleeSavedPart(r x86asm.Reg) (arch.Reg, bool) {
	if full, ok := fromX86(r); ok {
		return full, true
	}
	switch r {
	case x86asm.EBX, x86asm.BX, x86asm.BL, x86asm.BH:
		return arch.RBX, true
	case x86asm.EBP, x86asm.BP, x86asm.BPB:
		return arch.RBP, true
	}
	for _, first := range []x86asm.Reg{x86asm.R12L, x86asm.R12W, x86asm.R12B} {
		if first <= r && r <= first+3 {
			return arch.R12 + arch.Reg(r-first), true
		}
	}
	return 0, false
}

func fromX86(r x86asm.Reg) (arch.Reg, bool) {
	switch r {
	case x86asm.RBX:
		return arch.RBX, true
	case x86asm.RBP:
		return arch.RBP, true
	case x86asm.R12, x86asm.R13, x86asm.R14, x86asm.R15:
		return arch.R12 + arch.Reg(r-x86asm.R12), true
	}
	return 0, false
}
