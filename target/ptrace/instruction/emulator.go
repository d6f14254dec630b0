package instruction

import (
	"dbg/code/emulate"
	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
)

// An Emulator executes instructions at sites: it changes a thread's registers, and memory. The
// result of an instruction is as if the thread had executed it. It implements emulate.Memory, which
// is for the emulated instruction only. Set all three fields before use.
type Emulator struct {
	PID     int
	Memory  *memory.Memory
	Watches *debugreg.Table

	regs    emulate.Regs // reused, so that a hit allocates nothing
	wrote   bool         // the latest instruction has written memory
	wroteAt target.Addr
}

// Run executes the instruction at a site, at which the thread with the registers r is. It returns
// false if that is not possible; then nothing has changed.
func (e *Emulator) Run(addr target.Addr, r *kernel.Regs) bool {
	if target.Addr(r.Get(kernel.RIP)) != addr || r.Restarting() {
		return false
	}
	op := e.Memory.Instruction(addr)
	return op != nil && e.run(op, r)
}

// run executes an operation, which is the one at RIP.
func (e *Emulator) run(op *emulate.Op, r *kernel.Regs) bool {
	e.wrote = false
	for i, off := range emulatedOffsets {
		e.regs.GPR[i] = r.Get(off)
	}
	e.regs.RIP, e.regs.Flags = r.Get(kernel.RIP), r.Get(kernel.Flags)
	e.regs.FSBase, e.regs.GSBase = r.Get(kernel.FSBase), r.Get(kernel.GSBase)
	if e.regs.Flags&kernel.TrapFlag != 0 || op.Run(&e.regs, e) != nil {
		return false
	}
	for i, off := range emulatedOffsets {
		r.Set(off, e.regs.GPR[i])
	}
	r.Set(kernel.RIP, e.regs.RIP)
	r.Set(kernel.Flags, e.regs.Flags)
	return true
}

// emulatedOffsets lists the offsets of the registers in struct user_regs_struct, by hardware
// number.
var emulatedOffsets = [16]int{
	kernel.RAX, 11 * 8, kernel.RDX, 5 * 8, kernel.RSP, 4 * 8, kernel.RSI, kernel.RDI,
	kernel.R8, kernel.R9, kernel.R10, 6 * 8, 3 * 8, 2 * 8, 1 * 8, 0,
}

// ReadMemory implements emulate.Memory with the program's rights: reading a page that the program
// may not read is an error.
func (e *Emulator) ReadMemory(addr uint64, buf []byte) error {
	if e.Watches.Touches(target.Addr(addr), len(buf), false) {
		return target.ErrReadOnly // the processor must see it
	}
	if kernel.ReadVector(e.PID, target.Addr(addr), buf) != len(buf) {
		return target.ErrGone
	}
	return nil
}

// WriteMemory implements emulate.Memory with the program's rights. A write over a site is an error:
// the processor must execute it.
func (e *Emulator) WriteMemory(addr uint64, buf []byte) error {
	a := target.Addr(addr)
	if e.Watches.Touches(a, len(buf), true) || e.Memory.Overlaps(a, len(buf)) {
		return target.ErrReadOnly
	}
	e.wrote, e.wroteAt = true, a
	if kernel.WriteVector(e.PID, a, buf) != len(buf) {
		return target.ErrGone
	}
	return nil
}
