// Package probe runs a thread one instruction at a time and shows each step to a client's probe.
// Most instructions are emulated, which costs a hundredth of a step by the kernel.
//
// Its caller is target/ptrace, on the tracer's goroutine. target/ptrace decides which thread moves,
// and handles whatever is not a plain instruction.
package probe

import (
	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
	"dbg/target/ptrace/registers"
)

// A Thread is the stopped thread that moves.
type Thread struct {
	TID  int
	Regs *registers.Set
}

// Outcome tells why Run has ended.
type Outcome uint8

const (
	// Paused: the caller must execute the next instruction, or has something else to do.
	Paused Outcome = iota
	// Changed: the probe wants the thread to stop. The thread has not run in the kernel.
	Changed
	// Reported: the thread has a status, or will have one if the status is 0.
	Reported
)

// Runner runs threads for a probe.
type Runner struct {
	Probe    *target.Probe // nil: there is none
	Memory   *memory.Memory
	Emulator *instruction.Emulator

	code instruction.Runner
	regs arch.Registers
}

// Run executes instructions of a thread, until wanted returns false, a breakpoint is inserted at
// the PC, or something happens. moved is called for each emulated instruction.
func (r *Runner) Run(t Thread, wanted func() bool, moved func()) (Outcome, unix.WaitStatus) {
	r.code.Forget()
	for wanted() && !r.Memory.Inserted(t.Regs.PC()) {
		if wrote, ok := r.emulate(t); ok {
			moved()
			if (wrote || r.Probe.Registers) && r.Changed(t) {
				return Changed, 0
			}
			continue
		}
		if !instruction.PlainAt(r.Memory, t.Regs.PC()) {
			break
		}
		if ws, ok := r.step(t); !ok {
			return Reported, ws
		}
	}
	return Paused, 0
}

// emulate emulates a thread's next instruction. wrote tells that it has written memory.
func (r *Runner) emulate(t Thread) (wrote, ok bool) {
	regs, err := t.Regs.Read()
	if err != nil {
		return false, false
	}
	if wrote, ok = r.code.Step(r.Emulator, regs); ok {
		t.Regs.Changed()
	}
	return wrote, ok
}

// step lets the kernel execute one instruction. It returns false if the caller must handle the
// status: the thread has stopped for another reason than the step, or the probe wants it.
func (r *Runner) step(t Thread) (unix.WaitStatus, bool) {
	pc := t.Regs.PC()
	t.Regs.Flush()
	r.code.Forget()
	if kernel.Ptrace(unix.PTRACE_SINGLESTEP, t.TID, 0, 0) != nil {
		return 0, false // it was killed; its end will be reported soon
	}
	ws, ok := kernel.WaitFor(t.TID)
	t.Regs.Forget()
	const stepTrap = unix.WaitStatus(unix.SIGTRAP)<<8 | 0x7f
	if !ok || ws != stepTrap {
		return ws, false
	}
	if regs, err := t.Regs.Read(); err == nil {
		// An instruction that has not moved the PC may not have been executed.
		next := target.Addr(regs.Get(kernel.RIP))
		if next != pc && !r.Memory.Inserted(next) && !r.Changed(t) {
			return 0, true
		}
	}
	t.Regs.Forget()
	return ws, false
}

// Changed calls the probe, after a thread has moved.
func (r *Runner) Changed(t Thread) bool {
	if !r.Probe.Registers {
		return r.Probe.Check(target.ThreadID(t.TID), nil)
	}
	regs, err := t.Regs.Read()
	if err != nil {
		return false
	}
	r.regs = arch.Registers{Arch: arch.AMD64}
	target.SetUser(&r.regs, regs[:])
	return r.Probe.Check(target.ThreadID(t.TID), &r.regs)
}
