package ptrace

import (
	"dbg/target"
	"dbg/target/ptrace/probe"
)

// While the client has a probe, the threads run one instruction at a time, and the probe is called
// after each. Only one thread moves at a time (its turn), so a change of memory is the work of the
// thread that has just moved, or of the kernel. A thread that enters a system call gives up its turn:
// the call may take long.

var _ target.Prober = (*Process)(nil)

// probing is the state of a process with a probe.
type probing struct {
	probe.Runner
	turn  *thread // the thread whose turn it is
	steps int     // how often it has moved in its turn
}

// turnSteps is the number of steps of a turn. It is small, so that a thread does not spin for a lock
// for long.
const turnSteps = 1000

// SetProbe implements target.Prober.
func (p *Process) SetProbe(client *target.Probe) error {
	return p.do(func() error {
		q := &p.probing
		change := (q.Probe == nil) != (client == nil)
		if p.running && change {
			p.halt() // the threads continue in another way
		}
		q.Runner.Probe, q.Memory, q.Emulator = client, p.mem, &p.emulator
		if change {
			q.turn = nil
			p.settle()
		}
		return nil
	})
}

// probed reports whether a thread is stepped for the probe.
func (p *Process) probed(t *thread) bool { return p.probing.Probe != nil && !t.guest }

// outOfTurn reports whether a thread must wait for its turn.
func (p *Process) outOfTurn(t *thread) bool { return p.probed(t) && p.probing.turn != t }

// nextTurn gives a thread its turn, if none has it that can use it.
func (p *Process) nextTurn() {
	q := &p.probing
	if q.Probe == nil || !p.running || p.over || p.busy > 0 {
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

// probeOn executes instructions of a thread that is probed. Unlike in a step of the user's, a signal is
// delivered.
func (p *Process) probeOn(t *thread) {
	request := p.beginStep(t)
	sig := p.signalFor(t)
	p.moved(t)
	if t.step == plainStep && sig == 0 && !t.wasPushf && p.watches.Version() == 0 {
		if p.probeFast(t) {
			return
		}
		t.owed = false
		request = p.beginStep(t)
	}
	p.hot = t.tid
	p.resumeWith(t, request, sig)
}

// probeFast executes instructions of a thread, as long as nothing else is to be done. It returns false
// if the thread must execute its next instruction in another way.
func (p *Process) probeFast(t *thread) bool {
	q := &p.probing
	p.cache.Forget(t.tid)
	q.steps--
	outcome, ws := q.Run(probe.Thread{TID: t.tid, Regs: &t.regs}, func() bool {
		q.steps++
		return q.steps < turnSteps && !p.tracer.thread.Wanted()
	}, func() { p.moved(t) })
	switch outcome {
	case probe.Changed:
		t.why, t.fired, t.bySteps = watched, 0, true
		p.arrived(t)
		p.react(t)
		return true
	case probe.Reported:
		t.running = true
		p.inMotion++
		if ws != 0 {
			p.deferred = append(p.deferred, status{t.tid, ws})
		}
		return true
	}
	q.steps = min(q.steps, turnSteps-1) // the next step ends the turn
	return false
}

// noteProbed calls the probe after a thread has moved. It returns true if the thread stops for it.
func (p *Process) noteProbed(t *thread) bool {
	if !p.probed(t) {
		return false
	}
	p.endTurn(t)
	if !p.probing.Changed(probe.Thread{TID: t.tid, Regs: &t.regs}) {
		return false
	}
	t.why, t.fired, t.bySteps = watched, 0, true
	return true
}
