package frames

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/emulate"
	"dbg/row"
	"dbg/target"
)

// Some code continues on another stack: swapcontext, longjmp, the end of _Unwind_RaiseException,
// Go's gogo. At its last instructions the stack pointer, or the contents of the stack, already
// belong to the other stack, while the table describes a frame that no longer exists. There, the
// walk executes the instructions up to the jump, on a copy of the registers and of the memory that
// they write. The target is the caller, with all its registers.

// Limits of executing code.
const (
	leaveInstructions = 128
	leaveWrites       = 32
)

// leaves finds the caller of code that is about to switch to another stack. It returns false for
// all other code.
func (w *Walk) leaves(s *site) bool {
	if !w.mayLeave(s) || !w.isLeaving(s) {
		return false
	}
	e, ok := w.depart(s)
	if !ok {
		return false
	}
	if !e.run() || w.tableAgrees(s, &e.regs) {
		return false
	}
	c := &w.caller
	c.Start(arch.RegSet{})
	for i, reg := range gprs {
		if reg == arch.RSP {
			continue
		}
		if now, _ := w.frame.Regs.Get(reg); now == e.regs.GPR[i] {
			c.Keep(reg)
		} else {
			c.SetComputed(reg, e.regs.GPR[i])
		}
	}
	c.CFA = e.regs.GPR[4]
	c.SetSP(w.u.arch, c.CFA)
	c.SetPC(w.u.arch, e.regs.RIP, 0, false)
	w.landing = s.leaving
	if w.judge(Prologue) {
		return true
	}
	w.landing, w.precise = notLanding, false
	return false
}

// tableAgrees reports whether the table yields the same caller as execution, with the same
// registers.
func (w *Walk) tableAgrees(s *site, at *emulate.Regs) bool {
	p, err := w.planAt(s)
	if err != nil {
		return false
	}
	c := &w.caller
	w.env.Bias, w.env.Preserved = s.module.Bias(), s.from.Preserved()
	c.Start(arch.RegSet{})
	if row.Apply(p.Row(), &w.env, c) != nil || c.End || c.PC != at.RIP || c.SP != at.GPR[4] {
		return false
	}
	for i, reg := range gprs {
		if !w.u.arch.CalleeSavedSet.Has(reg) {
			continue
		}
		v, set := c.Get(reg)
		if k := p.Row().Rule(reg).Kind; !set && k != row.Undefined {
			v, set = w.frame.Regs.Get(reg)
		}
		if set && v != at.GPR[i] {
			return false
		}
	}
	return true
}

// depart prepares execution at a site. It returns false if not all registers are known.
func (w *Walk) depart(s *site) (e *departure, ok bool) {
	e = &departure{w: w, sim: simulation{w: w, module: s.module}}
	for i, reg := range gprs {
		if e.regs.GPR[i], ok = w.frame.Regs.Get(reg); !ok {
			return nil, false
		}
	}
	e.regs.Flags, e.flags = w.frame.Regs.Get(arch.RFLAGS)
	e.regs.Flags &^= 1<<8 | 1<<18 // the trap flag belongs to a debugger; AC does not matter
	e.regs.FSBase, _ = w.frame.Regs.Get(arch.FSBase)
	e.regs.GSBase, _ = w.frame.Regs.Get(arch.GSBase)
	e.regs.RIP = uint64(s.pc)
	return e, true
}

// leadsToEnd reports whether code that no table covers leads within a few instructions to a place
// that the table marks as outermost. glibc's clone3 has no entry for the instructions that
// distinguish the new thread from the old one.
func (w *Walk) leadsToEnd(s *site) bool {
	if !w.mayLeave(s) || w.frame.Signal {
		return false
	}
	e, ok := w.depart(s)
	for range 4 {
		if !ok || len(e.writes) > 0 {
			return false
		}
		if r := &w.u.row; e.regs.RIP != uint64(s.pc) && s.module == w.u.space.FindModule(target.Addr(e.regs.RIP)) {
			if _, err := s.module.Origin(w.u.arch, e.regs.RIP-s.module.Bias(), r); err == nil {
				return r.Rule(r.RA).Kind == row.Undefined
			}
		}
		var ends bool
		if ends, ok = e.step(); ends {
			return false
		}
	}
	return false
}

// landing classifies code by how it switches to another stack.
type landing uint8

const (
	notAnalyzed landing = iota
	notLanding
	anywhere // it continues after a call, or where the other stack was interrupted
	atPad    // it continues at a landing pad: the PC is not a return address
)

// mayLeave reports whether leaving can be analysed at a site.
func (w *Walk) mayLeave(s *site) bool {
	return w.u.Audit && w.u.arch == arch.AMD64 && s.precise && s.exec && s.module != nil && w.u.Use.Has(Prologue)
}

// gprs lists the general registers by their numbers in instructions.
var gprs = [16]arch.Reg{arch.RAX, arch.RCX, arch.RDX, arch.RBX, arch.RSP, arch.RBP, arch.RSI, arch.RDI,
	arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15}

// isLeaving reports whether code is about to switch to another stack, while the table does not
// describe that. There are two signs.
//
// First: the code from the function's start has set the stack pointer to a value that is unrelated
// to the frame, but the row computes the CFA from the stack pointer.
//
// Second: the code ahead, which calls nothing but _Unwind_DebugHook, ends like __builtin_eh_return.
// It sets the stack pointer to a register that calls may change, and the table computes the CFA
// from that register there. The registers that the frame has saved are overwritten by then.
func (w *Walk) isLeaving(s *site) bool {
	if s.leaving == notAnalyzed {
		switch s.leaving = notLanding; {
		case w.endsInLanding(s):
			s.leaving = atPad
		case w.hasLeft(s):
			s.leaving = anywhere
		}
	}
	return s.leaving != notLanding
}

