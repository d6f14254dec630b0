package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/target"
)

// Limits of reading ahead.
const (
	aheadInstructions = 1500 // in all
	aheadPath         = 400  // on one way
	aheadJumps        = 32   // on one way
	aheadForks        = 24   // ways that are kept for later
	aheadBytes        = 256
)

// codeRule is what the instructions say of the frame at a PC, without the state of
// any thread: where the return address is, and where what they will restore is.
type codeRule struct {
	why   string // what kept it from being found, "" if it was
	ra    place
	n     int
	saved [6]struct {
		reg arch.Reg
		at  place
	}
}

// place is an address: a register's value now plus an offset.
type place struct {
	base arch.Reg // RSP, RBP, or NoReg: not known
	off  int64
}

func (p place) plus(n int64) place { return place{p.base, p.off + n} }

// address is where the place is in a frame.
func (p place) address(regs *arch.Registers) (uint64, bool) {
	v, known := regs.Get(p.base)
	return v + uint64(p.off), known
}

// ahead finds the caller by what the code from PC on does to the stack until it returns: what it will
// pop is what was pushed. Where PC is makes no difference: in the prologue, the body
// or an epilogue.
func (w *Walk) ahead(s *site) bool {
	if w.u.arch != arch.AMD64 {
		return w.failed(Prologue, "the instructions at PC do not show where the return address is")
	}
	return w.byCode(w.aheadOf(s))
}

// aheadOf reads the code from the site on, once.
func (w *Walk) aheadOf(s *site) *codeRule {
	if s.ahead == nil {
		sim := &simulation{w: w, module: s.module}
		s.ahead = sim.run(uint64(s.pc))
	}
	return s.ahead
}

// byCode applies what code says.
func (w *Walk) byCode(r *codeRule) bool {
	if r.why != "" {
		return w.failed(Prologue, r.why)
	}
	regs, c := &w.frame.Regs, &w.caller
	at, known := r.ra.address(regs)
	if !known {
		return w.failed(Prologue, w.u.arch.RegName(r.ra.base)+" is not known")
	}
	ra, err := w.words.Word(target.Addr(at), 8)
	if err != nil {
		return w.unreadable(Prologue, err)
	}
	c.Start(arch.AMD64.CalleeSavedSet)
	c.CFA = at + 8
	c.SetSP(arch.AMD64, c.CFA)
	c.SetPC(arch.AMD64, ra, target.Addr(at), true)
	for _, sv := range r.saved[:r.n] {
		at, known := sv.at.address(regs)
		v, err := w.words.Word(target.Addr(at), 8)
		if !known || err != nil {
			c.Forget(sv.reg)
			continue
		}
		c.SetSaved(sv.reg, v, target.Addr(at))
	}
	return w.judge(Prologue)
}

// simulation follows the stack pointer and the frame pointer along the code. A conditional branch
// is first not taken; where that way leads to no return the other one is tried. An unconditional
// branch is followed; a called function leaves the stack pointer as it was.
type simulation struct {
	w      *Walk
	module *Module
	count  int
	forks  []way
}

// way is a state of the simulation.
type way struct {
	pc     uint64
	sp, fp place
	path   int
	jumps  int
	called bool // the instruction before was a call
	rule   codeRule
}

// run follows the code to a return.
func (s *simulation) run(pc uint64) *codeRule {
	at := way{pc: pc, sp: place{arch.RSP, 0}, fp: place{arch.RBP, 0}}
	first := ""
	for {
		why := s.follow(&at)
		if why == "" {
			r := at.rule
			r.ra = at.sp
			return &r
		}
		if first == "" {
			first = why
		}
		if len(s.forks) == 0 || s.count > aheadInstructions {
			return &codeRule{why: first}
		}
		at = s.forks[len(s.forks)-1]
		s.forks = s.forks[:len(s.forks)-1]
	}
}

func (s *simulation) follow(at *way) string {
	var buf [aheadBytes]byte
	code := s.read(at.pc, buf[:])
	for ; at.path < aheadPath; at.path++ {
		if s.count++; s.count > aheadInstructions {
			break
		}
		if len(code) < 15 {
			code = s.read(at.pc, buf[:])
		}
		in, n := decode(code)
		if n == 0 {
			return "the instructions after PC can't be decoded"
		}
		at.pc, code = at.pc+uint64(n), code[n:]
		switch in.Op {
		case x86asm.RET:
			if at.sp.base == arch.NoReg {
				return "the instructions after PC set the stack pointer to what can't be followed"
			}
			return ""
		case x86asm.JMP:
			rel, ok := in.Args[0].(x86asm.Rel)
			if at.jumps++; !ok || at.jumps > aheadJumps {
				return "the instructions after PC jump to where nobody knows"
			}
			at.pc += uint64(int64(rel))
			at.called, code = false, nil
			continue
		case x86asm.HLT, x86asm.UD2, x86asm.INT:
			return "the instructions after PC do not return"
		case x86asm.NOP:
			if at.called && n > 1 {
				// Padding behind a call: the call does not return, and what
				// follows is another function (or a loop's head, but no way to tell).
				return "the instructions after PC do not return"
			}
		}
		if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL && len(s.forks) < aheadForks {
			other := *at
			other.pc += uint64(int64(rel))
			other.called = false
			other.jumps++
			if other.jumps <= aheadJumps {
				s.forks = append(s.forks, other)
			}
		}
		at.called = in.Op == x86asm.CALL
		if !at.step(&in) {
			return "the instructions after PC set the stack pointer to what can't be followed"
		}
	}
	return "the instructions after PC lead to no return"
}

