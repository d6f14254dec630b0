package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
)

// takeStatus handles a status.
func (p *Process) takeStatus(tid int, ws unix.WaitStatus) {
	if p.over {
		return
	}
	t := p.note(tid, ws)
	if p.stepperLost {
		p.halt()
		p.settle()
		return
	}
	if t != nil {
		p.react(t)
	}
	for len(p.born) > 0 {
		t, p.born = p.born[0], p.born[1:]
		p.react(t)
	}
	p.nextTurn()
}

// react decides how to continue after a stop that was recorded.
func (p *Process) react(t *thread) {
	if !p.running || p.over || t.running || t.parked {
		return
	}
	switch {
	case t.why == breakpoint, t.why == watched, t.why == noticed, t.why == stepped && p.decide != nil:
		p.arrive(t)
	case t.why.matters():
		p.halt()
		p.settle()
	case p.stays(t):
	default:
		p.pass(t)
	}
}

// arrive handles a thread that has hit a site, or has finished its step.
func (p *Process) arrive(t *thread) {
	p.dropPending(t)
	switch p.judge(t) {
	case target.Pass:
		if t.why == watched || t.why == noticed {
			p.passEvent(t)
			return
		}
		p.hot = t.tid
		p.goFrom(t, p.hit.Next)
	case target.Park:
		p.park(t)
	default:
		e := p.judgedEvent(t)
		t.why = passing
		p.halt()
		if !p.over {
			p.stopFor(t, e)
		}
	}
}

// passEvent lets a thread go on after a watch or another event that the judge passes. The thread
// has not hit the site at its PC yet.
func (p *Process) passEvent(t *thread) {
	t.why, t.skipping = passing, false
	if t.stepDone {
		t.why, t.stepDone = stepped, false
		p.arrive(t)
		return
	}
	p.pass(t)
}

// goFrom continues a thread from the place where it arrived, as r specifies.
func (p *Process) goFrom(t *thread, r target.Resume) {
	p.cache.Forget(t.tid)
	// After a watch or another event, the thread has not yet hit a site at its PC.
	t.skip, t.skipping = t.regs.PC(), t.why != watched && t.why != noticed
	t.why, t.signal = passing, nil
	switch {
	case r.Step:
		p.stepper, p.stepping, p.stepLo, p.stepHi, p.first = t, true, r.StepLo, r.StepHi, true
		p.hot = t.tid
	case p.stepper == t:
		p.stepper, p.stepping = nil, false
	}
	p.pass(t)
}

// dropPending removes a thread from the pending stops.
func (p *Process) dropPending(t *thread) {
	for i := len(p.pending) - 1; i >= 0; i-- {
		if p.pending[i] == t {
			p.pending = append(p.pending[:i], p.pending[i+1:]...)
		}
	}
}

// settle is called after halt: it reports a pending stop, or else resumes all threads.
func (p *Process) settle() {
	if p.over || !p.running {
		return
	}
	if !p.reportPending() {
		p.resumeAll()
	}
}

// stayAwake polls for a status of the hot thread, and now and then for those of others: a thread
// that has just passed a site often hits one again soon. It returns false when the tracer must
// sleep again.
func (p *Process) stayAwake() bool {
	switch tid, ws, awake := p.lookout.Poll(p.hot, len(p.threads)); tid {
	case 0:
		return awake
	case p.hot:
		p.takeStatus(tid, ws)
	default:
		p.tracer.dispatch(tid, ws)
	}
	return p.running && !p.over
}

// release frees the resources of the process: the terminal, and the descriptors.
func (p *Process) release() {
	p.terminal.TakeBack()
	p.mem.Close()
	p.guard.Close()
	p.guard = nil
	p.pidfd.Close()
}
