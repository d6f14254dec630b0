package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
)

// While the client has a probe, the threads run one instruction at a time, and the probe is called
// after each. Only one thread moves at a time (its turn), so a change of memory is the work of the
// thread that has just moved, or of the kernel. A thread that enters a system call gives up its turn:
// the call may take long.

var _ target.Prober = (*Process)(nil)

// probing is the state of a process with a probe.
type probing struct {
	probe *target.Probe // nil: there is none
	turn  *thread       // the thread whose turn it is
	steps int           // how often it has moved in its turn
	regs  arch.Registers

	runner instruction.Runner
}

// turnSteps is the number of steps of a turn. It is small, so that a thread does not spin for a lock
// for long.
const turnSteps = 1000

// SetProbe implements target.Prober.
func (p *Process) SetProbe(probe *target.Probe) error {
	return p.do(func() error {
		before := p.probing.probe
		if p.running && (before == nil) != (probe == nil) {
			p.halt() // the threads continue in another way
			p.probing.probe, p.probing.turn = probe, nil
			p.settle()
			return nil
		}
		p.probing.probe = probe
		if probe == nil {
			p.probing.turn = nil
		}
		return nil
	})
}

// probed reports whether a thread is stepped for the probe.
func (p *Process) probed(t *thread) bool { return p.probing.probe != nil && !t.guest }

// outOfTurn reports whether a thread must wait for its turn.
func (p *Process) outOfTurn(t *thread) bool { return p.probed(t) && p.probing.turn != t }

// nextTurn gives a thread its turn, if none has it that can use it.
func (p *Process) nextTurn() {
	q := &p.probing
	if q.probe == nil || !p.running || p.over || p.busy > 0 {
		return
	}
	for range len(p.threads) {
		if t := q.turn; t != nil && p.known(t) && t.running && t.step != fromSyscall && !t.away {
			return
		}
		next := p.afterTurn()
		if next == nil {
			return
		}
		q.turn, q.steps = next, 0
		p.pass(next)
		if !p.running || p.over {
			return
		}
	}
}

// afterTurn returns the stopped thread whose turn comes next, by thread id, or nil.
func (p *Process) afterTurn() *thread {
	last := 0
	if p.probing.turn != nil {
		last = p.probing.turn.tid
	}
	var after, first *thread
	for _, t := range p.threads {
		if t.running || t.parked || t.zombie || t.settling || t.why.matters() || (p.alone || t.icy) && t != p.stepper {
			continue
		}
		if t.tid > last && (after == nil || t.tid < after.tid) {
			after = t
		}
		if first == nil || t.tid < first.tid {
			first = t
		}
	}
	if after != nil {
		return after
	}
	return first
}

// endTurn ends a thread's turn when it has moved often enough.
func (p *Process) endTurn(t *thread) {
	q := &p.probing
	if q.turn != t {
		return
	}
	if q.steps++; q.steps < turnSteps {
		return
	}
	q.steps = 0
	if next := p.afterTurn(); next != nil {
		q.turn = next
	}
}

// probeOn executes one instruction of a thread that is probed. Unlike in a step of the user's, a
// signal is delivered.
func (p *Process) probeOn(t *thread) {
	kind := plainStep
	switch in := instruction.ClassAt(p.mem, t.regs.PC()); {
	case t.call.AtEntry, t.forked != 0, t.step == fromSyscall && !t.regs.Restarting() && t.inject == 0:
		kind = fromSyscall
	case t.inject != 0 && t.regs.Restarting():
		kind = slowStep
	case t.inject != 0:
	case t.regs.Restarting(), in == instruction.Syscall:
		kind = toSyscall
	case in == instruction.Pushf:
		t.wasPushf = !t.regs.TrapFlag()
	}
	sig := p.signalFor(t)
	p.moved(t)
	t.step = kind
	request := unix.PTRACE_SINGLESTEP
	if kind == toSyscall || kind == fromSyscall {
		request = unix.PTRACE_SYSCALL
	} else {
		t.owed = true
	}
	if kind == plainStep && sig == 0 && !t.wasPushf && p.watches.Version() == 0 {
		p.probeFast(t)
		return
	}
	p.hot = t.tid
	p.resumeWith(t, request, sig)
}

