package instruction

import (
	"dbg/code/emulate"
	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
)

// A Runner emulates a thread's instructions one after the other. It remembers what it has decoded.
type Runner struct {
	page target.Addr // of data
	n    int         // the bytes of data that are valid
	data [4096]byte  // a page of code, from when Forget was called last
	ops  map[target.Addr]*decoded
}

// decoded is an instruction.
type decoded struct {
	code [memory.MaxInstruction]byte
	op   emulate.Op
	ok   bool // it can be emulated
}

// mostDecoded limits the instructions that a Runner remembers.
const mostDecoded = 1 << 16

// Forget makes the Runner read the code again. Call it after the thread itself, or another one, has
// executed an instruction: that may have changed the code.
func (r *Runner) Forget() { r.n = 0 }

// Step emulates the instruction at a thread's PC, and changes regs. wrote tells that memory was
// written. ok is false if the thread must execute the instruction itself; then nothing has changed.
func (r *Runner) Step(e *Emulator, regs *kernel.Regs) (wrote, ok bool) {
	op := r.operation(e.Memory, target.Addr(regs.Get(kernel.RIP)))
	if op == nil || !e.run(op, regs) {
		return false, false
	}
	if e.wrote && e.wroteAt-r.page < target.Addr(len(r.data)) {
		r.n = 0
	}
	return e.wrote, true
}

// operation returns the operation at an address, or nil if it is not one that can be emulated.
func (r *Runner) operation(m *memory.Memory, pc target.Addr) *emulate.Op {
	const page = target.Addr(len(r.data))
	at := pc & (page - 1)
	if r.n == 0 || r.page != pc-at {
		r.page = pc - at
		r.n, _ = m.Read(pc-at, r.data[:])
	}
	if int(at)+memory.MaxInstruction > r.n {
		return nil // across pages, or at the end of a mapping
	}
	code := [memory.MaxInstruction]byte(r.data[at:])
	o := r.ops[pc]
	if o == nil || o.code != code {
		if len(r.ops) >= mostDecoded || r.ops == nil {
			r.ops = map[target.Addr]*decoded{}
		}
		o = &decoded{code: code}
		o.op, o.ok = emulate.Decode(code[:], uint64(pc))
		r.ops[pc] = o
	}
	if !o.ok {
		return nil
	}
	return &o.op
}

// PlainAt reports whether the instruction at an address causes no trap of its own, does not set the
// trap flag, and needs no special treatment in a step: a SIGTRAP after it is that of the step.
func PlainAt(m *memory.Memory, addr target.Addr) bool {
	var b [memory.MaxInstruction]byte
	n, _ := m.Read(addr, b[:])
	if n == 0 || classOf(b[:n]) != Other {
		return false
	}
	op := b[0]
	if op == 0x66 || op&0xf0 == 0x40 { // prefixes of popf and iret
		op = b[1]
	}
	switch op {
	case 0xcc, 0xcd, 0xce, 0xf1, 0x9d, 0xcf: // int3, int, into, int1, popf, iret
		return false
	}
	return true
}
