package ptrace

import (
	"os"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// noteChild handles PTRACE_EVENT_CLONE, _FORK and _VFORK: a thread has created another thread or
// a process.
func (p *Process) noteChild(t *thread, event int) {
	child, err := eventMessage(t.tid)
	if err != nil || child == 0 {
		return
	}
	if event == unix.PTRACE_EVENT_CLONE && !t.guest && p.isThread(child) {
		p.addThread(child)
		p.send(target.Event{Kind: target.ThreadStarted, Thread: target.ThreadID(child)})
		return
	}
	t.waits = event == unix.PTRACE_EVENT_VFORK
	if !t.guest {
		p.send(target.Event{Kind: target.Forked, Thread: target.ThreadID(t.tid), Child: child})
	}
	p.noteFork(t, child, event)
	// The child's first stop arrives without a request.
	if _, ok := p.tracer.early[child]; !ok {
		ws, ok := waitFor(child)
		if !ok || !ws.Stopped() {
			return
		}
	}
	delete(p.tracer.early, child)
	if sharesMemory(t, child, event) && !p.steppingAll && !p.over {
		p.addGuest(child)
		return
	}
	p.detachChild(child)
}

// isThread reports whether a task is a thread of the process. A task made by clone may also be a
// separate process.
func (p *Process) isThread(tid int) bool {
	_, err := os.Stat("/proc/" + itoa(p.pid) + "/task/" + itoa(tid))
	return err == nil
}

// addThread records a new thread, whose first stop has arrived or will arrive soon.
func (p *Process) addThread(tid int) {
	t := p.threads[tid]
	if t != nil {
		return
	}
	t = &thread{tid: tid, running: true, fresh: true}
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
		_ = ptrace(unix.PTRACE_SETOPTIONS, t.tid, 0, uintptr(p.options(false)))
	}
}

func (p *Process) options(leader bool) int {
	o := unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEVFORKDONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD
	if p.kind == target.Launched {
		o |= unix.PTRACE_O_EXITKILL
	}
	if leader {
		o |= unix.PTRACE_O_TRACEEXIT
	}
	return o
}

// detachChild detaches a child in its first stop. If its memory is a copy of ours, our bytes are
// removed from the copy. The copy may have been made while they were in our memory, even if they
// no longer are.
func (p *Process) detachChild(child int) {
	if !p.mem.empty() && !sameMemory(p.pid, child) {
		if fd, err := unix.Open("/proc/"+itoa(child)+"/mem", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
			p.mem.clean(fd)
			_ = unix.Close(fd)
		}
	}
	_ = ptrace(unix.PTRACE_DETACH, child, 0, 0)
}

// sharesMemory reports whether a child that a thread has just created shares the thread's memory.
// kcmp(2) tells. Where the kernel does not have or does not permit kcmp, the arguments of the
// system call decide.
func sharesMemory(t *thread, child, event int) bool {
	if same, ok := compareMemory(t.tid, child); ok {
		return same
	}
	const cloneVM = 0x100
	r, err := t.registers()
	if err == nil && r.get(offOrigRAX) == unix.SYS_CLONE {
		return r.get(offRDI)&cloneVM != 0
	}
	return event == unix.PTRACE_EVENT_VFORK
}

// sameMemory reports whether two processes are known to share their address space.
func sameMemory(a, b int) bool {
	same, ok := compareMemory(a, b)
	return ok && same
}

func compareMemory(a, b int) (same, ok bool) {
	const kcmpVM = 1
	r, _, e := unix.RawSyscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return r == 0, e == 0
}

// noteExec handles PTRACE_EVENT_EXEC: all threads but one are gone, that one now has the
// process's id, and the memory is new: execve(2), ptrace(2) "execve(2) under ptrace".
func (p *Process) noteExec(tid int) *thread {
	for _, t := range p.threads {
		if t.tid != p.pid {
			p.send(target.Event{Kind: target.ThreadExited, Thread: target.ThreadID(t.tid)})
		}
	}
	p.mem.lower() // the old memory, which guests still use
	p.releaseGuests()
	p.forgetWatches()
	p.scratch, p.sought = scratch{}, false
	old, _ := eventMessage(tid)
	wasStepper := p.stepper != nil && p.stepper.tid == old
	t := &thread{tid: tid, running: true}
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
	_ = ptrace(unix.PTRACE_SETOPTIONS, tid, 0, uintptr(p.options(true)))
	_ = p.mem.open(p.pid)
	return t
}
