package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// A thread may stop for an event that the client asked for: a system call, a new child, its own
// start. While system calls are caught, all threads run with PTRACE_SYSCALL, which stops them at
// the entry and at the exit of every call. Without that, a caught event costs nothing before it
// happens.

// notice describes such a stop.
type notice struct {
	reason target.StopReason
	child  int
	heir   *Process // the child, if the client follows it
	vfork  bool
	call   target.SyscallStop
}

// callState is what is known of a thread's system call.
type callState struct {
	number  int
	begun   bool // its entry was seen, and not yet its exit
	again   bool // it was interrupted, and the kernel will execute it again
	atEntry bool // the thread is stopped at its entry
}

// restartSyscall is the number of the call with which the kernel continues an interrupted call
// that has a time limit: restart_syscall(2).
const restartSyscall = 219

// catches are the events that the client asked for.
type catches struct {
	events target.EventSet
	calls  target.SyscallSet
}

// callsWanted reports whether any system call is caught.
func (c *catches) callsWanted() bool { return c.calls != (target.SyscallSet{}) }

// CatchEvents implements target.Process.
func (p *Process) CatchEvents(set target.EventSet) {
	_ = p.do(func() error { p.catches.events = set; return nil })
}

// CatchSyscalls implements target.Process.
func (p *Process) CatchSyscalls(set target.SyscallSet) error {
	return p.do(func() error {
		if p.over {
			return target.ErrGone
		}
		before := p.catches.callsWanted()
		p.catches.calls = set
		if p.running && !before && p.catches.callsWanted() {
			p.halt() // the threads that run do not stop at system calls
			p.settle()
		}
		return nil
	})
}

// request returns the request with which a thread runs on.
func (p *Process) request(t *thread) int {
	if !t.guest && (p.catches.callsWanted() || t.forked != 0) {
		return unix.PTRACE_SYSCALL
	}
	return unix.PTRACE_CONT
}

// notify makes an event the reason of a thread's stop.
func (t *thread) notify(n notice) { t.why, t.notice = noticed, n }

// noteEntry handles the entry of a system call.
func (p *Process) noteEntry(t *thread) {
	t.why, t.call.atEntry = inSyscall, true
	r, err := t.registers()
	if err != nil {
		return
	}
	n := int(int32(r.Get(kernel.OrigRAX)))
	again := t.call.again && (n == t.call.number || n == restartSyscall)
	t.call.again, t.call.begun = false, true
	if again {
		return // the entry was reported, or not wanted
	}
	t.call.number = n
	if !t.guest && p.catches.calls.Has(n) {
		t.notify(notice{reason: target.Syscall, call: target.SyscallStop{Valid: true, Number: n}})
	}
}

// noteReturn handles the exit of a system call.
func (p *Process) noteReturn(t *thread) {
	r, err := t.registers()
	if err != nil || t.guest {
		p.passHeir(t)
		t.call, t.forked = callState{}, 0
		return
	}
	n := int(int32(r.Get(kernel.OrigRAX)))
	if t.call.begun {
		n = t.call.number // rt_sigreturn and execve change the register
	}
	t.call.begun = false
	if t.restarting() && !kernel.SignalPending(t.tid) {
		// Our own interruption has ended the call. The kernel executes it again, and the program
		// notices nothing. With a signal, a handler may run, and the call may fail.
		t.call.number, t.call.again = n, true
		return
	}
	var e notice
	if t.forked != 0 {
		e.reason, e.child, e.heir = target.ChildCreated, t.forked, t.heir
		t.forked, t.heir = 0, nil
	}
	if p.catches.calls.Has(n) {
		e.call = target.SyscallStop{Valid: true, Number: n, Return: true}
		if e.child == 0 {
			e.reason = target.Syscall
		}
	}
	if e.child != 0 || e.call.Valid {
		t.stepEnded = t.why == stepped
		t.notify(e)
	}
}

// interruptedCall handles a signal that the thread takes after an interruption of ours: if the
// call does not continue, it ends here, without another stop.
func (p *Process) interruptedCall(t *thread) {
	if !t.call.again || t.inject == 0 {
		return
	}
	t.call.again = false
	if n := t.call.number; t.why == passing && !t.guest && p.catches.calls.Has(n) {
		t.notify(notice{reason: target.Syscall, call: target.SyscallStop{Valid: true, Number: n, Return: true}})
	}
}

// noteFork handles the creation of a child that is not a thread.
func (p *Process) noteFork(t *thread, child, event int) {
	switch {
	case t.guest || child == 0:
	case event == unix.PTRACE_EVENT_VFORK && p.catches.events.Vfork:
		t.notify(notice{reason: target.ChildCreated, child: child, vfork: true})
	case event != unix.PTRACE_EVENT_VFORK && p.catches.events.Fork:
		t.forked = child // reported when the call has returned
	}
}

// passNotice lets a thread go on after an event that the judge passes.
func (p *Process) passNotice(t *thread) {
	t.why = passing
	if t.stepEnded {
		t.why, t.stepEnded = stepped, false
		p.react(t)
		return
	}
	p.pass(t)
}

// fill copies a notice to an event.
func (n *notice) fill(e *target.Event) {
	e.Reason, e.Child, e.Vfork, e.Syscall = n.reason, n.child, n.vfork, n.call
	if n.heir != nil {
		e.Process, n.heir = n.heir, nil // the receiver owns it
	}
}
