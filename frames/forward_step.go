package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
)

// step does what one instruction does to RSP, RBP and what is saved.
func (at *entryState) step(in *x86asm.Inst) {
	dst, _ := in.Args[0].(x86asm.Reg)
	switch in.Op {
	case x86asm.PUSH:
		at.sp -= 8
		if r, ok := fromX86(dst); ok && at.spOK && !at.saved.Has(r) {
			at.saved.Add(r)
			at.slot[slotOf(r)] = at.sp
		}
		return
	case x86asm.PUSHFQ:
		at.sp -= 8
		return
	case x86asm.POPFQ:
		at.sp += 8
		return
	case x86asm.POP:
		at.loaded(dst, at.sp, at.spOK)
		at.sp += 8
		return
	case x86asm.LEAVE:
		at.loaded(x86asm.RBP, at.fp, at.fpOK)
		at.sp, at.spOK = at.fp+8, at.fpOK
		at.fpOK = false
		return
	case x86asm.CALL, x86asm.CMP, x86asm.TEST, x86asm.FNOP:
		return
	case x86asm.MOV:
		m, toMem := in.Args[0].(x86asm.Mem)
		src, _ := in.Args[1].(x86asm.Reg)
		if r, ok := fromX86(src); ok && toMem && m.Index == 0 && !at.saved.Has(r) {
			switch {
			case m.Base == x86asm.RSP && at.spOK:
				at.saved.Add(r)
				at.slot[slotOf(r)] = at.sp + m.Disp
			case m.Base == x86asm.RBP && at.fpOK:
				at.saved.Add(r)
				at.slot[slotOf(r)] = at.fp + m.Disp
			}
			return
		}
		if m, ok := in.Args[1].(x86asm.Mem); ok && m.Index == 0 && dst != x86asm.RSP {
			switch {
			case m.Base == x86asm.RSP && at.spOK:
				at.loaded(dst, at.sp+m.Disp, true)
				return
			case m.Base == x86asm.RBP && at.fpOK:
				at.loaded(dst, at.fp+m.Disp, true)
				return
			}
		}
	}
	m, isMem := in.Args[1].(x86asm.Mem)
	if dst == x86asm.RBP || dst == x86asm.EBP {
		at.fpOK = false
		switch {
		case in.Op == x86asm.MOV && in.Args[1] == x86asm.Arg(x86asm.RSP):
			at.fp, at.fpOK = at.sp, at.spOK
		case in.Op == x86asm.LEA && isMem && m.Base == x86asm.RSP && m.Index == 0:
			at.fp, at.fpOK = at.sp+m.Disp, at.spOK
		}
		return
	}
	if dst != x86asm.RSP && dst != x86asm.ESP {
		return
	}
	imm, isImm := in.Args[1].(x86asm.Imm)
	switch {
	case in.Op == x86asm.ADD && isImm:
		at.sp += int64(imm)
	case in.Op == x86asm.SUB && isImm:
		at.sp -= int64(imm)
	case in.Op == x86asm.LEA && isMem && m.Index == 0 && m.Base == x86asm.RSP:
		at.sp += m.Disp
	case in.Op == x86asm.LEA && isMem && m.Index == 0 && m.Base == x86asm.RBP:
		at.sp, at.spOK = at.fp+m.Disp, at.fpOK
	case in.Op == x86asm.MOV && in.Args[1] == x86asm.Arg(x86asm.RBP):
		at.sp, at.spOK = at.fp, at.fpOK
	default:
		at.spOK = false
	}
}

// loaded is a register that got the word at CFA+from: if that is where it was saved, it is
// now what it was.
func (at *entryState) loaded(dst x86asm.Reg, from int64, known bool) {
	r, ok := fromX86(dst)
	if !ok {
		return
	}
	if r == arch.RBP {
		at.fpOK = false
	}
	if known && at.saved.Has(r) && at.slot[slotOf(r)] == from {
		at.saved.Remove(r)
	}
}