func (w *Walk) hasLeft(s *site) bool {
	p, err := w.planAt(s)
	return err == nil && s.how != Prologue && p.Row().CFA.Kind == row.InReg && p.Row().CFA.Reg == arch.RSP && w.startOf(s) == notFollowed
}

func (w *Walk) endsInLanding(s *site) bool {
	p, err := w.planAt(s)
	if err != nil {
		return false
	}
	if p.Row().CFA.Kind != row.InReg {
		return false
	}
	sim := simulation{w: w, module: s.module}
	var buf [aheadBytes]byte
	pc := uint64(s.pc)
	text := sim.read(pc, buf[:])
	called := false
	for range leaveInstructions / 2 {
		if len(text) < 15 {
			text = sim.read(pc, buf[:])
		}
		in := code.Decode(w.u.arch, text)
		if in.Len == 0 || omitted(text) {
			return false
		}
		switch in.Next {
		case code.Onward, code.Branch:
		case code.Jump:
			pc, text = pc+uint64(in.Len)+uint64(int64(in.Imm)), nil
			continue
		case code.Call: // presumably _Unwind_DebugHook, which does nothing
			if called {
				return false
			}
			called = true
		default:
			return false
		}
		if in.Op == code.Add && in.Dst == 4 && in.Src != 4 { // mov %rcx,%rsp
			if w.u.arch.CalleeSavedSet.Has(gprs[in.Src&15]) {
				return false // it restores its own frame
			}
			r := &w.u.row
			return s.from.RowAt(pc-s.module.Bias(), r) == nil && r.CFA.Kind == row.InReg && r.CFA.Reg == gprs[in.Src&15]
		}
		pc, text = pc+uint64(in.Len), text[in.Len:]
	}
	return false
}

// departure executes code up to the switch of the stack.
type departure struct {
	w      *Walk
	sim    simulation
	regs   emulate.Regs
	flags  bool // regs.Flags is known
	calls  int  // calls that have not returned
	writes []memoryWrite
}

// memoryWrite is a memory write of the code.
type memoryWrite struct {
	addr uint64
	data [8]byte
	n    int
}

// run continues until the code jumps to a target from a register or the stack. It returns false if
// that does not happen.
func (e *departure) run() bool {
	for range leaveInstructions {
		if ends, ok := e.step(); ends || !ok {
			return ok
		}
	}
	return false
}

// step executes one instruction. ends reports whether it was that jump; ok is false if the
// instruction cannot be executed.
func (e *departure) step() (ends, ok bool) {
	var buf [16]byte
	text := e.sim.read(e.regs.RIP, buf[:])
	in := code.Decode(arch.AMD64, text)
	if in.Len == 0 || in.Next == code.Bad || in.Next == code.Branch && !e.flags {
		return false, false
	}
	switch in.Next {
	case code.Call:
		e.calls++
	case code.CallFar, code.Trap:
		return false, false
	}
	op, ok := emulate.Decode(text, e.regs.RIP)
	switch {
	case ok:
		if op.Run(&e.regs, e) != nil {
			return false, false
		}
	case restoresState(text[:in.Len]):
		e.regs.RIP += uint64(in.Len)
	default:
		return false, false
	}
	switch {
	case in.Next == code.Return && e.calls > 0:
		e.calls--
	case in.Next == code.Return, in.Next == code.Indirect:
		return true, e.calls == 0
	}
	return false, true
}

// restoresState reports whether an instruction loads floating point or shadow stack state, which is
// not needed here: FLDENV, FLDCW, LDMXCSR, RDSSP (which does nothing without a shadow stack),
// FRSTOR.
func restoresState(b []byte) bool {
	for len(b) > 0 && (b[0] == 0xf3 || b[0]&0xf0 == 0x40) {
		b = b[1:]
	}
	switch {
	case len(b) >= 2 && b[0] == 0xd9:
		return b[1]&0xc0 != 0xc0 && (b[1]>>3&7 == 4 || b[1]>>3&7 == 5)
	case len(b) >= 3 && b[0] == 0x0f && b[1] == 0xae:
		return b[2]&0xc0 != 0xc0 && (b[2]>>3&7 == 2 || b[2]>>3&7 == 1)
	case len(b) >= 3 && b[0] == 0x0f && b[1] == 0x1e:
		return true
	}
	return false
}

// ReadMemory implements emulate.Memory. The code's own writes come first.
func (e *departure) ReadMemory(addr uint64, buf []byte) error {
	if n, err := e.w.u.space.ReadMemory(target.Addr(addr), buf); n < len(buf) {
		if err == nil {
			err = target.ErrGone
		}
		return err
	}
	for i := range e.writes {
		w := &e.writes[i]
		for j := range w.n {
			if off := w.addr + uint64(j) - addr; off < uint64(len(buf)) {
				buf[off] = w.data[j]
			}
		}
	}
	return nil
}

// WriteMemory implements emulate.Memory.
func (e *departure) WriteMemory(addr uint64, buf []byte) error {
	if len(buf) > 8 || len(e.writes) >= leaveWrites {
		return target.ErrReadOnly
	}
	w := memoryWrite{addr: addr, n: len(buf)}
	copy(w.data[:], buf)
	e.writes = append(e.writes, w)
	return nil
}
