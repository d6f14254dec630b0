package ptrace

import (
	"context"
	"errors"
	"maps"

	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// slice is the number of steps of a thread before the next thread's turn. It is small, so that a
// thread does not spin for a lock for long.
const slice = 200

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
func (p *Process) StepAll(ctx context.Context, v StepVisitor) error {
	return p.whileStopped(func() error {
		if !p.mem.Empty() {
			return errors.New("breakpoints are inserted")
		}
		s := stepLoop{p: p, v: v, ctx: ctx, done: ctx.Done()}
		s.regs.Arch = arch.AMD64
		return s.run()
	})
}

// stepLoop is the state of one StepAll.
type stepLoop struct {
	p    *Process
	v    StepVisitor
	ctx  context.Context
	done <-chan struct{}

	ready []*stepThread // threads that are stopped, in the order of their turns
	all   map[int]*stepThread
	soon  *stepThread // was stepped, and will report without waiting
	left  int         // steps left in the slice of ready[0]

	// No trap may be in memory while another thread may execute or copy that memory.
	forking int  // threads that are in fork, vfork or clone
	shared  bool // a child process shares this memory
	stop    bool
	ended   Step // the end of the process

	raw  kernel.Regs
	regs arch.Registers
	step Step
}

// stepThread is a thread that is being stepped.
type stepThread struct {
	t     *thread
	pc    target.Addr
	next  Next
	fast  bool      // no signal was delivered and none is expected: a SIGTRAP is the step's own
	cause StepCause // of the next report
	given int       // the signal delivered with the last request

	trapped bool // it will run into the trap
	forks   bool // the next system call creates a thread or a process
	inFork  bool // it is in that system call

	inside   bool // it is in the kernel, after the entry of a system call
	restarts bool // the system call that it has just left will start again
}

func (s *stepLoop) run() error {
	p := s.p
	p.forgetCache()
	p.pending, p.born = nil, nil
	p.steppingAll, p.mute = true, true // the visitor is called instead
	defer func() { p.steppingAll, p.mute = false, false }()
	unpin := kernel.Pin(maps.Keys(p.threads))
	defer unpin()
	s.all = make(map[int]*stepThread, len(p.threads))
	for _, t := range p.threads {
		if !t.zombie {
			th := &stepThread{t: t, cause: StepFirst}
			s.all[t.tid] = th
			s.report(th)
		}
	}
	for !s.stop && !p.over {
		if s.soon == nil && len(s.ready) > 0 {
			s.begin(s.ready[0])
		}
		tid, ws, err := s.wait()
		if err != nil {
			break
		}
		if tid < 0 {
			p.vanished()
			break
		}
		if tid > 0 {
			s.take(tid, ws)
		}
	}
	if p.over {
		s.ended.Cause, s.ended.Thread = StepGone, target.ThreadID(p.pid)
		s.v.VisitStep(&s.ended)
		return nil
	}
	p.halt()
	trap, _ := p.mem.Trap()
	for _, th := range s.all {
		if th.trapped && th.t.pc() == trap+1 {
			_ = th.t.setPC(trap)
			th.t.flush()
			th.t.inject = 0
		}
	}
	p.mem.DropTrap()
	for _, t := range p.threads {
		t.why, t.step, t.owed = passing, noStep, false
	}
	p.pending = nil
	return s.ctx.Err()
}

// begin resumes a thread for its next instruction.
func (s *stepLoop) begin(th *stepThread) {
	t := th.t
	s.ready = s.ready[:copy(s.ready, s.ready[1:])]
	sig := t.inject
	t.inject = 0
	th.given = sig
	th.fast = sig == 0 && th.cause == StepDone && th.next.Instruction != TrapInstruction
	t.flush()
	if t.waits {
		t.running = true
		s.p.goAway(t)
	} else {
		t.running, t.haveRegs = true, false
		s.p.inMotion++
	}
	t.step, t.owed = plainStep, true
	request := unix.PTRACE_SINGLESTEP
	switch {
	case t.groupStop:
		request = unix.PTRACE_LISTEN
	case th.inside:
	case th.next.Instruction == SyscallInstruction || th.restarts:
		if th.forks && !th.inFork {
			th.inFork = true
			s.forking++
		}
		if len(s.all) > 1 || th.restarts {
			// Until it is in the kernel, it might run into another thread's trap.
			request, s.soon = unix.PTRACE_SYSCALL, th
		}
	default:
		s.soon = th
		if th.trapped = s.traps(th); th.trapped {
			request = unix.PTRACE_CONT
		}
	}
	if !th.trapped {
		s.p.mem.DropTrap()
	}
	_ = kernel.Ptrace(request, t.tid, 0, uintptr(sig)) // ESRCH: it was killed; its status will arrive
}

// traps puts the trap at the next address of the thread. It returns false if the thread must be
// stepped.
func (s *stepLoop) traps(th *stepThread) bool {
	n := &th.next
	return th.fast && n.Then != 0 && n.Instruction == PlainInstruction && s.forking == 0 && !s.shared &&
		s.p.mem.MoveTrap(n.Then, n.Original, th.pc, n.Code)
}

// sprung reports whether a thread has hit the trap. If so, it moves the thread's PC back to it.
func (s *stepLoop) sprung(th *stepThread) bool {
	th.trapped = false
	if err := kernel.GetRegs(th.t.tid, &s.raw); err != nil {
		return false
	}
	pc := target.Addr(s.raw.Get(kernel.RIP))
	if trap, set := s.p.mem.Trap(); !set || pc != trap+1 {
		return false
	}
	s.raw.Set(kernel.RIP, uint64(pc-1))
	return kernel.Ptrace(unix.PTRACE_POKEUSR, th.t.tid, kernel.RIP, uintptr(pc-1)) == nil
}

// take handles a status.
func (s *stepLoop) take(tid int, ws unix.WaitStatus) {
	p := s.p
	th := s.all[tid]
	if s.soon != nil && s.soon == th {
		s.soon = nil
	}
	switch {
	case th != nil && th.fast && ws == unix.WaitStatus(unix.SIGTRAP)<<8|0x7f:
		p.inMotion--
		th.t.running, th.t.owed = false, false
		switch {
		case !th.trapped:
			s.report(th)
		case s.sprung(th):
			s.tell(th)
		default:
			p.stopped(th.t)
			s.takeSignal(th, int(unix.SIGTRAP))
		}
	case th != nil && ws == (unix.WaitStatus(unix.SIGTRAP)|0x80)<<8|0x7f:
		p.inMotion--
		th.t.running = false
		if !kernel.AtSyscallEntry(tid) {
			s.report(th)
			return
		}
		th.inside, th.t.running = true, true
		p.inMotion++
		_ = kernel.Ptrace(unix.PTRACE_SINGLESTEP, tid, 0, 0) // reports the exit at some later time
	case th != nil && ws.Stopped() && kernel.StopEvent(ws) == 0 && p.threads[tid] == th.t:
		p.stopped(th.t)
		s.takeSignal(th, int(ws.StopSignal()))
	default:
		s.takeEvent(tid, ws)
	}
}

// takeSignal handles a signal-delivery-stop, or the stop at the first instruction of a handler.
func (s *stepLoop) takeSignal(th *stepThread, sig int) {
	t := th.t
	t.sigStop = true
	if th.trapped {
		// A signal may arrive after the instruction and before the trap.
		th.trapped = false
		if trap, _ := s.p.mem.Trap(); t.pc() == trap {
			t.inject = sig
			s.report(th)
			return
		}
	}
	if err := kernel.GetSigInfo(t.tid, &t.info); err != nil {
		t.groupStop = err == unix.EINVAL
		s.again(th)
		return
	}
	if sig == int(unix.SIGTRAP) {
		switch code := t.info.Code(); code {
		case kernel.CodeTrace, kernel.CodeBrkpt, kernel.CodeHandler:
			t.owed = false
			if code == kernel.CodeHandler {
				th.cause = StepSignal
			}
			s.report(th)
			return
		}
	}
	// The program's own signal: deliver it when the thread continues.
	t.inject = sig
	s.again(th)
}

// takeEvent handles every other status: threads are created, execute a program, and end.
func (s *stepLoop) takeEvent(tid int, ws unix.WaitStatus) {
	p := s.p
	if th := s.all[tid]; th != nil && th.trapped {
		th.trapped = false
	}
	t := p.note(tid, ws)
	if kernel.StopEvent(ws) == unix.PTRACE_EVENT_CLONE && t != nil {
		if child, err := kernel.EventMessage(tid); err == nil && !procfs.IsThread(p.pid, child) {
			s.shared = true
		}
	}
	if kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXEC && t != nil {
		for old := range s.all {
			if old != tid {
				s.gone(old, 0)
			}
		}
		s.ready, s.soon, s.forking, s.shared = nil, nil, 0, false
		s.all = map[int]*stepThread{tid: {t: t, cause: StepExec}}
	}
	for _, b := range p.born {
		s.again(s.enlist(b))
	}
	p.born, p.pending = nil, nil
	if ws.Exited() || ws.Signaled() {
		s.ended.Status = ws.ExitStatus()
		if ws.Signaled() {
			s.ended.Signal = int(ws.Signal())
		}
		s.gone(tid, ws.ExitStatus())
		return
	}
	if t == nil {
		if t := p.threads[tid]; t != nil && t.zombie {
			s.gone(tid, 0)
		}
		return
	}
	t.why = passing
	s.again(s.enlist(t))
}

// enlist returns the entry of a thread. It makes one for a new thread.
func (s *stepLoop) enlist(t *thread) *stepThread {
	th := s.all[t.tid]
	if th == nil {
		th = &stepThread{t: t, cause: StepThread}
		s.all[t.tid] = th
	}
	return th
}

// gone removes a thread that has ended, and calls the visitor.
func (s *stepLoop) gone(tid, status int) {
	if s.all[tid] == nil {
		return
	}
	if s.all[tid].inFork {
		s.forking--
	}
	delete(s.all, tid)
	for i, th := range s.ready {
		if th.t.tid == tid {
			s.ready = append(s.ready[:i:i], s.ready[i+1:]...)
			break
		}
	}
	s.step = Step{Thread: target.ThreadID(tid), Cause: StepExit, Status: status}
	s.stop = s.v.VisitStep(&s.step).Stop || s.stop
}

// report reads a thread's registers, calls the visitor, and makes the thread ready again.
func (s *stepLoop) report(th *stepThread) {
	t := th.t
	if err := kernel.GetRegs(t.tid, &s.raw); err != nil {
		// The thread was killed, or runs 32-bit code: later statuses will tell.
		s.again(th)
		return
	}
	s.tell(th)
}

// tell is report with the registers already in s.raw.
func (s *stepLoop) tell(th *stepThread) {
	t := th.t
	if th.inFork {
		th.forks, th.inFork = false, false
		s.forking--
	}
	if th.next.Instruction == PushfInstruction && th.cause == StepDone {
		t.regs, t.haveRegs = s.raw, true
		s.p.cleanPushedFlags(t)
		t.haveRegs = false
	}
	target.SetUser(&s.regs, s.raw[:])
	s.step.Thread, s.step.Cause, s.step.Regs = target.ThreadID(t.tid), th.cause, &s.regs
	s.step.Signal, s.step.Status = 0, 0
	if th.cause == StepSignal {
		s.step.Signal = th.given
	}
	th.inside, th.restarts = false, s.raw.Restarting()
	th.pc = target.Addr(s.raw.Get(kernel.RIP))
	th.next = s.v.VisitStep(&s.step)
	if th.next.Instruction == SyscallInstruction {
		switch s.raw.Get(kernel.RAX) {
		case unix.SYS_CLONE, unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CLONE3:
			th.forks = true
		}
	}
	if th.next.Stop {
		s.stop = true
	}
	if th.next.Signal != 0 && th.cause == StepDone {
		t.inject = th.next.Signal
	}
	th.cause = StepDone
	s.again(th)
}

// again puts a stopped thread in the list of ready threads: at its head as long as it has its turn.
func (s *stepLoop) again(th *stepThread) {
	if len(s.ready) == 0 {
		s.ready = append(s.ready, th)
		s.left = slice
		return
	}
	if s.left--; s.left > 0 && th.cause == StepDone {
		s.ready = append(s.ready, nil)
		copy(s.ready[1:], s.ready)
		s.ready[0] = th
		return
	}
	s.left = slice
	s.ready = append(s.ready, th)
}
