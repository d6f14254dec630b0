package stepall

import (
	"context"

	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
	"dbg/target/ptrace/procfs"
	"dbg/target/ptrace/tracerthread"
)

// slice is the number of steps of a thread before the next thread's turn. It is small, so that a
// thread does not spin for a lock for long.
const slice = 200

// A Tracer is the process whose threads are stepped.
type Tracer interface {
	// PID returns the process id.
	PID() int

	// Over reports whether the process has ended.
	Over() bool

	// Vanished is called when there is no tracee any more: the process is over.
	Vanished()

	// Halt stops all threads.
	Halt()

	// Note handles a status that is not the end of a step. It returns the thread if it has stopped,
	// and the threads that were created and have stopped.
	Note(tid int, ws unix.WaitStatus) (stopped Thread, born []Thread)

	// Zombie reports whether a thread is the leader and has ended before other threads.
	Zombie(tid int) bool
}

// A Thread is the Tracer's state of one thread. Run makes the requests itself.
type Thread interface {
	// ID returns the thread's id.
	ID() int

	// Known reports whether the Tracer still has this thread.
	Known() bool

	// Resume records that the thread is resumed. It returns the signal to deliver, or 0, and
	// whether the thread is in a group-stop, which continues with PTRACE_LISTEN.
	Resume() (sig int, groupStop bool)

	// Stepped records that the thread has stopped at the end of its step or system call.
	Stepped()

	// Signalled records that the thread has stopped with a signal. ReadSignal reads its si_code.
	// It returns false in a group-stop, and if the thread was killed.
	Signalled()
	ReadSignal() (code int, ok bool)

	// Inject sets the signal to deliver with the next Resume.
	Inject(sig int)

	// Rewind moves a stopped thread from one PC to another, without its signal, if it is there.
	Rewind(from, to target.Addr)
}

// A Config specifies what is stepped. Set all fields.
type Config struct {
	Tracer  Tracer
	Threads []Thread // all threads, which are stopped
	Memory  *memory.Memory
	Sleeper *tracerthread.Thread // the thread on which Run is called
	Visitor Visitor
}

// Run executes all threads until the Visitor stops it, the process ends or ctx is done. At the end
// the process is stopped, if it still exists. The error is ctx's. Run is called on the tracer's
// thread. There must be no site in memory.
func Run(ctx context.Context, c Config) error {
	s := loop{tracer: c.Tracer, mem: c.Memory, sleeper: c.Sleeper, v: c.Visitor, ctx: ctx, done: ctx.Done()}
	s.regs.Arch = arch.AMD64
	return s.run(c.Threads)
}

// loop is the state of one Run.
type loop struct {
	tracer  Tracer
	mem     *memory.Memory
	sleeper *tracerthread.Thread
	v       Visitor
	ctx     context.Context
	done    <-chan struct{}

	ready []*thread // threads that are stopped, in the order of their turns
	all   map[int]*thread
	soon  *thread // was stepped, and will report without waiting
	left  int     // steps left in the slice of ready[0]

	// No trap may be in memory while another thread may execute or copy that memory.
	forking int  // threads that are in fork, vfork or clone
	shared  bool // a child process shares this memory
	stop    bool
	ended   Step // the end of the process

	raw  kernel.Regs
	regs arch.Registers
	step Step
}

// thread is a thread that is being stepped.
type thread struct {
	t     Thread
	tid   int
	pc    target.Addr
	next  Next
	fast  bool  // no signal was delivered and none is expected: a SIGTRAP is the step's own
	cause Cause // of the next report
	given int   // the signal delivered with the last request

	trapped bool // it will run into the trap
	forks   bool // the next system call creates a thread or a process
	inFork  bool // it is in that system call

	inside   bool // it is in the kernel, after the entry of a system call
	restarts bool // the system call that it has just left will start again
}

