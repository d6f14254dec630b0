package ptrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
)

// displace makes a thread execute the instruction of its site out of line. It returns false if
// that is not possible; then nothing has changed.
func (p *Process) displace(t *thread, addr target.Addr) bool {
	r, err := t.regs.Read()
	if err != nil || t.inject != 0 || target.Addr(r.Get(kernel.RIP)) != addr ||
		r.Restarting() || r.Get(kernel.Flags)&kernel.TrapFlag != 0 {
		return false
	}
	line, ok := p.scratch.Write(&p.files, p.mem, addr)
	if !ok {
		return false
	}
	t.line = line
	_ = t.regs.SetPC(line.To)
	t.skipping, t.why, t.signal = false, passing, nil
	t.step, t.owed = plainStep, true
	p.resumeWith(t, unix.PTRACE_SINGLESTEP, 0)
	return true
}

// comeBack corrects the PC of a thread that has stopped out of line: after the instruction if it
// was executed, else at it.
func (p *Process) comeBack(t *thread) {
	if !t.line.Away() {
		return
	}
	l := t.line
	p.scratch.Free(&t.line)
	if _, err := t.regs.Read(); err != nil {
		return // it has been killed
	}
	if pc, executed, ok := l.Back(t.regs.PC()); ok {
		_ = t.regs.SetPC(pc)
		if !executed {
			t.skip, t.skipping = pc, true
		}
	}
	t.cameFrom = l
}

// rectify corrects the address of the instruction in the siginfo of a fault out of line:
// sigaction(2), si_addr of SIGILL, SIGFPE and SIGTRAP.
func (t *thread) rectify() {
	l := &t.cameFrom
	if l.Away() && t.info.Code() > 0 && binary.LittleEndian.Uint64(t.info[16:]) == uint64(l.To) {
		binary.LittleEndian.PutUint64(t.info[16:], uint64(l.From))
	}
}

// instructionAt classifies the instruction at a thread's PC.
func (p *Process) instructionAt(t *thread) instruction.Class {
	return instruction.ClassAt(p.mem, t.regs.PC())
}

// cleanPushedFlags clears the step's trap flag in the flags that a pushf has pushed.
func (p *Process) cleanPushedFlags(t *thread) {
	if r, err := t.regs.Read(); err == nil {
		instruction.CleanPushedFlags(p.mem, target.Addr(r.Get(kernel.RSP)))
	}
}
