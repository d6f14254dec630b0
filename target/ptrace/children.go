package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// noteChild handles PTRACE_EVENT_CLONE, _FORK and _VFORK: a thread has created another thread or
// a process.
func (p *Process) noteChild(t *thread, event int) {
	child, err := kernel.EventMessage(t.tid)
	if err != nil || child == 0 {
		return
	}
	if event == unix.PTRACE_EVENT_CLONE && !t.guest && procfs.IsThread(p.pid, child) {
		p.addThread(child)
		p.send(target.Event{Kind: target.ThreadStarted, Thread: target.ThreadID(child)})
		return
	}
	t.waits = event == unix.PTRACE_EVENT_VFORK
	p.noteFork(t, child, event)
	release := p.catches.events.Children == target.ReleaseChildren || p.steppingAll || p.over
	if release && !t.guest {
		p.send(target.Event{Kind: target.Forked, Thread: target.ThreadID(t.tid), Child: child})
	}
	// The child's first stop arrives without a request.
	if ws, ok := p.tracer.statusOf(child); !ok || !ws.Stopped() {
		return
	}
	switch {
	case sharesMemory(t, child, event) && !p.steppingAll && !p.over:
		g := p.addGuest(child)
		if event == unix.PTRACE_EVENT_VFORK && !t.guest {
			g.parent = t
		}
		p.serveGuest(g)
	case release:
		p.detachChild(child)
	default:
		p.keepChild(t, child)
	}
}

// keepChild keeps a child that a thread has forked, and that is in its first stop.
func (p *Process) keepChild(t *thread, child int) {
	q, err := p.adoptChild(child)
	if err != nil {
		p.detachChild(child)
		p.send(target.Event{Kind: target.Forked, Thread: target.ThreadID(t.tid), Child: child})
		return
	}
	if p.catches.events.Children == target.FollowChildren && !t.guest {
		t.forked, t.heir = child, q
		return
	}
	p.send(target.Event{Kind: target.Forked, Thread: target.ThreadID(t.tid), Child: child, Process: q})
}

// adoptChild makes a Process of a tracee that has stopped. Our bytes are removed from its memory.
func (p *Process) adoptChild(pid int) (*Process, error) {
	q := newProcess(p.kind)
	q.setPID(pid)
	q.tracer, q.guardian, q.policy = p.tracer, p.guardian, p.policy
	q.terminal.Of = p.terminal.Of
	t := newThread(pid)
	q.threads[pid], q.last = t, t
	if err := kernel.Ptrace(unix.PTRACE_SETOPTIONS, pid, 0, uintptr(q.options(true))); err != nil {
		return nil, err
	}
	if _, err := t.regs.Read(); err != nil {
		return nil, err // it was killed, or is a 32-bit program
	}
	if err := q.openProcess(); err != nil {
		q.release()
		return nil, err
	}
	p.mem.Clean(pid)
	t.skip, t.skipping = t.regs.PC(), true
	q.tracer.procs = append(q.tracer.procs, q)
	go q.outbox.Deliver(q.events)
	return q, nil
}

// passHeir reports a child that the client follows when its creator's call will not return.
func (p *Process) passHeir(t *thread) {
	for _, q := range []*Process{t.heir, t.notice.heir} {
		if q != nil {
			p.send(target.Event{Kind: target.Forked, Thread: target.ThreadID(t.tid), Child: q.pid, Process: q})
		}
	}
	t.heir, t.notice.heir = nil, nil
}

// addThread records a new thread, whose first stop has arrived or will arrive soon.
func (p *Process) addThread(tid int) {
	if p.threads[tid] != nil {
		return
	}
	t := newThread(tid)
	t.running, t.fresh = true, true
	p.threads[tid] = t
	p.inMotion++
	if ws, ok := p.tracer.early[tid]; ok {
		delete(p.tracer.early, tid)
		if n := p.note(tid, ws); n != nil {
			p.born = append(p.born, n)
		}
	}
}

// trim sets the options of a new thread, which are those of all threads except the leader. Only
// the leader needs a stop at its exit: a leader that exits before its threads is not reported
// otherwise (ptrace(2), "Death under ptrace").
func (p *Process) trim(t *thread) {
	if t.tid != p.pid {
		_ = kernel.Ptrace(unix.PTRACE_SETOPTIONS, t.tid, 0, uintptr(p.options(false)))
	}
}

// options returns the options of a thread of the process.
func (p *Process) options(leader bool) int {
	return kernel.TraceOptions(p.kind == target.Launched, leader)
}

// detachChild detaches a child in its first stop. If its memory is a copy of ours, our bytes are
// removed from the copy.
func (p *Process) detachChild(child int) {
	p.mem.Clean(child)
	_ = kernel.Ptrace(unix.PTRACE_DETACH, child, 0, 0)
}

// sharesMemory reports whether a child that a thread has just created shares the thread's memory.
// kcmp(2) tells. Where the kernel does not have or does not permit kcmp, the arguments of the
// system call decide.
func sharesMemory(t *thread, child, event int) bool {
	if same, ok := kernel.SameMemory(t.tid, child); ok {
		return same
	}
	if r, err := t.regs.Read(); err == nil && r.Get(kernel.OrigRAX) == unix.SYS_CLONE {
		return r.Get(kernel.RDI)&unix.CLONE_VM != 0
	}
	return event == unix.PTRACE_EVENT_VFORK
}

// noteExec handles PTRACE_EVENT_EXEC: all threads but one are gone, that one now has the
// process's id, and the memory is new: execve(2), ptrace(2) "execve(2) under ptrace".
func (p *Process) noteExec(tid int) *thread {
	for _, t := range p.threads {
		p.passHeir(t)
		if t.tid != p.pid {
			p.send(target.Event{Kind: target.ThreadExited, Thread: target.ThreadID(t.tid)})
		}
	}
	p.mem.Lower() // the old memory, which guests still use
	p.releaseGuests()
	p.forgetWatches()
	p.scratch = instruction.Scratch{}
	old, _ := kernel.EventMessage(tid)
	wasStepper := p.stepper != nil && p.stepper.tid == old
	t := newThread(tid)
	t.running = true
	if before := p.threads[old]; before != nil {
		t.call = before.call
	}
	p.threads = map[int]*thread{tid: t}
	p.inMotion, p.parked = 1, 0
	p.pending, p.born, p.stepperLost = nil, nil, false
	if wasStepper {
		p.stepper = t
	}
	p.tracer.dropEarly(p)
	_ = kernel.Ptrace(unix.PTRACE_SETOPTIONS, tid, 0, uintptr(p.options(true)))
	_ = p.mem.Open(p.pid)
	return t
}