// decode is one instruction and its length, 0 if it is none that is known. endbr64, which the
// decoder does not know, and instructions of AVX and later ones, which touch no general register that
// matters here, are taken for NOPs of one length.
func decode(code []byte) (x86asm.Inst, int) {
	in, err := x86asm.Decode(code, 64)
	if err == nil && in.Len > 0 {
		return in, in.Len
	}
	if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa {
		return x86asm.Inst{Op: x86asm.FNOP, Len: 4}, 4
	}
	if n := vexLength(code); n > 0 {
		return x86asm.Inst{Op: x86asm.FNOP, Len: n}, n
	}
	return x86asm.Inst{}, 0
}

// read reads code at pc.
func (s *simulation) read(pc uint64, buf []byte) []byte {
	if s.module != nil {
		for n := len(buf); n >= 16; n /= 4 {
			if b := s.module.codeAt(pc-s.module.Bias, n); b != nil {
				return b
			}
		}
	}
	n, _ := s.w.u.space.ReadMemory(target.Addr(pc), buf)
	return buf[:max(0, min(n, len(buf)))]
}

// step does what one instruction does to RSP and RBP, and notes restored registers. It is
// false where nothing can come of it any more.
func (at *way) step(in *x86asm.Inst) bool {
	dst, _ := in.Args[0].(x86asm.Reg)
	switch in.Op {
	case x86asm.PUSH, x86asm.PUSHFQ:
		at.sp = at.sp.plus(-8)
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
		at.restored(dst, from)
		return true
	case x86asm.LEAVE:
		if at.fp.base == arch.NoReg {
			return false
		}
		from := at.fp
		at.sp = at.fp.plus(8)
		at.restored(x86asm.RBP, from)
		return true
	case x86asm.CALL, x86asm.CMP, x86asm.TEST, x86asm.FNOP:
		return true
	case x86asm.MOV:
		if m, ok := in.Args[1].(x86asm.Mem); ok && m.Index == 0 && dst != x86asm.RSP {
			switch m.Base {
			case x86asm.RSP:
				at.restored(dst, at.sp.plus(m.Disp))
				return true
			case x86asm.RBP:
				at.restored(dst, at.fp.plus(m.Disp))
				return true
			}
		}
	}
	if dst != x86asm.RSP && dst != x86asm.ESP {
		if dst == x86asm.RBP || dst == x86asm.EBP {
			at.fp = place{base: arch.NoReg}
			if in.Op == x86asm.MOV && in.Args[1] == x86asm.Arg(x86asm.RSP) {
				at.fp = at.sp
			} else if m, ok := in.Args[1].(x86asm.Mem); ok && in.Op == x86asm.LEA && m.Base == x86asm.RSP && m.Index == 0 {
				at.fp = at.sp.plus(m.Disp)
			}
		}
		return true
	}
	imm, isImm := in.Args[1].(x86asm.Imm)
	m, isMem := in.Args[1].(x86asm.Mem)
	switch {
	case in.Op == x86asm.ADD && isImm:
		at.sp = at.sp.plus(int64(imm))
	case in.Op == x86asm.SUB && isImm:
		at.sp = at.sp.plus(-int64(imm))
	case in.Op == x86asm.LEA && isMem && m.Index == 0 && m.Base == x86asm.RSP:
		at.sp = at.sp.plus(m.Disp)
	case in.Op == x86asm.LEA && isMem && m.Index == 0 && m.Base == x86asm.RBP:
		at.sp = at.fp.plus(m.Disp)
	case in.Op == x86asm.MOV && in.Args[1] == x86asm.Arg(x86asm.RBP):
		at.sp = at.fp
	default:
		at.sp = place{base: arch.NoReg} // alloca, realignment: the frame pointer may bring it back
	}
	return true
}

// restored notes that a register is loaded from the stack. What the code that lies ahead has pushed
// itself is not there yet: such a register will be again what it is now.
func (at *way) restored(dst x86asm.Reg, from place) {
	r, ok := fromX86(dst)
	if !ok {
		return
	}
	own := from.base == arch.RSP && from.off < 0 // pushed on the way
	if r == arch.RBP {
		at.fp = place{base: arch.NoReg}
		if own {
			at.fp = place{arch.RBP, 0}
		}
	}
	i := 0
	for i < at.rule.n && at.rule.saved[i].reg != r {
		i++
	}
	switch {
	case own && i < at.rule.n: // what was loaded before was no restoring, but a value of the function's own
		at.rule.n--
		at.rule.saved[i] = at.rule.saved[at.rule.n]
	case own:
	case i == at.rule.n:
		at.rule.n++
		fallthrough
	default:
		at.rule.saved[i].reg, at.rule.saved[i].at = r, from
	}
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