func (s *loop) run(threads []Thread) error {
	p := s.tracer
	s.all = make(map[int]*thread, len(threads))
	for _, t := range threads {
		th := &thread{t: t, tid: t.ID(), cause: CauseFirst}
		s.all[th.tid] = th
		s.report(th)
	}
	for !s.stop && !p.Over() {
		if s.soon == nil && len(s.ready) > 0 {
			s.begin(s.ready[0])
		}
		tid, ws, err := s.wait()
		if err != nil {
			break
		}
		if tid < 0 {
			p.Vanished()
			break
		}
		if tid > 0 {
			s.take(tid, ws)
		}
	}
	if p.Over() {
		s.ended.Cause, s.ended.Thread = CauseGone, target.ThreadID(p.PID())
		s.v.VisitStep(&s.ended)
		return nil
	}
	p.Halt()
	if trap, set := s.mem.Trap(); set {
		for _, th := range s.all {
			if th.trapped {
				th.t.Rewind(trap+1, trap)
			}
		}
	}
	s.mem.DropTrap()
	return s.ctx.Err()
}

// begin resumes a thread for its next instruction.
func (s *loop) begin(th *thread) {
	s.ready = s.ready[:copy(s.ready, s.ready[1:])]
	sig, groupStop := th.t.Resume()
	th.given = sig
	th.fast = sig == 0 && th.cause == CauseDone && th.next.Instruction != Trap
	request := unix.PTRACE_SINGLESTEP
	switch {
	case groupStop:
		request = unix.PTRACE_LISTEN
	case th.inside:
	case th.next.Instruction == Syscall || th.restarts:
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
		s.mem.DropTrap()
	}
	_ = kernel.Ptrace(request, th.tid, 0, uintptr(sig)) // ESRCH: it was killed; its status will arrive
}

// traps puts the trap at the next address of the thread. It returns false if the thread must be
// stepped.
func (s *loop) traps(th *thread) bool {
	n := &th.next
	return th.fast && n.Then != 0 && n.Instruction == Plain && s.forking == 0 && !s.shared &&
		s.mem.MoveTrap(n.Then, n.Original, th.pc, n.Code)
}

// sprung reports whether a thread has hit the trap. If so, it moves the thread's PC back to it.
func (s *loop) sprung(th *thread) bool {
	th.trapped = false
	if err := kernel.GetRegs(th.tid, &s.raw); err != nil {
		return false
	}
	pc := target.Addr(s.raw.Get(kernel.RIP))
	if trap, set := s.mem.Trap(); !set || pc != trap+1 {
		return false
	}
	s.raw.Set(kernel.RIP, uint64(pc-1))
	return kernel.PokeUser(th.tid, kernel.RIP, uintptr(pc-1)) == nil
}

// take handles a status.
func (s *loop) take(tid int, ws unix.WaitStatus) {
	th := s.all[tid]
	if s.soon != nil && s.soon == th {
		s.soon = nil
	}
	switch {
	case th != nil && th.fast && ws == unix.WaitStatus(unix.SIGTRAP)<<8|0x7f:
		th.t.Stepped()
		switch {
		case !th.trapped:
			s.report(th)
		case s.sprung(th):
			s.tell(th)
		default:
			s.takeSignal(th, int(unix.SIGTRAP))
		}
	case th != nil && ws == (unix.WaitStatus(unix.SIGTRAP)|0x80)<<8|0x7f:
		if !kernel.AtSyscallEntry(tid) {
			th.t.Stepped()
			s.report(th)
			return
		}
		th.inside = true
		_ = kernel.Ptrace(unix.PTRACE_SINGLESTEP, tid, 0, 0) // reports the exit at some later time
	case th != nil && ws.Stopped() && kernel.StopEvent(ws) == 0 && th.t.Known():
		s.takeSignal(th, int(ws.StopSignal()))
	default:
		s.takeEvent(tid, ws)
	}
}

// takeSignal handles a signal-delivery-stop, or the stop at the first instruction of a handler.
func (s *loop) takeSignal(th *thread, sig int) {
	th.t.Signalled()
	if th.trapped {
		// A signal may arrive after the instruction and before the trap.
		th.trapped = false
		trap, _ := s.mem.Trap()
		if kernel.GetRegs(th.tid, &s.raw) == nil && target.Addr(s.raw.Get(kernel.RIP)) == trap {
			th.t.Inject(sig)
			s.tell(th)
			return
		}
	}
	code, ok := th.t.ReadSignal()
	if !ok {
		s.again(th)
		return
	}
	if sig == int(unix.SIGTRAP) {
		switch code {
		case kernel.CodeTrace, kernel.CodeBrkpt, kernel.CodeHandler:
			if code == kernel.CodeHandler {
				th.cause = CauseSignal
			}
			s.report(th)
			return
		}
	}
	// The program's own signal: deliver it when the thread continues.
	th.t.Inject(sig)
	s.again(th)
}

