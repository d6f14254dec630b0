package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// A guest is a process that shares our memory: the child of vfork or of clone(CLONE_VM). It runs
// into our breakpoint bytes, so it is traced as a guest until it executes a program or ends. It
// passes every site, handles its own signals, is in no list of threads, and is never stopped for
// long.

// addGuest records a child in its first stop.
func (p *Process) addGuest(tid int) *thread {
	g := newThread(tid)
	g.guest = true
	p.guests[tid] = g
	// We must not kill it when we end.
	_ = kernel.Ptrace(unix.PTRACE_SETOPTIONS, tid, 0, uintptr(p.options(false)&^unix.PTRACE_O_EXITKILL))
	return g
}

// noteGuestExec handles the execution of a program by a guest: its memory is its own now.
func (p *Process) noteGuestExec(g *thread) {
	delete(p.guests, g.tid)
	policy := p.catches.events.Children
	if policy == target.ReleaseChildren || p.over {
		_ = kernel.Ptrace(unix.PTRACE_DETACH, g.tid, 0, 0)
		return
	}
	q, err := p.adoptChild(g.tid)
	if err != nil {
		_ = kernel.Ptrace(unix.PTRACE_DETACH, g.tid, 0, 0)
		return
	}
	e := target.Event{Kind: target.Forked, Child: g.tid, Process: q, Vfork: true}
	if t := g.parent; t != nil && p.threads[t.tid] == t {
		if policy == target.FollowChildren {
			t.heir = q // reported at PTRACE_EVENT_VFORK_DONE
			return
		}
		e.Thread = target.ThreadID(t.tid)
	}
	p.send(e)
}

// awaitExec is called when a thread has finished waiting for its child of vfork. If the client
// follows children, it takes the status of the child's execve or of its end, which may arrive later
// than the thread's own.
func (p *Process) awaitExec(t *thread) {
	if p.catches.events.Children != target.FollowChildren {
		return
	}
	for _, g := range p.guests {
		if g.parent != t || !g.running {
			continue
		}
		if ws, ok := p.tracer.statusOf(g.tid); ok {
			p.noteGuest(g, ws)
		}
		return
	}
}

// noteGuest records a status of a guest and continues the guest.
func (p *Process) noteGuest(g *thread, ws unix.WaitStatus) *thread {
	if ws.Exited() || ws.Signaled() {
		p.scratch.Free(&g.line)
		delete(p.guests, g.tid)
		return nil
	}
	if !ws.Stopped() {
		return nil
	}
	p.stopped(g)
	if g.leaving && kernel.StopEvent(ws) != 0 {
		delete(p.guests, g.tid)
		_ = kernel.Ptrace(unix.PTRACE_DETACH, g.tid, 0, 0)
		return nil
	}
	switch kernel.StopEvent(ws) {
	case 0:
		if ws.StopSignal() == unix.SIGTRAP|0x80 {
			p.noteSyscall(g)
		} else {
			p.noteSignal(g, int(ws.StopSignal()))
		}
	case unix.PTRACE_EVENT_STOP:
		g.groupStop = ws.StopSignal() != unix.SIGTRAP
		if p.takesTrap(g) {
			return nil
		}
	case unix.PTRACE_EVENT_CLONE, unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK:
		p.noteChild(g, kernel.StopEvent(ws))
	case unix.PTRACE_EVENT_EXEC:
		p.noteGuestExec(g)
		return nil
	}
	if g.why == breakpoint {
		g.skip, g.skipping, g.why = g.addr, true, passing
	}
	p.serveGuest(g)
	return nil
}

// serveGuest continues a guest, over the site where it is. While threads are being stopped, or
// stepped over sites, the guest waits: resumeAll or stopFor continues it.
func (p *Process) serveGuest(g *thread) {
	if g.running || p.busy > 0 || p.over {
		return
	}
	if p.mem.Raised() {
		if addr, ok := p.siteToPass(g); ok && !p.emulate(g, addr) {
			if p.displace(g, addr) {
				return
			}
			p.halt()
			p.settle()
			return
		}
	}
	p.goOn(g)
}

// serveGuests continues all waiting guests. The process has stopped, and the bytes are out of
// memory.
func (p *Process) serveGuests() {
	for _, g := range p.guests {
		p.serveGuest(g)
	}
}

// releaseGuests detaches all guests. The bytes are out of memory. A guest that waits for a child
// of its own vfork can't be stopped: it is released when it returns, or when the tracer's thread
// ends.
func (p *Process) releaseGuests() {
	p.busy++
	defer func() { p.busy-- }()
	for _, g := range p.guests {
		if g.running {
			_ = kernel.Ptrace(unix.PTRACE_INTERRUPT, g.tid, 0, 0)
		}
	}
	for _, g := range p.guests {
		for p.guests[g.tid] == g && g.running && !g.away {
			ws, ok := kernel.WaitFor(g.tid)
			if !ok {
				delete(p.guests, g.tid)
				break
			}
			p.noteGuest(g, ws)
		}
		switch {
		case p.guests[g.tid] != g:
		case g.running:
			g.leaving = true
		default:
			delete(p.guests, g.tid)
			g.regs.Flush()
			g.groupStop = false
			_ = kernel.Ptrace(unix.PTRACE_DETACH, g.tid, 0, uintptr(p.signalFor(g)))
		}
	}
}
