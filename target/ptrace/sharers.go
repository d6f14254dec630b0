package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// A process that we attach to may already have children made by vfork or clone(CLONE_VM), or may be
// one itself. The kernel does not report them. So we search for them before our first byte is
// written, and they become guests.

// adoptSharers makes guests of the processes that share our memory and that we do not trace yet. A
// process that it finds may have created another one before we traced it, so adoptSharers repeats
// the search until it finds no new one.
func (p *Process) adoptSharers() {
	one := p.someThread()
	if one == nil {
		return
	}
	for found := true; found; {
		found = false
		for _, pid := range procfs.Processes() {
			if pid == p.pid || !procfs.MayShareMemory(one.tid, pid) {
				continue
			}
			list, _ := procfs.Tasks(pid)
			for _, tid := range list {
				found = p.adoptGuest(tid) || found
			}
		}
	}
}

// adoptGuest starts to trace a task that runs in our memory, without stopping it. It returns false
// if that was not possible or not necessary.
func (p *Process) adoptGuest(tid int) bool {
	if p.guests[tid] != nil || p.threads[tid] != nil ||
		kernel.Ptrace(unix.PTRACE_SEIZE, tid, 0, uintptr(p.options(false)&^unix.PTRACE_O_EXITKILL)) != nil {
		return false // ended, or traced already: by us, by its parent's tracer, or by another debugger
	}
	g := newThread(tid)
	g.guest, g.running = true, true
	if w, ok := procfs.ReadSyscall(tid); ok {
		g.away = w.Vfork(p.pid)
	}
	p.guests[tid] = g
	return true
}

// haltSeized is halt for threads that were seized in an unknown state. A thread that was already
// waiting for a child of vfork can't be stopped.
func (p *Process) haltSeized() {
	p.busy++
	defer func() { p.busy-- }()
	late, stop := p.tracer.thread.Alarm(stepTime)
	defer stop()
	for p.inMotion > 0 && !p.over {
		p.interruptAll()
		if p.collect() {
			continue
		}
		switch tid, ws := p.tracer.thread.Doze(late.Load); {
		case tid > 0:
			p.note(tid, ws)
		case tid < 0:
			p.vanished()
			return
		default:
			p.findAway()
			late.Store(false)
		}
	}
	p.halt()
}

// findAway searches for threads that wait for a child of vfork. They were interrupted, and stop
// when they return. Until then, only the registers that /proc/PID/syscall shows are known.
func (p *Process) findAway() {
	for _, t := range p.threads {
		if !t.running || t.away || t.fresh {
			continue
		}
		c, ok := procfs.ReadSyscall(t.tid)
		if !ok || !c.Vfork(p.pid) {
			continue
		}
		t.regs.SetSparse(&c)
		t.away = true
		p.inMotion--
	}
}