// takeEvent handles every other status: threads are created, execute a program, and end.
func (s *loop) takeEvent(tid int, ws unix.WaitStatus) {
	if th := s.all[tid]; th != nil && th.trapped {
		th.trapped = false
	}
	t, born := s.tracer.Note(tid, ws)
	if kernel.StopEvent(ws) == unix.PTRACE_EVENT_CLONE && t != nil {
		if child, err := kernel.EventMessage(tid); err == nil && !procfs.IsThread(s.tracer.PID(), child) {
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
		s.all = map[int]*thread{tid: {t: t, tid: tid, cause: CauseExec}}
	}
	for _, b := range born {
		s.again(s.enlist(b))
	}
	if ws.Exited() || ws.Signaled() {
		s.ended.Status = ws.ExitStatus()
		if ws.Signaled() {
			s.ended.Signal = int(ws.Signal())
		}
		s.gone(tid, ws.ExitStatus())
		return
	}
	if t == nil {
		if s.tracer.Zombie(tid) {
			s.gone(tid, 0)
		}
		return
	}
	s.again(s.enlist(t))
}

// enlist returns the entry of a thread. It makes one for a new thread.
func (s *loop) enlist(t Thread) *thread {
	tid := t.ID()
	th := s.all[tid]
	if th == nil {
		th = &thread{t: t, tid: tid, cause: CauseThread}
		s.all[tid] = th
	}
	return th
}

// gone removes a thread that has ended, and calls the visitor.
func (s *loop) gone(tid, status int) {
	if s.all[tid] == nil {
		return
	}
	if s.all[tid].inFork {
		s.forking--
	}
	delete(s.all, tid)
	for i, th := range s.ready {
		if th.tid == tid {
			s.ready = append(s.ready[:i:i], s.ready[i+1:]...)
			break
		}
	}
	s.step = Step{Thread: target.ThreadID(tid), Cause: CauseExit, Status: status}
	s.stop = s.v.VisitStep(&s.step).Stop || s.stop
}

// report reads a thread's registers, calls the visitor, and makes the thread ready again.
func (s *loop) report(th *thread) {
	if err := kernel.GetRegs(th.tid, &s.raw); err != nil {
		// The thread was killed, or runs 32-bit code: later statuses will tell.
		s.again(th)
		return
	}
	s.tell(th)
}

// tell is report with the registers already in s.raw.
func (s *loop) tell(th *thread) {
	if th.inFork {
		th.forks, th.inFork = false, false
		s.forking--
	}
	if th.next.Instruction == Pushf && th.cause == CauseDone {
		instruction.CleanPushedFlags(s.mem, target.Addr(s.raw.Get(kernel.RSP)))
	}
	target.SetUser(&s.regs, s.raw[:])
	s.step.Thread, s.step.Cause, s.step.Regs = target.ThreadID(th.tid), th.cause, &s.regs
	s.step.Signal, s.step.Status = 0, 0
	if th.cause == CauseSignal {
		s.step.Signal = th.given
	}
	th.inside, th.restarts = false, s.raw.Restarting()
	th.pc = target.Addr(s.raw.Get(kernel.RIP))
	th.next = s.v.VisitStep(&s.step)
	if th.next.Instruction == Syscall {
		switch s.raw.Get(kernel.RAX) {
		case unix.SYS_CLONE, unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CLONE3:
			th.forks = true
		}
	}
	if th.next.Stop {
		s.stop = true
	}
	if th.next.Signal != 0 && th.cause == CauseDone {
		th.t.Inject(th.next.Signal)
	}
	th.cause = CauseDone
	s.again(th)
}

// again puts a stopped thread in the list of ready threads: at its head as long as it has its turn.
func (s *loop) again(th *thread) {
	if len(s.ready) == 0 {
		s.ready = append(s.ready, th)
		s.left = slice
		return
	}
	if s.left--; s.left > 0 && th.cause == CauseDone {
		s.ready = append(s.ready, nil)
		copy(s.ready[1:], s.ready)
		s.ready[0] = th
		return
	}
	s.left = slice
	s.ready = append(s.ready, th)
}
