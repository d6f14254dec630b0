package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
)

// Resume implements target.Process.
func (p *Process) Resume(r target.Resume) error {
	return p.whileStopped(func() error {
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
		p.forgetCache()
		p.stepper, p.stepping, p.alone, p.stepLo, p.stepHi = t, r.Step, r.Alone, r.StepLo, r.StepHi
		if r.Step {
			// Where the user steps from is where the user is.
			t.skip, t.skipping = t.pc(), true
		}
		p.running, p.stepperLost, p.first = true, false, true
		p.mem.guard.await()
		p.mem.raise()
		// A thread that is not to move has nothing to say yet.
		if !r.Alone && p.reportPending() {
			return nil
		}
		p.terminal.give(p.pid)
		p.resumeAll()
		return nil
	})
}

// replaceSignal puts the user's signal in the place of what a thread would get.
func (p *Process) replaceSignal(t *thread, sig int) {
	switch {
	case sig < 0:
		t.inject = 0
	case t.inject == sig:
	default:
		t.inject, t.fault, t.told = sig, false, true
		t.info = newSigInfo(sig)
	}
	t.signal = nil
	if t.why == signalled {
		t.why = passing
	}
}

// stays reports whether a thread is to stay stopped in this run.
func (p *Process) stays(t *thread) bool {
	return t.zombie || p.alone && t != p.stepper && !t.guest
}

// resumeAll lets every thread go that is to go; those that stand at a
// site which they have seen are taken over it first. All are stopped.
func (p *Process) resumeAll() {
	p.born = nil
	if !p.giveFatal() || !p.passAllSlowly() {
		return
	}
	for t := range p.everyThread() {
		if p.over || !p.running {
			return
		}
		if !t.running && !t.parked && !p.stays(t) && !t.why.matters() {
			p.goOn(t)
		}
	}
}

// dumps has the signals that end a process with a core: signal(7), "Standard signals".
const dumps = 1<<unix.SIGQUIT | 1<<unix.SIGILL | 1<<unix.SIGTRAP | 1<<unix.SIGABRT | 1<<unix.SIGBUS | 1<<unix.SIGFPE | 1<<unix.SIGSEGV |
	1<<unix.SIGXCPU | 1<<unix.SIGXFSZ | 1<<unix.SIGSYS

// mayDump reports whether the kernel writes a core when a thread goes on, unless the program handles the thread's signal.
func (p *Process) mayDump(t *thread) bool {
	return t.sigStop && !t.groupStop && !t.guest && uint64(t.inject) < 64 && uint64(dumps)>>t.inject&1 != 0
}

// giveFatal gives threads such a signal while all others stand in place, and not out of line: a core shows where they are. It
// reports whether the run may go on.
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
		p.halt() // in a handler, or the process has ended
		if p.over || p.reportPending() {
			return false
		}
	}
	return true
}

// goOn lets one thread go in the way that this run wants it to.
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
	sig := p.signalFor(t)
	p.moved(t)
	t.step = noStep
	p.resumeWith(t, unix.PTRACE_CONT, sig)
}

// stepOn takes a thread one instruction further.
func (p *Process) stepOn(t *thread) {
	if t.inject != 0 && !t.told && !t.fault && !t.restarting() {
		// The step is not to end up in a handler that has nothing
		// to do with it. Signals that interrupt a system call are given:
		// the call may be waiting for nothing else.
		p.holdBack(t)
	}
	if t.inject == 0 && len(t.later) > 0 && p.first && p.stepHi == 0 && t.why != inSyscall {
		// A signal that an earlier step has held back: to step by single
		// instructions is to see the handler.
		t.enter = !t.sigStop
		sig := p.signalFor(t)
		if sig != 0 {
			t.inject, t.told = sig, true
		}
	}
	p.first = false
	kind := plainStep
	switch in := p.instructionAt(t); {
	case t.why == inSyscall, t.step == fromSyscall && !t.restarting() && t.inject == 0:
		kind = fromSyscall
	case t.inject != 0 && t.restarting():
		// A handler will be entered at once, but without one the call
		// starts again, and that may take its time.
		kind = slowStep
	case t.inject != 0:
	case t.restarting(), in == insnSyscall:
		kind = toSyscall
	case in == insnPushf:
		t.wasPushf = !p.trapFlag(t)
	}
	sig := t.inject
	if sig != 0 {
		sig = p.signalFor(t)
	}
	p.moved(t)
	t.step = kind
	request := unix.PTRACE_SINGLESTEP
	if kind == toSyscall || kind == fromSyscall {
		request = unix.PTRACE_SYSCALL
	} else {
		t.owed = true
	}
	p.resumeWith(t, request, sig)
}

// resumeWith makes the request. A thread that has been killed from outside is
// taken for running: its end is about to be reported.
func (p *Process) resumeWith(t *thread, request, sig int) {
	t.flush()
	p.arm(t)
	t.running = true
	if t.waits {
		p.goAway(t)
	} else {
		t.haveRegs = false
		if !t.guest {
			p.inMotion++
		}
	}
	t.inject = 0
	p.forgetRegisters(t)
	if request == unix.PTRACE_LISTEN {
		sig = 0
	}
	_ = ptrace(request, t.tid, 0, uintptr(sig))
}
