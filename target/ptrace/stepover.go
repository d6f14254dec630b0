package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
)

// A thread that stands at a breakpoint which it is not to hit is taken over it
// alone: all others are stopped, the original byte is put back, the thread
// executes one instruction, the breakpoint returns.
//
// A system call is not executed to its end, since it might wait for one of the
// stopped threads: PTRACE_SYSCALL takes the thread to the call's entry, where
// the instruction is behind it. That also keeps the trap flag out of
// r11, in which the syscall instruction saves the flags.

// needsStepOver reports whether a stopped thread has to be taken over a breakpoint
// before it may go on.
func (p *Process) needsStepOver(t *thread) bool {
	_, ok := p.stepOverAddr(t)
	return ok
}

func (p *Process) stepOverAddr(t *thread) (target.Addr, bool) {
	if p.mem.empty() || p.vforks > 0 || t.groupStop || t.why == inSyscall || t.why == vforked {
		return 0, false
	}
	if t.skipping {
		if pc := t.pc(); pc == t.skip && p.mem.inserted(pc) {
			return pc, true
		}
		return 0, false
	}
	// The kernel will execute the syscall instruction again. The thread has
	// been past it, so this is no new arrival.
	if t.restarting() && t.inject == 0 {
		if pc := t.pc() - 2; p.mem.inserted(pc) {
			return pc, true
		}
	}
	return 0, false
}

// stepAllOver takes all that need it over their breakpoints. It reports whether
// the run may go on: false if a stop was found that has been reported.
func (p *Process) stepAllOver() bool {
	var all []*thread
	var lifted []target.Addr
	for _, t := range p.threads {
		if t.running || p.stays(t) || t.why.matters() {
			continue
		}
		if a, ok := p.stepOverAddr(t); ok {
			all = append(all, t)
			lifted = append(lifted, a)
		}
	}
	if len(all) == 0 {
		return true
	}
	p.mem.lift(lifted)
	for _, t := range all {
		if !p.over && p.threads[t.tid] == t && p.running {
			p.stepOver(t)
		}
	}
	p.mem.putBack(lifted)
	if p.over {
		return false
	}
	return !p.reportKept()
}

// stepOver executes the one instruction of a thread whose breakpoint is lifted.
func (p *Process) stepOver(t *thread) {
	at := t.pc()
	again := p.repeats(t)
	for {
		if t.inject != 0 && !t.fault {
			p.holdBack(t)
		}
		kind, request := plainStep, unix.PTRACE_SINGLESTEP
		switch in := p.instructionAt(t); {
		case t.restarting(), in == insnSyscall && t.inject == 0:
			kind, request = toSyscall, unix.PTRACE_SYSCALL
		case in == insnPushf:
			t.wasPushf = !p.trapFlag(t)
		}
		sig := 0
		if t.inject != 0 {
			sig = p.signalFor(t)
		}
		t.step, t.why, t.signal = kind, passing, nil
		t.owed = kind == plainStep
		p.resumeWith(t, request, sig)
		for t.running && !p.over && p.threads[t.tid] == t {
			if !p.waitNoting() {
				return
			}
		}
		switch {
		case p.over || p.threads[t.tid] != t || t.zombie || t.groupStop || t.why.matters():
			return
		case t.why == inSyscall:
			t.skipping = false
			return
		case t.step == noStep: // done
			if again && t.pc() == at && !(p.stepping && p.stepper == t) {
				continue
			}
			t.skipping = again && t.pc() == at
			return
		}
		// A signal, or an interruption that was sent before: once more.
	}
}
