package follow

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/emulate"
	"dbg/target"
)

// Limits of executing code.
const (
	leaveInstructions = 128
	leaveWrites       = 32
)

// GPRs lists the general registers by their numbers in instructions.
var GPRs = [16]arch.Reg{arch.RAX, arch.RCX, arch.RDX, arch.RBX, arch.RSP, arch.RBP, arch.RSI, arch.RDI,
	arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15}

// StackSet follows the code from pc, which may call one function, to an instruction that sets the
// stack pointer to another register: mov %rcx,%rsp. It returns that instruction's address, in the
// process, and the register.
func StackSet(r Reader, pc uint64) (at uint64, from arch.Reg, ok bool) {
	var buf [aheadBytes]byte
	text := r.Read(pc, buf[:])
	called := false
	for range leaveInstructions / 2 {
		if len(text) < 15 {
			text = r.Read(pc, buf[:])
		}
		in := code.Decode(r.Arch, text)
		if in.Len == 0 || omitted(text) {
			return 0, arch.NoReg, false
		}
		switch in.Next {
		case code.Onward, code.Branch:
		case code.Jump:
			pc, text = pc+uint64(in.Len)+uint64(int64(in.Imm)), nil
			continue
		case code.Call: // presumably _Unwind_DebugHook, which does nothing
			if called {
				return 0, arch.NoReg, false
			}
			called = true
		default:
			return 0, arch.NoReg, false
		}
		if in.Op == code.Add && in.Dst == 4 && in.Src != 4 { // mov %rcx,%rsp
			return pc, GPRs[in.Src&15], true
		}
		pc, text = pc+uint64(in.Len), text[in.Len:]
	}
	return 0, arch.NoReg, false
}

// Departure executes code of x86-64 up to a switch of the stack, on copies of the registers and of
// the memory that it writes. The process does not change.
type Departure struct {
	Reader
	Regs   emulate.Regs // the registers now
	flags  bool         // Regs.Flags is known
	calls  int          // calls that have not returned
	writes []memoryWrite
}

// memoryWrite is a memory write of the code.
type memoryWrite struct {
	addr uint64
	data [8]byte
	n    int
}

// NewDeparture prepares execution at pc, an address in the process. It returns false if not all
// general registers are known.
func NewDeparture(r Reader, regs *arch.Registers, pc uint64) (e *Departure, ok bool) {
	e = &Departure{Reader: r}
	for i, reg := range GPRs {
		if e.Regs.GPR[i], ok = regs.Get(reg); !ok {
			return nil, false
		}
	}
	e.Regs.Flags, e.flags = regs.Get(arch.RFLAGS)
	e.Regs.Flags &^= 1<<8 | 1<<18 // the trap flag belongs to a debugger; AC does not matter
	e.Regs.FSBase, _ = regs.Get(arch.FSBase)
	e.Regs.GSBase, _ = regs.Get(arch.GSBase)
	e.Regs.RIP = pc
	return e, true
}

// Wrote reports whether the code has written to memory.
func (e *Departure) Wrote() bool { return len(e.writes) > 0 }

// Run continues until the code jumps to a target from a register or the stack. It returns false if
// that does not happen.
func (e *Departure) Run() bool {
	for range leaveInstructions {
		if ends, ok := e.Step(); ends || !ok {
			return ok
		}
	}
	return false
}

// Step executes one instruction. ends reports whether it was that jump; ok is false if the
// instruction cannot be executed.
func (e *Departure) Step() (ends, ok bool) {
	var buf [16]byte
	text := e.Read(e.Regs.RIP, buf[:])
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
	op, ok := emulate.Decode(text, e.Regs.RIP)
	switch {
	case ok:
		if op.Run(&e.Regs, e) != nil {
			return false, false
		}
	case restoresState(text[:in.Len]):
		e.Regs.RIP += uint64(in.Len)
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
func (e *Departure) ReadMemory(addr uint64, buf []byte) error {
	if n, err := e.Memory.ReadMemory(target.Addr(addr), buf); n < len(buf) {
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
func (e *Departure) WriteMemory(addr uint64, buf []byte) error {
	if len(buf) > 8 || len(e.writes) >= leaveWrites {
		return target.ErrReadOnly
	}
	w := memoryWrite{addr: addr, n: len(buf)}
	copy(w.data[:], buf)
	e.writes = append(e.writes, w)
	return nil
}
