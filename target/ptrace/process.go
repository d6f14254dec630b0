package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/guardian"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
	"dbg/target/ptrace/outbox"
	"dbg/target/ptrace/procfs"
	"dbg/target/ptrace/registers"
	"dbg/target/ptrace/signals"
	"dbg/target/ptrace/tracerthread"
)

// Process is a process that is being traced.
//
// All fields belong to the tracer's goroutine, unless their comments say otherwise. pid and files
// are set before other goroutines know the Process.
type Process struct {
	kind   target.Kind // fixed, as are pid and events
	pid    int
	events chan target.Event

	tracer *tracer // fixed
	outbox *outbox.Outbox
	ended  chan struct{} // closed when the process is over

	// mem holds the process's memory and sites. Any goroutine may read.
	mem   *memory.Memory
	guard *guardian.Guard // nil: memory is not repaired if we are killed

	// files answers what /proc tells: Exe, Auxv, AuxvBytes, Mappings, Regions and Touched.
	files

	// pidfd identifies the process for Kill, which does not wait for the tracer.
	pidfd kernel.PidFD

	// cache holds registers that were read during this stop. Any goroutine may use it.
	cache registers.Cache

	guardian string // path of the guardian's program, see AttachOptions

	policy signals.Policies

	threads     map[int]*thread
	guests      map[int]*thread    // children that share our memory, see guests.go
	inMotion    int                // how many of threads are running and can be stopped
	arrivals    uint64             // the number of arrivals so far
	serial      uint64             // Serial of the latest event Parked
	parked      int                // how many of threads are parked
	running     bool               // as the user sees it
	over        bool               // the process has ended or was detached
	closing     bool               // events are no longer wanted
	busy        int                // above 0 while all threads are stopped or being stopped: guests wait
	steppingAll bool               // StepAll is running
	mute        bool               // events other than the end are not sent
	pending     []*thread          // stops to report that are not reported yet, oldest first
	last        *thread            // the thread whose stop was reported last
	deferred    []status           // taken while a thread was settled, to be handled later
	born        []*thread          // new threads, noted together with their parent's event
	first       bool               // the requested step has not begun yet
	stepper     *thread            // the thread that is being stepped, or runs alone
	stepping    bool               // the stepper is stepping
	stepperLost bool               // the stepper has ended
	alone       bool               // only the stepper runs
	stepLo      target.Addr        // the range of the step
	stepHi      target.Addr        // 0: one instruction
	lastFatal   *target.SignalInfo // the signal that was last delivered to a thread
	watches     debugreg.Table
	probing     probing
	catches     catches
	decide      target.Judge // nil: each hit stops the process
	hit         target.Hit   // the argument of decide
	hot         int          // the thread that has just passed a site, see stayAwake
	expected    *expectedReturn
	lookout     tracerthread.Lookout
	scratch     instruction.Scratch
	urgent      bool // the tracer's thread has real-time priority, and must not stay awake
	slow        int  // counts how often all threads were stopped to step one over a site; for tests
	shared      bool // the search for processes that share our memory was done
	emulator    instruction.Emulator
	terminal    kernel.Terminal
}

type files = procfs.Process // an alias, so that the embedded field is not exported

// setPID sets the id of a new Process.
func (p *Process) setPID(pid int) {
	p.pid, p.files = pid, procfs.Of(pid)
	p.emulator = instruction.Emulator{PID: pid, Memory: p.mem, Watches: &p.watches}
}

func newProcess(kind target.Kind) *Process {
	return &Process{
		kind: kind, tracer: newTracer(),
		mem:     memory.New(),
		policy:  signals.Defaults(),
		outbox:  outbox.New(),
		events:  make(chan target.Event),
		ended:   make(chan struct{}),
		threads: map[int]*thread{},
		guests:  map[int]*thread{},
		cache:   registers.NewCache(),
	}
}

// whileStopped runs f in the tracer's goroutine if the process is stopped.
func (p *Process) whileStopped(f func() error) error {
	return p.do(func() error {
		switch {
		case p.over:
			return target.ErrGone
		case p.running:
			return target.ErrRunning
		}
		return f()
	})
}

// onThread runs f in the tracer's goroutine with a thread that is stopped.
func (p *Process) onThread(id target.ThreadID, f func(*thread) error) error {
	return p.alive(func() error {
		t := p.threads[int(id)]
		switch {
		case t == nil || t.zombie:
			return target.ErrNoThread
		case t.running && !t.away:
			if p.running {
				return target.ErrRunning
			}
			return target.ErrNoThread
		}
		return gone(f(t))
	})
}

// gone replaces the error of a request to a thread that was killed by another process. Its status
// will arrive.
func gone(err error) error {
	if err == unix.ESRCH {
		return target.ErrGone
	}
	return err
}

// Arch, Kind, PID and Events implement target.Process.

func (p *Process) Arch() *arch.Arch            { return arch.AMD64 }
func (p *Process) Kind() target.Kind           { return p.kind }
func (p *Process) PID() int                    { return p.pid }
func (p *Process) Events() <-chan target.Event { return p.events }

// SetSignalPolicy implements target.Process.
func (p *Process) SetSignalPolicy(sig int, policy target.SignalPolicy) {
	_ = p.do(func() error {
		p.policy.Set(sig, policy)
		// A thread that has stopped with the signal gets it when it continues, or does not.
		for _, t := range p.threads {
			if t.running || t.signal == nil || t.signal.Number != sig || !t.sigStop {
				continue
			}
			switch {
			case !policy.Pass && t.inject == sig:
				t.inject = 0
			case policy.Pass && t.inject == 0:
				t.inject = sig
			}
		}
		return nil
	})
}

// Interrupt implements target.Process.
func (p *Process) Interrupt() error {
	return p.do(func() error {
		switch {
		case p.over:
			return target.ErrGone
		case !p.running:
			return nil
		}
		p.halt()
		if p.over {
			return nil
		}
		// With a judge, saved stops are judged when the process continues: a pause is never late.
		if p.decide == nil && p.reportPending() {
			return nil
		}
		p.stopFor(p.someThread(), target.Event{Kind: target.Stopped, Reason: target.Interrupted})
		return nil
	})
}

// Kill implements target.Process. The caller sends the signal, not the tracer, which may be
// waiting for a thread that only the kill can free.
func (p *Process) Kill() error { return p.pidfd.Kill() }

// Close implements target.Target.
func (p *Process) Close() error {
	p.outbox.Discard()
	if p.kind == target.Launched {
		_ = p.Kill()
		_ = p.do(func() error { p.closing = true; return nil })
	} else {
		_ = p.do(func() error { p.closing = true; p.detach(); return nil })
	}
	<-p.ended
	return nil
}

// someThread returns the thread for which a stop is reported that no thread caused: the one that
// is being stepped, the one that was reported last, or the main thread.
func (p *Process) someThread() *thread {
	for _, t := range []*thread{p.stepper, p.last, p.threads[p.pid]} {
		if t != nil && p.threads[t.tid] == t && !t.zombie {
			return t
		}
	}
	var least *thread
	for _, t := range p.threads {
		if !t.zombie && (least == nil || t.tid < least.tid) {
			least = t
		}
	}
	return least
}

// send queues an event. During StepAll and an attach, only the end of the process is sent.
func (p *Process) send(e target.Event) {
	if p.mute && e.Kind != target.Exited && e.Kind != target.Killed {
		return
	}
	p.outbox.Put(e)
}
