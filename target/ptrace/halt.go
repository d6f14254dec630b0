package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
)

// halt stops every thread and takes its status. What they stopped for is in
// p.kept. PTRACE_INTERRUPT has no side effect on the thread: a system call that it
// disturbs goes on by itself.
func (p *Process) halt() {
	for !p.over && (p.inMotion > 0 || p.dying()) {
		for _, t := range p.threads {
			if t.running && !t.frozen && !t.fresh {
				t.frozen = true
				_ = ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
			}
		}
		if !p.waitNoting() {
			return
		}
	}
}

// dying reports whether only the leader is left, past the point where it could be
// stopped: the end of the process is about to be reported.
func (p *Process) dying() bool {
	return len(p.threads) == 1 && p.threads[p.pid] != nil && p.threads[p.pid].zombie
}

// waitNoting waits for one status and notes it; false if no tracee is left.
func (p *Process) waitNoting() bool {
	tid, ws := wait(true)
	if tid <= 0 {
		p.vanished()
		return false
	}
	p.note(tid, ws)
	return true
}

// reportKept sends the oldest stop that was kept and still holds, which ends
// the run. All threads are stopped.
func (p *Process) reportKept() bool {
	kept := p.kept
	p.kept = nil
	for i, t := range kept {
		if p.threads[t.tid] != t || t.running {
			continue
		}
		if p.alone && t != p.stepper {
			p.kept = append(p.kept, t)
			continue
		}
		e := target.Event{Kind: target.Stopped}
		why := t.why
		t.why = passing
		switch why {
		case breakpoint:
			// The PC has been put back, so that nothing is lost if the
			// breakpoint is gone; and if the user moved the PC, it
			// is not there any more.
			if !p.mem.inserted(t.addr) || t.pc() != t.addr {
				continue
			}
			e.Reason, e.Addr = target.Breakpoint, t.addr
		case signalled:
			if t.signal == nil || !p.policyOf(t.signal.Number).Stop {
				continue
			}
			e.Reason, e.Signal = target.Signalled, t.signal
		case stepped:
			if !p.stepping || t != p.stepper {
				continue
			}
			e.Reason = target.Stepped
		case execed:
			e.Reason = target.Execed
		default:
			continue
		}
		p.kept = append(p.kept, kept[i+1:]...)
		p.stopFor(t, e)
		return true
	}
	if p.stepperLost {
		p.stopFor(p.someThread(), target.Event{Kind: target.Stopped, Reason: target.Stepped})
		return true
	}
	return false
}

// stopFor ends the run with an event of a thread. All threads are stopped.
func (p *Process) stopFor(t *thread, e target.Event) {
	p.running, p.stepping, p.alone, p.stepperLost, p.stepper = false, false, false, false, nil
	p.terminal.takeBack()
	if t == nil {
		return
	}
	e.Thread = target.ThreadID(t.tid)
	t.skip, t.skipping = t.pc(), true
	p.last = t
	// A step that ended while another stop was found is nobody's any more.
	rest := p.kept[:0]
	for _, k := range p.kept {
		if k.why == stepped {
			k.why = passing
			continue
		}
		rest = append(rest, k)
	}
	p.kept = rest
	p.send(e)
}
