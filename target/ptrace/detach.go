package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
)

// Detach implements target.Process.
func (p *Process) Detach() error {
	return p.do(func() error {
		if p.over {
			return target.ErrGone
		}
		p.closing = true
		p.detach()
		return nil
	})
}

// detach leaves the process as if it had never been traced. Threads with an unreported breakpoint
// already have their PC at the breakpoint's address, and execute the original instruction. An
// interrupted system call continues. A process that job control has stopped stays stopped.
func (p *Process) detach() {
	if p.over {
		return
	}
	p.catches = catches{} // children are released, too
	p.halt()
	if p.over {
		return
	}
	p.mem.lower()
	p.disarmAll()
	p.releaseGuests()
	p.sweep()
	p.tracer.dropEarly(p)
	p.mem.forget()
	// Signals that signalFor sends again are delivered after the detach. A thread that waits for
	// a child of vfork is released when the tracer's thread ends.
	for _, t := range p.threads {
		p.passHeir(t)
		if t.away {
			p.tracer.leaving[t.tid] = true
		}
		if t.zombie || t.away {
			continue
		}
		t.flush()
		t.groupStop = false
		sig := p.signalFor(t)
		_ = ptrace(unix.PTRACE_DETACH, t.tid, 0, uintptr(sig))
	}
	p.over, p.running = true, false
	p.threads, p.pending, p.inMotion = map[int]*thread{}, nil, 0
	if p.kind == target.Launched {
		go reap(p.pid)
	}
}

// reap collects the status of a program that we started and no longer trace, so that it does not
// stay a zombie. It waits on a pidfd and not in wait4: wait4 would also take the program's stops,
// which belong to any later tracer of the program in this process.
func reap(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if err != unix.EINTR {
				break
			}
		}
	}
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}
