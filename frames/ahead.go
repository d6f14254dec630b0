package frames

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/code"
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
	cfa   place
	other place // the CFA by another register, if that is known
	// regs are of code.Slots. Where a call pushes the return address, that is the word below the CFA; else it is where the link
	// register is.
	regs [code.MaxSlots]regCode
}

// ra is where the return address is, on a machine where a call pushes it.
func (r *codeRule) ra() place { return r.cfa.plus(-8) }

// regCode is where the caller's value of a callee-saved register is.
type regCode struct {
	kind codeKind
	at   place // of inStack; of inFrame its offset
}

type codeKind uint8

const (
	asNow   codeKind = iota // in the register, as it is now
	inStack                 // at a place
	inFrame                 // at an offset from the CFA
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
		at, known := p.address(&w.frame.Regs)
		return w.wrap(at), known
	}
	at, known := w.frame.Regs.Get(p.base)
	if !known {
		return 0, false
	}
	v, err := w.words.Word(target.Addr(w.wrap(at+uint64(p.word))), w.u.arch.PtrSize)
	return w.wrap(v + uint64(p.off)), err == nil
}

// wrap keeps an address within the address space.
func (w *Walk) wrap(v uint64) uint64 {
	if w.u.arch.PtrSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// locateCFA is where the frame of a rule is.
func (w *Walk) locateCFA(r *codeRule) (uint64, bool) {
	cfa, known := w.locate(r.cfa)
	if !known {
		cfa, known = w.locate(r.other)
	}
	return cfa, known
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
	a, c := w.u.arch, &w.caller
	cfa, known := w.locateCFA(r)
	if !known {
		return w.failed(Prologue, "the address that "+a.RegName(r.cfa.base)+" leads to is not known")
	}
	c.Start(w.preserved())
	slots := code.Slots(a)
	for _, reg := range a.CalleeSaved {
		if !slices.Contains(slots, reg) { // nobody has looked what becomes of it
			c.Forget(reg)
		}
	}
	for i, reg := range slots {
		if f := w.frame.Module; f != nil && f.Go && reg != a.FP && reg != a.LR {
			continue
		}
		if v, at, ok := w.savedByCode(&r.regs[i], cfa); ok {
			c.SetSaved(reg, v, at)
		} else if r.regs[i].kind != asNow {
			c.Forget(reg)
		}
	}
	c.CFA = cfa
	c.SetSP(a, cfa)
	if link := code.LinkSlot(a); link >= 0 {
		return w.linkByCode(&r.regs[link], cfa)
	}
	at := target.Addr(w.wrap(cfa - uint64(a.PtrSize)))
	ra, err := w.words.Word(at, a.PtrSize)
	if err != nil {
		return w.unreadable(Prologue, err)
	}
	c.SetPC(a, ra, at, true)
	return w.judge(Prologue)
}

// savedByCode reads a register from where code has saved it; false if it is nowhere on the stack.
func (w *Walk) savedByCode(rc *regCode, cfa uint64) (v uint64, at target.Addr, ok bool) {
	where, known := w.wrap(cfa+uint64(rc.at.off)), true
	switch rc.kind {
	case inFrame:
	case inStack:
		where, known = w.locate(rc.at)
	default:
		return 0, 0, false
	}
	v, err := w.words.Word(target.Addr(where), w.u.arch.PtrSize)
	return v, target.Addr(where), known && err == nil
}

// linkByCode is the last part of byCode where the return address is in the link register, or saved from there.
func (w *Walk) linkByCode(rc *regCode, cfa uint64) bool {
	a, c := w.u.arch, &w.caller
	if rc.kind == asNow {
		lr, known := w.frame.Regs.Get(a.LR)
		if !known || w.frame.PCIsReturnAddress {
			return w.failed(Prologue, "the return address is in "+a.RegName(a.LR)+", whose value is not known")
		}
		c.SetPC(a, w.code64(lr), 0, false)
		return w.judge(Prologue)
	}
	ra, at, ok := w.savedByCode(rc, cfa)
	if !ok {
		return w.failed(Prologue, "the instructions do not show where the return address is")
	}
	c.SetPC(a, w.code64(ra), at, true)
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

// rule is the rule where the code returns in this state.
func (at *way) rule() *codeRule {
	r := &codeRule{cfa: at.sp.plus(8), other: noPlace}
	copy(r.regs[:], at.regs[:])
	return r
}

// slotOf is the slot of a register that a function must preserve on x86-64.
func slotOf(r arch.Reg) int {
	switch r {
	case arch.RBX:
		return 0
	case arch.RBP:
		return 1
	}
	return int(r-arch.R12) + 2
}

// slotRegs are the registers by their slots: code.Slots of x86-64.
var slotRegs = [6]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15}

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
			return at.rule()
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
		s.left = at.rule()
	}
}

func (s *simulation) follow(at *way) string {
	var buf [aheadBytes]byte
	text := s.read(at.pc, buf[:])
	for ; at.path < aheadPath; at.path++ {
		if s.count++; s.count > aheadInstructions {
			break
		}
		if len(text) < 15 {
			text = s.read(at.pc, buf[:])
		}
		in, n := decode(text)
		if n == 0 || leftOut(text) {
			return "the instructions after PC can't be decoded"
		}
		at.pc, text = at.pc+uint64(n), text[n:]
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
			at.pc, at.called, text = to, false, nil
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
