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
	why  string // what kept it from being found, "" if it was
	ra   place
	regs [6]regCode // of slotRegs
}

// regCode is where the caller's value of a callee-saved register is.
type regCode struct {
	kind codeKind
	at   place // of inStack
}

type codeKind uint8

const (
	asNow   codeKind = iota // in the register, as it is now
	inStack                 // at a place
	lost                    // nobody knows
)

// place is an address: a register's value now plus an offset; or, through a word on the stack, which is at
// such an address, plus an offset.
type place struct {
	base    arch.Reg // NoReg: not known
	through bool
	word    int64 // the word is at base+word
	off     int64
}

var noPlace = place{base: arch.NoReg}

func (p place) plus(n int64) place {
	p.off += n
	return p
}

// address is where the place is in a frame, without looking at the stack.
func (p place) address(regs *arch.Registers) (uint64, bool) {
	v, known := regs.Get(p.base)
	return v + uint64(p.off), known && !p.through
}

// locate is where the place is in the walk's frame.
func (w *Walk) locate(p place) (uint64, bool) {
	if !p.through {
		return p.address(&w.frame.Regs)
	}
	at, known := w.frame.Regs.Get(p.base)
	if !known {
		return 0, false
	}
	v, err := w.words.Word(target.Addr(at+uint64(p.word)), 8)
	return v + uint64(p.off), err == nil
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
		s.slots = s.slots || sim.slots
	}
	return s.ahead
}

// byCode applies what code says.
func (w *Walk) byCode(r *codeRule) bool {
	if r.why != "" {
		return w.failed(Prologue, r.why)
	}
	c := &w.caller
	at, known := w.locate(r.ra)
	if !known {
		return w.failed(Prologue, "the address that "+w.u.arch.RegName(r.ra.base)+" leads to is not known")
	}
	ra, err := w.words.Word(target.Addr(at), 8)
	if err != nil {
		return w.unreadable(Prologue, err)
	}
	c.Start(w.preserved())
	c.CFA = at + 8
	c.SetSP(arch.AMD64, c.CFA)
	c.SetPC(arch.AMD64, ra, target.Addr(at), true)
	for i, reg := range slotRegs {
		if f := w.frame.Module; f != nil && f.Go && reg != arch.RBP {
			continue
		}
		switch rc := &r.regs[i]; rc.kind {
		case lost:
			c.Forget(reg)
		case inStack:
			at, known := w.locate(rc.at)
			v, err := w.words.Word(target.Addr(at), 8)
			if !known || err != nil {
				c.Forget(reg)
				continue
			}
			c.SetSaved(reg, v, target.Addr(at))
		}
	}
	return w.judge(Prologue)
}

// preserved are the registers that the frame's function leaves as they are, by its ABI.
func (w *Walk) preserved() arch.RegSet {
	a := w.u.arch
	if m := w.frame.Module; m != nil && m.Go {
		return arch.SetOf(a.FP)
	}
	return a.CalleeSavedSet
}

// simulation follows the stack pointer and the frame pointer along the code. A conditional branch
// is first not taken; where that way leads to no return the other one is tried. An unconditional
// branch is followed; a called function leaves the stack pointer as it was.
type simulation struct {
	w      *Walk
	module *Module
	count  int
	forks  []way
	left   *codeRule // how the code leaves by the first jump that can't be followed
	slots  bool      // a slot of the global offset table was read, which may have another address later
}

// way is a state of the simulation.
type way struct {
	pc     uint64
	sp     place
	path   int
	jumps  int
	called bool // the instruction before was a call

	regs    [6]regCode // what is in each of slotRegs, in terms of now
	held    [6]place   // what address that is, if it is one
	nstored int
	stored  [maxStored]storedWord // what the code itself has written to the stack
}

// storedWord is a word on the stack, at an offset from now's stack pointer.
type storedWord struct {
	off  int64
	what regCode
}

// maxStored is how many words that the code itself writes to the stack are followed.
const maxStored = 24

// run follows the code to a return.
func (s *simulation) run(pc uint64) *codeRule {
	at := way{pc: pc, sp: place{base: arch.RSP}}
	for i, r := range slotRegs {
		at.held[i] = place{base: r}
	}
	first := ""
	for {
		why := s.follow(&at)
		if why == "" {
			return &codeRule{ra: at.sp, regs: at.regs}
		}
		if first == "" {
			first = why
		}
		if len(s.forks) == 0 || s.count > aheadInstructions {
			if s.left != nil {
				return s.left
			}
			return &codeRule{why: first}
		}
		at = s.forks[len(s.forks)-1]
		s.forks = s.forks[:len(s.forks)-1]
	}
}

// leaves notes a jump to where nobody knows. If the code that can be followed does not return, that may be
// how the function ends, by calling another one in its place: then the return address is on top of the stack. For that to be,
// what was on the stack must have been taken away.
func (s *simulation) leaves(at *way) {
	if s.left == nil && at.sp.base != arch.NoReg && (at.sp != place{base: arch.RSP} || at.path == 0) {
		s.left = &codeRule{ra: at.sp, regs: at.regs}
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
		if n == 0 || leftOut(code) {
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
			to := s.jumpsTo(&in, at.pc)
			if to == 0 {
				s.leaves(at)
			}
			if at.jumps++; to == 0 || at.jumps > aheadJumps {
				return "the instructions after PC jump to where nobody knows"
			}
			at.pc, at.called, code = to, false, nil
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

// leftOut reports whether code begins with zeros as no real code does: its bytes were left out of a core or of a file. They
// would be two additions.
func leftOut(code []byte) bool { return len(code) >= 4 && blank(code[:4]) }

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
