package ptrace

import (
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// noteChild is for PTRACE_EVENT_CLONE, _FORK and _VFORK: a thread has made another
// thread or a process.
func (p *Process) noteChild(t *thread, event int) {
	child, err := eventMessage(t.tid)
	if err != nil || child == 0 {
		return
	}
	if event == unix.PTRACE_EVENT_CLONE && p.isThread(child) {
		p.addThread(child)
		p.send(target.Event{Kind: target.ThreadStarted, Thread: target.ThreadID(child)})
		return
	}
	p.send(target.Event{Kind: target.Forked, Thread: target.ThreadID(t.tid), Child: child})
	// The child's first stop comes by itself and at once.
	if _, ok := p.early[child]; !ok {
		ws, ok := waitFor(child)
		if !ok || !ws.Stopped() {
			return
		}
	}
	delete(p.early, child)
	if event == unix.PTRACE_EVENT_VFORK && !p.mem.empty() {
		// It shares our memory until it executes a program or exits, and
		// would die of our breakpoints.
		t.child, t.why = child, vforked
		return
	}
	p.detachChild(child, event == unix.PTRACE_EVENT_VFORK)
}

// isThread reports whether a task is a thread of the process, as opposed to a
// process of its own made by clone.
func (p *Process) isThread(tid int) bool {
	_, err := os.Stat("/proc/" + itoa(p.pid) + "/task/" + itoa(tid))
	return err == nil
}

// addThread takes up a new thread, whose first stop has come or is about to.
func (p *Process) addThread(tid int) {
	t := p.threads[tid]
	if t != nil {
		return
	}
	t = &thread{tid: tid, running: true, fresh: true}
	p.threads[tid] = t
	p.inMotion++
	if ws, ok := p.early[tid]; ok {
		delete(p.early, tid)
		if n := p.note(tid, ws); n != nil {
			p.born = append(p.born, n)
		}
	}
}

// trim gives a new thread the options of all but the leader: only the leader's
// exit needs a stop of its own, as a leader that exits before its threads do is
// not reported otherwise: ptrace(2), "Death under ptrace".
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

// detachChild lets a child go that is in its first stop. Unless it has the same
// memory as we, its copy is cleaned of our breakpoints.
func (p *Process) detachChild(child int, shared bool) {
	if !shared && !p.mem.empty() && !sameMemory(p.pid, child) {
		if fd, err := unix.Open("/proc/"+itoa(child)+"/mem", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
			for _, b := range p.mem.breaks {
				p.mem.restore(fd, b)
			}
			_ = unix.Close(fd)
		}
	}
	_ = ptrace(unix.PTRACE_DETACH, child, 0, 0)
}

// sameMemory asks kcmp(2) whether two processes share their address space, as
// with clone(CLONE_VM) and nothing else. A kernel without it says no.
func sameMemory(a, b int) bool {
	const kcmpVM = 1
	r, _, e := unix.RawSyscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), kcmpVM, 0, 0, 0)
	return e == 0 && r == 0
}

// serveVforks lets the children of vfork go. All breakpoints are out of memory
// until the last of them no longer needs it; so that no thread misses one in
// the meantime, only the parents move, which wait in the kernel anyway.
func (p *Process) serveVforks() {
	p.halt()
	if p.over || !p.running {
		return
	}
	if p.reportKept() {
		return
	}
	for _, t := range p.threads {
		if t.why == vforked && !p.stays(t) {
			if p.vforks == 0 {
				p.mem.restoreAll(false)
			}
			p.letChildGo(t)
			t.inVfork = true
			p.vforks++
		}
	}
	p.resumeAll()
}

// letChildGo detaches the child of a vfork, breakpoints being lifted.
func (p *Process) letChildGo(t *thread) {
	if t.child != 0 {
		p.detachChild(t.child, true)
		t.child = 0
	}
	if t.why == vforked {
		t.why = passing
	}
}

// vforkDone ends what serveVforks began.
func (p *Process) vforkDone(t *thread) {
	if !t.inVfork {
		return
	}
	t.inVfork = false
	p.vforks--
	if p.vforks == 0 {
		p.mem.putBack(p.mem.all())
		p.thawed = true
	}
}

// noteExec is for PTRACE_EVENT_EXEC: all threads but one are gone, that one has
// the process's id now, and the memory is new: execve(2), ptrace(2) "execve(2)
// under ptrace".
func (p *Process) noteExec(tid int) *thread {
	for _, t := range p.threads {
		if t.running {
			p.inMotion--
		}
		if t.tid != p.pid {
			p.send(target.Event{Kind: target.ThreadExited, Thread: target.ThreadID(t.tid)})
		}
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(p.threads)), func(t *thread) bool { return t.child != 0 }) {
		p.mem.restoreAll(false) // in the old memory, which the child still has
		for _, t := range p.threads {
			p.letChildGo(t)
		}
	}
	old, _ := eventMessage(tid)
	wasStepper := p.stepper != nil && p.stepper.tid == old
	t := &thread{tid: tid, running: true}
	p.threads = map[int]*thread{tid: t}
	p.inMotion = 1
	p.kept, p.born, p.vforks, p.stepperLost = nil, nil, 0, false
	if wasStepper {
		p.stepper = t
	}
	for child := range p.early {
		p.detachChild(child, true)
		delete(p.early, child)
	}
	_ = ptrace(unix.PTRACE_SETOPTIONS, tid, 0, uintptr(p.options(true)))
	_ = p.mem.open(p.pid)
	return t
}
