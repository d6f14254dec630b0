package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/target"
)

// Limits of reading ahead.
const (
	aheadInstructions = 400
	aheadJumps        = 32
	aheadBytes        = 256
)

// ahead finds the caller by reading the function's code from PC on to its return, and doing to
// the stack pointer what the instructions will do: what they pop is what was pushed. Where PC is makes no
// difference: in the prologue, the body or an epilogue. A conditional branch
// is not taken, an unconditional one is followed, a called function leaves the stack pointer as it was.
// It fails where the way does not lead to a return (noreturn calls, tail
// calls through a register) or the stack pointer is set to what can't be followed.
func (w *Walk) ahead() bool {
	if w.u.arch != arch.AMD64 {
		return w.failed(Prologue, "the instructions at PC do not show where the return address is")
	}
	sp, known := w.frame.Regs.SP()
	if !known {
		return w.failed(Prologue, "the stack pointer is not known")
	}
	fp, fpKnown := w.frame.Regs.Get(arch.RBP)
	s := simulation{w: w, first: sp, sp: sp, fp: fp, fpKnown: fpKnown}
	w.caller.Start(arch.AMD64.CalleeSavedSet)
	if why := s.run(uint64(w.frame.PC)); why != "" {
		return w.failed(Prologue, why)
	}
	ra, err := w.stack.Word(target.Addr(s.sp), 8)
	if err != nil {
		return w.unreadable(Prologue, err)
	}
	c := &w.caller
	c.CFA = s.sp + 8
	c.SetSP(arch.AMD64, c.CFA)
	c.SetPC(arch.AMD64, ra, target.Addr(s.sp), true)
	return w.judge(Prologue)
}

// simulation follows the stack pointer and the frame pointer; it writes what is restored into
// w.caller.
type simulation struct {
	w       *Walk
	first   uint64 // the stack pointer at the start: below it is nothing of worth yet
	sp, fp  uint64
	fpKnown bool
}

// run follows the code to a return; "" means that it was reached.
func (s *simulation) run(pc uint64) string {
	var buf [aheadBytes]byte
	code := s.w.ahead0(pc, buf[:])
	jumps, called := 0, false
	for range aheadInstructions {
		if len(code) < 15 {
			code = s.w.ahead0(pc, buf[:])
		}
		in, err := x86asm.Decode(code, 64)
		if err != nil || in.Len == 0 {
			// A prefix or an instruction that the decoder does not know: endbr64.
			if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa {
				pc, code = pc+4, code[4:]
				continue
			}
			return "the instructions after PC can't be decoded"
		}
		pc, code = pc+uint64(in.Len), code[in.Len:]
		switch in.Op {
		case x86asm.RET:
			return ""
		case x86asm.JMP:
			rel, ok := in.Args[0].(x86asm.Rel)
			if jumps++; !ok || jumps > aheadJumps {
				return "the instructions after PC jump to where nobody knows"
			}
			pc += uint64(int64(rel))
			code = nil
			continue
		case x86asm.HLT, x86asm.UD2, x86asm.INT:
			return "the instructions after PC do not return"
		case x86asm.NOP:
			if called && in.Len > 1 {
				// Padding behind a call: the call does not return, and what
				// follows is another function (or a loop's head, but no way to tell).
				return "the instructions after PC do not return"
			}
		}
		called = in.Op == x86asm.CALL
		if !s.step(&in) {
			return "the instructions after PC set the stack pointer to what can't be followed"
		}
	}
	return "the instructions after PC lead to no return"
}

// ahead0 reads code at pc.
func (w *Walk) ahead0(pc uint64, buf []byte) []byte {
	n, _ := w.u.space.ReadMemory(target.Addr(pc), buf)
	return buf[:max(0, min(n, len(buf)))]
}

// step does what one instruction does to RSP and RBP, and notes restored registers.
func (s *simulation) step(in *x86asm.Inst) bool {
	dst, _ := in.Args[0].(x86asm.Reg)
	switch in.Op {
	case x86asm.PUSH, x86asm.PUSHFQ:
		s.sp -= 8
		return true
	case x86asm.POPFQ:
		s.sp += 8
		return true
	case x86asm.POP:
		s.sp += 8
		if dst == x86asm.RSP {
			return false
		}
		s.restored(dst, s.sp-8)
		return true
	case x86asm.LEAVE:
		if !s.fpKnown {
			return false
		}
		s.sp = s.fp + 8
		s.restored(x86asm.RBP, s.fp)
		return true
	case x86asm.CALL, x86asm.CMP, x86asm.TEST:
		return true
	case x86asm.MOV:
		if m, ok := in.Args[1].(x86asm.Mem); ok && m.Index == 0 && dst != x86asm.RSP {
			switch {
			case m.Base == x86asm.RSP:
				s.restored(dst, s.sp+uint64(m.Disp))
				return true
			case m.Base == x86asm.RBP && s.fpKnown:
				s.restored(dst, s.fp+uint64(m.Disp))
				return true
			}
		}
	}
	if dst != x86asm.RSP && dst != x86asm.ESP {
		if dst == x86asm.RBP || dst == x86asm.EBP {
			s.fpKnown = in.Op == x86asm.MOV && in.Args[1] == x86asm.Arg(x86asm.RSP)
			s.fp = s.sp
		}
		return true
	}
	imm, isImm := in.Args[1].(x86asm.Imm)
	switch {
	case in.Op == x86asm.ADD && isImm:
		s.sp += uint64(imm)
	case in.Op == x86asm.SUB && isImm:
		s.sp -= uint64(imm)
	case in.Op == x86asm.LEA:
		m, ok := in.Args[1].(x86asm.Mem)
		switch {
		case !ok || m.Index != 0:
			return false
		case m.Base == x86asm.RSP:
			s.sp += uint64(m.Disp)
		case m.Base == x86asm.RBP && s.fpKnown:
			s.sp = s.fp + uint64(m.Disp)
		default:
			return false
		}
	case in.Op == x86asm.MOV && in.Args[1] == x86asm.Arg(x86asm.RBP) && s.fpKnown:
		s.sp = s.fp
	default:
		return false
	}
	return true
}

var fromX86 = map[x86asm.Reg]arch.Reg{x86asm.RBX: arch.RBX, x86asm.RBP: arch.RBP, x86asm.R12: arch.R12,
	x86asm.R13: arch.R13, x86asm.R14: arch.R14, x86asm.R15: arch.R15}

// restored notes that a register is loaded from the stack. What the code that lies ahead has pushed
// itself is not there yet: such a register is left as it is.
func (s *simulation) restored(dst x86asm.Reg, at uint64) {
	r, ok := fromX86[dst]
	if !ok {
		return
	}
	if at < s.first {
		if r == arch.RBP { // pushed and popped on the way: it comes back as it was before
			s.fp, s.fpKnown = s.w.frame.Regs.Get(arch.RBP)
		}
		return
	}
	v, err := s.w.stack.Word(target.Addr(at), 8)
	if err != nil {
		s.w.caller.Forget(r)
		s.fpKnown = s.fpKnown && r != arch.RBP
		return
	}
	s.w.caller.SetSaved(r, v, target.Addr(at))
	if r == arch.RBP {
		s.fp, s.fpKnown = v, true
	}
}
