package ptrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/signals"
)

// Resume implements target.Process.
func (p *Process) Resume(r target.Resume) error {
	return p.whileStopped(func() error { return p.resume(r) })
}

func (p *Process) resume(r target.Resume) error {
	t := p.threads[int(r.Thread)]
	if t != nil && t.zombie {
		t = nil
	}
	if t == nil && (r.Thread != 0 || r.Step || r.Alone) {
		return target.ErrNoThread
	}
	if t != nil && r.Signal != 0 {
		p.replaceSignal(t, r.Signal)
	}
	p.cache.Clear()
	p.stepper, p.stepping, p.alone, p.stepLo, p.stepHi = t, r.Step, r.Alone, r.StepLo, r.StepHi
	if r.Step {
		// The user has seen the place where the step starts.
		t.skip, t.skipping = t.regs.PC(), true
	}
	p.running, p.stepperLost, p.first = true, false, true
	p.guard.Await()
	p.mem.Raise()
	// If only one thread runs, the stops of the others stay pending.
	if !r.Alone && p.reportPending() {
		return nil
	}
	p.terminal.Give(p.pid)
	p.resumeAll()
	return nil
}

// replaceSignal replaces the signal that a thread would receive by the user's.
func (p *Process) replaceSignal(t *thread, sig int) {
	switch {
	case sig < 0:
		t.inject = 0
	case t.inject == sig:
	default:
		t.inject, t.fault, t.told = sig, false, true
		t.info = kernel.NewSigInfo(sig)
	}
	t.signal = nil
	if t.why == signalled {
		t.why = passing
	}
}

var _ target.Freezer = (*Process)(nil)

// Freeze implements target.Freezer.
func (p *Process) Freeze(id target.ThreadID, on bool) error {
	return p.whileStopped(func() error {
		t := p.threads[int(id)]
		if t == nil || t.zombie {
			return target.ErrNoThread
		}
		t.icy = on
		return nil
	})
}

// stays reports whether a thread must stay stopped in this run.
func (p *Process) stays(t *thread) bool {
	return t.zombie || (p.alone || t.icy) && t != p.stepper && !t.guest || p.outOfTurn(t)
}

// resumeAll continues all threads that should run. Threads at a site that they have already
// reported first pass it. All threads are stopped.
func (p *Process) resumeAll() {
	p.born = nil
	if !p.giveFatal() || !p.passAllSlowly() {
		return
	}
	defer p.nextTurn()
	for t := range p.everyThread() {
		if p.over || !p.running {
			return
		}
		if !t.running && !t.parked && !p.stays(t) && !t.why.matters() {
			p.goOn(t)
		}
	}
}

// mayDump reports whether the kernel may write a core when a thread continues: its signal is
// one that dumps core. It does not if the program handles the signal.
func (p *Process) mayDump(t *thread) bool {
	return t.sigStop && !t.groupStop && !t.guest && signals.DumpsCore(t.inject)
}

// giveFatal delivers signals that may cause a core while all other threads are stopped, and none is
// out of line: a core shows where they are. It reports whether the run may continue.
func (p *Process) giveFatal() bool {
	given := false
	p.flushAll()
	for _, t := range p.threads {
		if t.running || t.parked || p.stays(t) || t.why.matters() || !p.mayDump(t) {
			continue
		}
		if _, site := p.siteToPass(t); !site {
			p.goOn(t)
			given = true
		}
	}
	if given {
		p.halt() // now the thread is in a handler, or the process has ended
		if p.over || p.reportPending() {
			return false
		}
	}
	return true
}

// goOn continues one thread in the way that this run requires.
func (p *Process) goOn(t *thread) {
	if t.groupStop {
		t.signal, t.step = nil, noStep
		p.resumeWith(t, unix.PTRACE_LISTEN, 0)
		return
	}
	if p.stepping && t == p.stepper {
		p.stepOn(t)
		return
	}
	if p.probed(t) {
		p.probeOn(t)
		return
	}
	sig := p.signalFor(t)
	p.moved(t)
	t.step = noStep
	p.resumeWith(t, p.request(t), sig)
}

// stepOn executes one instruction of a thread.
func (p *Process) stepOn(t *thread) {
	if t.inject != 0 && !t.told && !t.fault && !t.regs.Restarting() {
		// The step must not enter a handler that has nothing to do with it. Signals that interrupt
		// a system call are delivered: the call may wait only for them.
		p.holdBack(t)
	}
	if t.inject == 0 && t.queue.Holding() && p.first && p.stepHi == 0 && !t.call.AtEntry {
		// An earlier step has held back a signal. A user who steps by single instructions wants to
		// see the handler.
		t.enter = !t.sigStop
		sig := p.signalFor(t)
		if sig != 0 {
			t.inject, t.told = sig, true
		}
	}
	p.first = false
	request := p.beginStep(t)
	sig := t.inject
	if sig != 0 {
		sig = p.signalFor(t)
	}
	p.moved(t)
	p.resumeWith(t, request, sig)
}

// beginStep chooses how a thread executes its next instruction, and returns the request for it. It
// is called before signalFor.
func (p *Process) beginStep(t *thread) (request int) {
	inCall := t.step == fromSyscall && !t.regs.Restarting() && t.inject == 0
	t.step = plainStep
	switch in := p.instructionAt(t); {
	case t.call.AtEntry, t.forked != 0, inCall:
		t.step = fromSyscall
	case t.inject != 0 && t.regs.Restarting():
		// If there is a handler, it is entered at once. Otherwise the call starts again, and may
		// take a long time.
		t.step = slowStep
	case t.inject != 0:
	case t.regs.Restarting(), in == instruction.Syscall:
		t.step = toSyscall
	case in == instruction.Pushf:
		t.wasPushf = !t.regs.TrapFlag()
	}
	if t.step == toSyscall || t.step == fromSyscall {
		return unix.PTRACE_SYSCALL
	}
	t.owed = true
	return unix.PTRACE_SINGLESTEP
}

// resumeWith makes the request. It counts a thread that was killed from outside as running: its end
// will be reported soon.
func (p *Process) resumeWith(t *thread, request, sig int) {
	t.regs.Flush()
	p.arm(t)
	t.running = true
	if t.waits {
		p.goAway(t)
	} else {
		t.regs.Resumed()
		if !t.guest {
			p.inMotion++
		}
	}
	t.inject = 0
	p.cache.Forget(t.tid)
	if request == unix.PTRACE_LISTEN {
		sig = 0
	}
	_ = kernel.Ptrace(request, t.tid, 0, uintptr(sig))
}

// signalFor returns the signal to inject when a thread continues. Every other signal is sent again,
// and delivered when it arrives.
func (p *Process) signalFor(t *thread) int {
	sig := t.inject
	t.inject = 0
	if sig == 0 && t.queue.Holding() && t.sigStop {
		t.queue.Next(&t.info)
		sig = t.info.Signo()
	}
	t.queue.ResendHeld(p.pid, t.tid)
	if sig == 0 {
		return 0
	}
	if !t.sigStop {
		t.queue.Resend(p.pid, t.tid, &t.info)
		return 0
	}
	// If it is not the signal that the thread stopped with, the kernel would invent a siginfo.
	_ = kernel.SetSigInfo(t.tid, &t.info)
	s, _ := target.DecodeSigInfo(t.info[:], binary.LittleEndian, 8)
	p.lastFatal = &s
	return sig
}

// holdBack saves the signal that a thread would receive, for later.
func (p *Process) holdBack(t *thread) {
	t.queue.HoldBack(t.inject, &t.info)
	t.inject = 0
}
