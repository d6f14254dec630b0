package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
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
	p.mem.Lower()
	p.disarmAll()
	p.releaseGuests()
	p.scratch.Sweep(p.mem)
	p.tracer.dropEarly(p)
	p.mem.Forget()
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
		t.regs.Flush()
		t.groupStop = false
		sig := p.signalFor(t)
		_ = kernel.Ptrace(unix.PTRACE_DETACH, t.tid, 0, uintptr(sig))
	}
	p.over, p.running = true, false
	p.threads, p.pending, p.inMotion = map[int]*thread{}, nil, 0
	if p.kind == target.Launched {
		go kernel.Reap(p.pid)
	}
}
