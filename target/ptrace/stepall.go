package ptrace

import (
	"context"
	"errors"
	"maps"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/stepall"
)

// StepAll executes all threads of the stopped process, one instruction at a time and one thread
// at a time, until the visitor stops it, the process ends or ctx is done. A thread that waits in
// a system call does not delay the others. Signals are delivered to the program. Children of fork
// are detached. No events are sent for the stops that the visitor sees.
//
// StepAll uses SIGTRAP: the kernel removes the program's handler for SIGTRAP when a step ends
// while the signal is blocked, and a SIGTRAP that a thread sends to itself is merged with the
// step's. The program does receive the SIGTRAP of its own int3.
//
// Afterwards the process is stopped, if it still exists. The error is ctx's, or says why the
// process can't be stepped. No breakpoint may be inserted.
func (p *Process) StepAll(ctx context.Context, v stepall.Visitor) error {
	return p.whileStopped(func() error {
		if !p.mem.Empty() {
			return errors.New("breakpoints are inserted")
		}
		p.cache.Clear()
		p.pending, p.born = nil, nil
		p.steppingAll, p.mute = true, true // the visitor is called instead
		defer func() { p.steppingAll, p.mute = false, false }()
		unpin := kernel.Pin(maps.Keys(p.threads))
		defer unpin()
		var all []stepall.Thread
		for _, t := range p.threads {
			if !t.zombie {
				all = append(all, &steppedThread{p, t})
			}
		}
		err := stepall.Run(ctx, stepall.Config{
			Tracer: steppedProcess{p}, Threads: all, Memory: p.mem, Sleeper: p.tracer.thread, Visitor: v,
		})
		for _, t := range p.threads {
			t.why, t.step, t.owed = passing, noStep, false
		}
		p.pending = nil
		return err
	})
}

// steppedProcess implements stepall.Tracer.
type steppedProcess struct{ p *Process }

func (s steppedProcess) PID() int   { return s.p.pid }
func (s steppedProcess) Over() bool { return s.p.over }
func (s steppedProcess) Vanished()  { s.p.vanished() }
func (s steppedProcess) Halt()      { s.p.halt() }

func (s steppedProcess) Zombie(tid int) bool {
	t := s.p.threads[tid]
	return t != nil && t.zombie
}

func (s steppedProcess) Note(tid int, ws unix.WaitStatus) (stopped stepall.Thread, born []stepall.Thread) {
	p := s.p
	if t := p.note(tid, ws); t != nil {
		t.why = passing
		stopped = &steppedThread{p, t}
	}
	for _, b := range p.born {
		born = append(born, &steppedThread{p, b})
	}
	p.born, p.pending = nil, nil
	return stopped, born
}

// steppedThread implements stepall.Thread.
type steppedThread struct {
	p *Process
	t *thread
}

func (s *steppedThread) ID() int        { return s.t.tid }
func (s *steppedThread) Known() bool    { return s.p.threads[s.t.tid] == s.t }
func (s *steppedThread) Inject(sig int) { s.t.inject = sig }

func (s *steppedThread) Resume() (sig int, groupStop bool) {
	p, t := s.p, s.t
	sig, t.inject = t.inject, 0
	t.regs.Flush()
	if t.waits {
		t.running = true
		p.goAway(t)
	} else {
		t.running = true
		t.regs.Resumed()
		p.inMotion++
	}
	t.step, t.owed = plainStep, true
	return sig, t.groupStop
}

func (s *steppedThread) Stepped() {
	s.p.inMotion--
	s.t.running, s.t.owed = false, false
}

func (s *steppedThread) Signalled() {
	s.p.stopped(s.t)
	s.t.sigStop = true
}

func (s *steppedThread) ReadSignal() (code int, ok bool) {
	t := s.t
	if err := kernel.GetSigInfo(t.tid, &t.info); err != nil {
		t.groupStop = err == unix.EINVAL
		return 0, false
	}
	return t.info.Code(), true
}

func (s *steppedThread) Rewind(from, to target.Addr) {
	if t := s.t; t.regs.PC() == from {
		_ = t.regs.SetPC(to)
		t.regs.Flush()
		t.inject = 0
	}
}
