package ptrace

import (
	"iter"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// halt stops every thread and takes its status. The stops to report are in p.pending.
// PTRACE_INTERRUPT has no side effect on the thread: an interrupted system call continues by
// itself.
//
// halt waits for threads by their ids, since wait4(-1) examines all tracees each time. If no
// thread has stopped yet, it sleeps in wait4(-1), which also returns unexpected statuses, such as
// the end of an unknown thread. Threads that wait for a child of vfork can't stop, and count as
// stopped.
func (p *Process) halt() {
	p.busy++
	defer func() { p.busy-- }()
	p.noteDeferred()
	for !p.over && (p.inMotion > 0 || p.dying()) {
		p.interruptAll()
		if !p.collect() && !p.waitNoting() {
			return
		}
	}
	p.mem.ForgetRemoved()
}

// interruptAll asks all threads that can be stopped to stop.
func (p *Process) interruptAll() {
	for _, t := range p.threads {
		if t.running && !t.frozen && !t.fresh && !t.away {
			t.frozen = true
			_ = kernel.Ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
		}
	}
}

// collect takes the statuses of the threads that have stopped so far. It reports whether there
// was one.
func (p *Process) collect() bool {
	found := false
	for tid, t := range p.threads {
		if !t.running || t.away {
			continue
		}
		if ws, ok := kernel.Take(tid); ok {
			found = true
			p.note(tid, ws)
			if p.over {
				return true
			}
		}
	}
	return found
}

// dying reports whether only the leader is left, past the point where it could be stopped: the
// end of the process will be reported soon.
func (p *Process) dying() bool {
	return len(p.threads) == 1 && p.threads[p.pid] != nil && p.threads[p.pid].zombie
}

// waitNoting waits for one status and records it. It returns false if no tracee is left.
func (p *Process) waitNoting() bool {
	tid, ws := kernel.Wait()
	if tid <= 0 {
		p.vanished()
		return false
	}
	p.note(tid, ws)
	return true
}

// everyThread iterates over the threads and the guests.
func (p *Process) everyThread() iter.Seq[*thread] {
	return func(yield func(*thread) bool) {
		for _, t := range p.threads {
			if !yield(t) {
				return
			}
		}
		for _, t := range p.guests {
			if !yield(t) {
				return
			}
		}
	}
}

// known reports whether a thread still exists.
func (p *Process) known(t *thread) bool { return p.threads[t.tid] == t || p.guests[t.tid] == t }

// reportPending reports the oldest saved stop that is still valid, which ends the run. All
// threads are stopped, except those that are ending.
func (p *Process) reportPending() bool {
	pending := p.pending
	p.pending = nil
	for i, t := range pending {
		if p.threads[t.tid] != t || t.running || t.parked {
			continue
		}
		if (p.alone || t.icy) && t != p.stepper {
			p.pending = append(p.pending, t)
			continue
		}
		e := target.Event{Kind: target.Stopped, Arrival: t.arrival}
		why := t.why
		t.why = passing
		switch why {
		case breakpoint:
			// The PC was moved back, so nothing is lost if the site is gone. If the user moved
			// the PC, the thread is no longer there.
			if !p.mem.Inserted(t.addr) && !p.watches.Executes(t.addr) || t.regs.PC() != t.addr {
				continue
			}
			verdict := p.judge(t)
			if verdict == target.Pass {
				t.skip, t.skipping = t.addr, true
				continue
			}
			t.why = why
			if verdict == target.Park {
				p.park(t)
				continue
			}
			t.why = passing
			e.Reason, e.Addr = target.Breakpoint, t.addr
		case signalled:
			if t.signal == nil || !p.policy.Of(t.signal.Number).Stop {
				continue
			}
			e.Reason, e.Signal = target.Signalled, t.signal
		case stepped:
			if !p.stepping || t != p.stepper {
				continue
			}
			if p.decide != nil {
				t.why = why
				p.park(t)
				continue
			}
			e.Reason = target.Stepped
		case watched, noticed:
			t.why = why
			switch p.judge(t) {
			case target.Pass:
				t.why = passing
				if t.stepDone {
					t.why, t.stepDone = stepped, false
					p.pending = append(append(p.pending, t), pending[i+1:]...)
					return p.reportPending()
				}
				continue
			case target.Park:
				p.park(t)
				continue
			}
			e = p.judgedEvent(t)
			t.why = passing
		case execed:
			e.Reason = target.Execed
		default:
			continue
		}
		p.pending = append(p.pending, pending[i+1:]...)
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
	p.mem.Lower()
	p.disarmAll()
	p.scratch.Sweep(p.mem)
	// Parked threads are judged again when the process continues. A step that ended while another
	// stop was found is discarded. An interruption is nobody's stop: the thread for which it is
	// reported may have one of its own.
	own := t
	if e.Reason == target.Interrupted {
		own = nil
	}
	if p.parked > 0 {
		for _, o := range p.threads {
			if o.parked {
				o.parked = false
				switch {
				case o != own && (o.why == breakpoint || o.why == watched || o.why == noticed):
					p.pending = append(p.pending, o)
				case o.why == stepped:
					o.why = passing
				}
			}
		}
		p.parked = 0
	}
	rest := p.pending[:0]
	for _, k := range p.pending {
		if k == own {
			continue
		}
		if k.why == stepped {
			k.why = passing
			continue
		}
		rest = append(rest, k)
	}
	p.pending = rest
	p.settleTraps()
	p.flushAll()
	p.serveGuests()
	p.terminal.TakeBack()
	if t == nil || p.over {
		return
	}
	if !p.known(t) { // it was killed while its trap was settled
		if t = p.someThread(); t == nil {
			return
		}
	}
	e.Thread = target.ThreadID(t.tid)
	t.skip, t.skipping = t.regs.PC(), !t.why.matters()
	switch e.Reason {
	case target.Watched, target.Syscall, target.ChildCreated, target.ThreadCreated:
		t.skipping = false // the site of the next instruction has not been hit yet
	}
	p.last = t
	if !p.isExpected(t, &e) {
		p.send(e)
	}
}

// flushAll writes the changed registers of stopped threads to the kernel. If dbg is killed,
// threads continue with the kernel's copy. A core contains that copy, too.
func (p *Process) flushAll() {
	for _, t := range p.threads {
		if !t.running {
			t.regs.Flush()
		}
	}
}

// settleTraps moves threads that stopped for one of our traps from the signal-delivery-stop to a
// stop by PTRACE_INTERRUPT, without executing anything. If dbg is killed, the kernel lets threads
// continue as they are: from the first kind of stop it would deliver the SIGTRAP, which kills a
// program.
func (p *Process) settleTraps() {
	left := 0
	for _, t := range p.threads {
		if p.beginSettling(t) {
			left++
		}
	}
	for left > 0 && !p.over {
		before := left
		left = 0
		for _, t := range p.threads {
			if !t.settling {
				continue
			}
			if ws, ok := kernel.Take(t.tid); ok {
				p.note(t.tid, ws)
			} else {
				left++
			}
			if p.over {
				return
			}
		}
		if left == before && left > 0 && !p.waitNoting() {
			return
		}
	}
}

// settleTrap is settleTraps for one thread, while others run. Their statuses are handled later.
func (p *Process) settleTrap(t *thread) {
	if !p.beginSettling(t) {
		return
	}
	for !p.over && p.known(t) && t.settling {
		if ws, ok := kernel.Take(t.tid); ok {
			p.note(t.tid, ws)
			continue
		}
		tid, ws := kernel.Wait()
		switch {
		case tid <= 0:
			p.vanished()
			return
		case tid == t.tid:
			p.note(tid, ws)
		default:
			p.deferred = append(p.deferred, status{tid, ws})
		}
	}
}

// status is a status of a tracee from wait4(2).
type status struct {
	tid int
	ws  unix.WaitStatus
}

// noteDeferred records the deferred statuses, when all threads must stop.
func (p *Process) noteDeferred() {
	for len(p.deferred) > 0 {
		d := p.deferred[0]
		p.deferred = p.deferred[1:]
		p.note(d.tid, d.ws)
	}
}

// takeDeferred handles the deferred statuses, while the process runs.
func (p *Process) takeDeferred() {
	for len(p.deferred) > 0 && !p.over {
		d := p.deferred[0]
		p.deferred = p.deferred[1:]
		p.takeStatus(d.tid, d.ws)
	}
	p.deferred = nil
}

func (p *Process) beginSettling(t *thread) bool {
	if !t.trapStop || t.running || t.inject != 0 {
		return false
	}
	t.regs.Flush()
	if kernel.Ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0) != nil {
		return false
	}
	t.settling, t.running, t.trapStop = true, true, false
	p.inMotion++
	_ = kernel.Ptrace(unix.PTRACE_CONT, t.tid, 0, 0)
	return true
}

// settled records that a thread has left its signal-delivery-stop. The reason of its stop does
// not change.
func (p *Process) settled(t *thread, ws unix.WaitStatus) {
	t.running, t.settling, t.sigStop = false, false, false
	p.inMotion--
	t.groupStop = ws.StopSignal() != unix.SIGTRAP
}

// park keeps one thread stopped while the others run.
func (p *Process) park(t *thread) {
	e := p.judgedEvent(t)
	e.Kind, e.Thread, e.Addr = target.Parked, target.ThreadID(t.tid), t.regs.PC()
	if p.stepper == t {
		p.stepper, p.stepping = nil, false
	}
	t.parked = true
	p.parked++
	p.serial++
	t.serial = p.serial
	p.settleTrap(t)
	if !t.running {
		t.regs.Flush()
	}
	if p.known(t) && t.parked {
		e.Serial = t.serial
		p.send(e)
	}
}

// judgedEvent returns the event for a stop that was judged.
func (p *Process) judgedEvent(t *thread) target.Event {
	e := target.Event{Kind: target.Stopped, Reason: target.Stepped, Arrival: t.arrival}
	switch t.why {
	case breakpoint:
		e.Reason, e.Addr = target.Breakpoint, t.addr
	case noticed:
		t.notice.fill(&e)
		e.Addr = t.regs.PC()
	case watched:
		e.Reason, e.Addr, e.Watches, e.Probed = target.Watched, t.regs.PC(), p.watches.List(nil, t.fired), t.bySteps
	}
	return e
}

// ParkedAs implements target.Process.
func (p *Process) ParkedAs(id target.ThreadID) (serial uint64) {
	_ = p.do(func() error {
		if t := p.threads[int(id)]; t != nil && t.parked && p.running && !p.over {
			serial = t.serial
		}
		return nil
	})
	return serial
}

// parkedThread returns a parked thread of the running process.
func (p *Process) parkedThread(id target.ThreadID) (*thread, error) {
	switch t := p.threads[int(id)]; {
	case p.over:
		return nil, target.ErrGone
	case !p.running:
		return nil, target.ErrNotRunning
	case t == nil || !t.parked:
		return nil, target.ErrNoThread
	default:
		t.parked = false
		p.parked--
		return t, nil
	}
}

// Move implements target.Process.
func (p *Process) Move(r target.Resume) error {
	return p.do(func() error {
		t, err := p.parkedThread(r.Thread)
		if err != nil {
			return err
		}
		p.goFrom(t, r)
		return nil
	})
}

// StopAll implements target.Process.
func (p *Process) StopAll(id target.ThreadID) error {
	return p.do(func() error {
		t, err := p.parkedThread(id)
		if err != nil {
			return err
		}
		e := p.judgedEvent(t)
		t.why = passing
		p.halt()
		if !p.over {
			p.stopFor(t, e)
		}
		return nil
	})
}