// probeSlow lets a thread execute one instruction, whose status the tracer's loop handles.
func (p *Process) probeSlow(t *thread) {
	p.hot = t.tid
	request := unix.PTRACE_SINGLESTEP
	switch instruction.ClassAt(p.mem, t.regs.PC()) {
	case instruction.Syscall:
		t.step, t.owed, request = toSyscall, false, unix.PTRACE_SYSCALL
	case instruction.Pushf:
		t.wasPushf = !t.regs.TrapFlag()
	}
	p.resumeWith(t, request, 0)
}

// probeFast executes instructions of a thread, as long as nothing else is to be done. Most are
// emulated: that costs a hundredth of a step. The others are stepped, and each must end with the trap
// of its step. Then the status is left for the tracer's loop.
func (p *Process) probeFast(t *thread) {
	q := &p.probing
	p.cache.Forget(t.tid)
	q.runner.Forget()
	for ; q.steps < turnSteps && !p.tracer.thread.Wanted() && !p.mem.Inserted(t.regs.PC()); q.steps++ {
		if wrote, ok := p.emulateNext(t); ok {
			if (wrote || q.probe.Registers) && p.changed(t) {
				t.why, t.fired, t.bySteps = watched, 0, true
				p.arrived(t)
				p.react(t)
				return
			}
			continue
		}
		if !instruction.PlainAt(p.mem, t.regs.PC()) {
			break
		}
		if ws, ok := p.probeStep(t); !ok {
			t.running = true
			p.inMotion++
			if ws != 0 {
				p.deferred = append(p.deferred, status{t.tid, ws})
			}
			return
		}
	}
	q.steps = min(q.steps, turnSteps-1) // the next step ends the turn
	p.probeSlow(t)
}

// emulateNext emulates a thread's next instruction. wrote tells that it has written memory.
func (p *Process) emulateNext(t *thread) (wrote, ok bool) {
	r, err := t.regs.Read()
	if err != nil {
		return false, false
	}
	if wrote, ok = p.probing.runner.Step(&p.emulator, r); ok {
		t.regs.Changed()
		t.skipping, t.why, t.signal = false, passing, nil
	}
	return wrote, ok
}

// probeStep executes one instruction. It returns false if the tracer's loop must handle the status:
// the thread has stopped for another reason, or the probe wants it.
func (p *Process) probeStep(t *thread) (unix.WaitStatus, bool) {
	pc := t.regs.PC()
	t.regs.Flush()
	p.probing.runner.Forget()
	if kernel.Ptrace(unix.PTRACE_SINGLESTEP, t.tid, 0, 0) != nil {
		return 0, false // it was killed; its end will be reported soon
	}
	ws, ok := kernel.WaitFor(t.tid)
	t.regs.Forget()
	const stepTrap = unix.WaitStatus(unix.SIGTRAP)<<8 | 0x7f
	if !ok || ws != stepTrap {
		return ws, false
	}
	if r, err := t.regs.Read(); err == nil {
		// An instruction that has not moved the PC may not have been executed.
		next := target.Addr(r.Get(kernel.RIP))
		if next != pc && !p.mem.Inserted(next) && !p.changed(t) {
			return 0, true
		}
	}
	t.regs.Forget()
	return ws, false
}

// changed calls the probe.
func (p *Process) changed(t *thread) bool {
	q := &p.probing
	var regs *arch.Registers
	if q.probe.Registers {
		r, err := t.regs.Read()
		if err != nil {
			return false
		}
		q.regs = arch.Registers{Arch: arch.AMD64}
		target.SetUser(&q.regs, r[:])
		regs = &q.regs
	}
	return q.probe.Check(target.ThreadID(t.tid), regs)
}

// noteProbed calls the probe after a thread has moved. It returns true if the thread stops for it.
func (p *Process) noteProbed(t *thread) bool {
	if !p.probed(t) {
		return false
	}
	p.endTurn(t)
	if !p.changed(t) {
		return false
	}
	t.why, t.fired, t.bySteps = watched, 0, true
	return true
}
