package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/target"
)

// Limits of reading from a function's start.
const (
	startInstructions = 3000
	startWays         = 256
)

// startOf reads the code of the site's function from its first instruction to the site, once: what it
// has pushed by then is what the frame consists of. It needs symbols, that say where the function
// starts, and gives more than reading ahead where that leads to no return.
func (w *Walk) startOf(s *site) *codeRule {
	if s.start != nil {
		return s.start
	}
	s.start = &codeRule{why: "no symbol says where the function starts"}
	m := s.module
	if m == nil || m.FunctionAt == nil || w.u.arch != arch.AMD64 {
		return s.start
	}
	lo, hi, ok := m.FunctionAt(s.filePC())
	if !ok || lo > s.filePC() {
		return s.start
	}
	f := forward{sim: simulation{w: w, module: m}, to: uint64(s.pc), lo: lo + m.Bias, hi: hi + m.Bias, seen: map[uint64]bool{}}
	f.ways = append(f.ways, entryWay{pc: f.lo, sp: -8, spOK: true})
	s.start = f.run()
	return s.start
}

// Limits of byCalls.
const (
	callWords  = 512
	callStarts = 8
	callReach  = 1 << 20 // how large a function may be
)

// byCalls looks for the call that has entered the function: a word on the stack that follows a direct call from
// whose target the code leads to PC, with a frame of just the size that puts the return address
// where the word is. That needs neither table nor symbol, and what it finds is hardly anything else.
func (w *Walk) byCalls(s *site) bool {
	sp, known := w.frame.Regs.SP()
	if !known || w.u.arch != arch.AMD64 {
		return false
	}
	tried := 0
	for i := range uint64(callWords) {
		at := (sp+7)&^7 + 8*i
		v, err := w.stack.Word(target.Addr(at), 8)
		if err != nil {
			break
		}
		if v < page || !w.u.space.Executable(target.Addr(v-1)) {
			continue
		}
		next := w.site(target.Addr(v), false)
		if next.after != yes {
			continue
		}
		fn := w.calledBefore(next)
		if to := w.throughPLT(fn); to != 0 {
			fn = to
		}
		if fn == 0 {
			continue
		}
		r := w.fromTo(s, uint64(fn))
		if ra, ok := r.ra.address(&w.frame.Regs); r.why == "" && ok && ra == at {
			return w.byCode(r)
		}
		if tried++; tried >= callStarts {
			break
		}
	}
	return w.failed(Prologue, "no call on the stack leads to PC")
}

// fromTo is what the code from a function's start to the site says; the last answer is kept. A part of the
// function that was split off may be before its start.
func (w *Walk) fromTo(s *site, fn uint64) *codeRule {
	if s.entered != nil && s.enteredAt == fn {
		return s.entered
	}
	r := &codeRule{why: "the function that was called does not lead to PC"}
	if pc := uint64(s.pc); pc-fn+callReach < 2*callReach {
		f := forward{sim: simulation{w: w, module: s.module}, to: pc, lo: 0, hi: 1<<64 - 1, seen: map[uint64]bool{}}
		f.ways = append(f.ways, entryWay{pc: fn, sp: -8, spOK: true})
		r = f.run()
	}
	s.entered, s.enteredAt = r, fn
	return r
}

// forward follows the ways through a function until one comes to an address.
type forward struct {
	sim    simulation
	to     uint64
	lo, hi uint64
	seen   map[uint64]bool
	ways   []entryWay
}

// entryWay is a state in terms of the CFA: place{base: NoReg} is not known, else off is from the CFA. A
// register that is saved is in slot.
type entryWay struct {
	pc    uint64
	sp    int64
	spOK  bool
	fp    int64 // RBP is CFA+fp
	fpOK  bool
	saved arch.RegSet
	slot  [6]int64
}

func slotOf(r arch.Reg) int {
	switch r {
	case arch.RBX:
		return 0
	case arch.RBP:
		return 1
	}
	return int(r-arch.R12) + 2
}

var slotRegs = [6]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15}

func (f *forward) run() *codeRule {
	for len(f.ways) > 0 {
		at := f.ways[len(f.ways)-1]
		f.ways = f.ways[:len(f.ways)-1]
		if f.follow(&at) {
			return at.rule()
		}
	}
	return &codeRule{why: "the instructions from the function's start do not lead to PC"}
}

// rule says it in terms of the registers at the end.
func (at *entryWay) rule() *codeRule {
	base, k := arch.RSP, at.sp
	if !at.spOK {
		if !at.fpOK {
			return &codeRule{why: "the instructions from the function's start set the stack pointer to what can't be followed"}
		}
		base, k = arch.RBP, at.fp
	}
	r := &codeRule{ra: place{base, -8 - k}}
	for i, reg := range slotRegs {
		if at.saved.Has(reg) {
			r.regs[i] = regCode{inStack, place{base, at.slot[i] - k}}
		}
	}
	return r
}

// follow is true when it has come to f.to.
func (f *forward) follow(at *entryWay) bool {
	var buf [aheadBytes]byte
	var code []byte
	for {
		if at.pc == f.to {
			return true
		}
		if at.pc < f.lo || at.pc >= f.hi || f.seen[at.pc] {
			return false
		}
		f.seen[at.pc] = true
		if f.sim.count++; f.sim.count > startInstructions {
			f.ways = f.ways[:0]
			return false
		}
		if len(code) < 15 {
			code = f.sim.read(at.pc, buf[:])
		}
		in, n := decode(code)
		if n == 0 {
			return false
		}
		at.pc, code = at.pc+uint64(n), code[n:]
		switch in.Op {
		case x86asm.RET, x86asm.HLT, x86asm.UD2:
			return at.pc == f.to && in.Op != x86asm.RET
		case x86asm.JMP:
			if to := f.sim.jumpsTo(&in, at.pc); to != 0 {
				at.pc, code = to, nil
			}
			continue // a jump table: the cases, which usually follow, begin in this state
		}
		if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL && len(f.ways) < startWays {
			other := *at
			other.pc += uint64(int64(rel))
			f.ways = append(f.ways, other)
		}
		at.step(&in)
	}
}

// step does what one instruction does to RSP, RBP and what is saved.
func (at *entryWay) step(in *x86asm.Inst) {
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
func (at *entryWay) loaded(dst x86asm.Reg, from int64, known bool) {
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
