package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/syscalls"
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
	t.why, t.call.AtEntry = inSyscall, true
	r, err := t.regs.Read()
	if err != nil {
		return
	}
	n := int(int32(r.Get(kernel.OrigRAX)))
	if !t.call.Enter(n) {
		return // the entry was reported, or not wanted
	}
	if !t.guest && p.catches.calls.Has(n) {
		t.notify(notice{reason: target.Syscall, call: target.SyscallStop{Valid: true, Number: n}})
	}
}

// noteReturn handles the exit of a system call.
func (p *Process) noteReturn(t *thread) {
	r, err := t.regs.Read()
	if err != nil || t.guest {
		p.passHeir(t)
		t.call, t.forked = syscalls.Call{}, 0
		return
	}
	// Without a signal, our own interruption has ended the call. With one, a handler may run, and
	// the call may fail.
	restarts := r.Restarting() && !kernel.SignalPending(t.tid)
	n, ends := t.call.Leave(int(int32(r.Get(kernel.OrigRAX))), restarts)
	if !ends {
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
		t.stepDone = t.stepDone || t.why == stepped
		t.notify(e)
	}
}

// interruptedCall handles a signal that the thread takes after an interruption of ours: if the
// call does not continue, it ends here, without another stop.
func (p *Process) interruptedCall(t *thread) {
	if t.inject == 0 {
		return
	}
	if n, ends := t.call.Interrupted(); ends && t.why == passing && !t.guest && p.catches.calls.Has(n) {
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

// fill copies a notice to an event.
func (n *notice) fill(e *target.Event) {
	e.Reason, e.Child, e.Vfork, e.Syscall = n.reason, n.child, n.vfork, n.call
	if n.heir != nil {
		e.Process, n.heir = n.heir, nil // the receiver owns it
	}
}
