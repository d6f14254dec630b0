package ptrace

import (
	"strconv"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
	"dbg/target/ptrace/start"
)

// Attach attaches to a running process. It returns when all threads are stopped, and sends no
// event for that. A process that job control had stopped stays stopped, even when it is resumed,
// until it receives SIGCONT.
//
// The error is one sentence for the user and wraps one of the sentinels of package start.
func Attach(pid int) (*Process, error) { return AttachWith(pid, AttachOptions{}) }

// AttachOptions specifies how to attach.
type AttachOptions struct {
	// Guardian is the path of a program that calls guardian.Main. It is started when the first
	// site is inserted, and repairs the process's memory if this program is killed. With "", the
	// memory is not repaired.
	Guardian string
}

// AttachWith is Attach with options.
func AttachWith(pid int, opts AttachOptions) (*Process, error) {
	if err := start.CheckProcess(pid); err != nil {
		return nil, err
	}
	p := newProcess(target.Attached)
	p.setPID(pid)
	p.guardian = opts.Guardian
	if err := p.start(p.attach); err != nil {
		return nil, err
	}
	return p, nil
}

// attach runs in the tracer's goroutine.
func (p *Process) attach() error {
	// Threads created by a thread that we have seized are ours from their first instruction. The
	// list is complete when it has no new threads.
	for {
		list, err := procfs.Tasks(p.pid)
		if err != nil {
			p.letGo()
			return start.Errorf(start.ErrNoProcess, "there is no process %d", p.pid)
		}
		fresh := 0
		for _, tid := range list {
			if p.threads[tid] != nil {
				continue
			}
			ok, err := p.seize(tid)
			if err != nil {
				p.letGo()
				return err
			}
			if ok {
				fresh++
			}
		}
		if fresh == 0 {
			break
		}
		p.haltSeized()
		if p.over {
			return start.Errorf(start.ErrNoProcess, "process %d ended while it was being attached to", p.pid)
		}
	}
	if p.someThread() == nil {
		p.letGo()
		return start.Errorf(start.ErrZombie, "process %d has already ended", p.pid)
	}
	if _, err := p.someThread().regs.Read(); err == kernel.ErrCompat {
		p.letGo()
		return start.Errorf(start.Err32Bit, "process %d is a 32-bit program; 32-bit programs can't be run yet", p.pid)
	}
	if err := p.openProcess(); err != nil {
		p.letGo()
		return err
	}
	p.last = p.someThread()
	p.last.skip, p.last.skipping = p.last.regs.PC(), true
	return nil
}

// seize starts to trace a thread. It returns false for a thread that has ended, or that has
// become our tracee in the meantime.
func (p *Process) seize(tid int) (bool, error) {
	err := kernel.Ptrace(unix.PTRACE_SEIZE, tid, 0, uintptr(p.options(tid == p.pid)))
	switch err {
	case nil:
		t := newThread(tid)
		t.running = true
		p.threads[tid] = t
		p.inMotion++
		return true, nil
	case unix.ESRCH:
		return false, nil
	}
	// EPERM: the thread is dead, or already traced (perhaps by us, as a child of another thread),
	// or we have no permission to trace it.
	state := procfs.StatusField(tid, "State")
	if state == "" || state[0] == 'Z' || state[0] == 'X' {
		return false, nil
	}
	if procfs.StatusField(tid, "TracerPid") == strconv.Itoa(unix.Gettid()) && tid != p.pid && len(p.threads) > 0 {
		p.addThread(tid) // the kernel made it our tracee together with its parent
		return true, nil
	}
	if err := start.TracedBy(p.pid, tid); err != nil {
		return false, err
	}
	return false, start.Errorf(start.ErrPermission, "process %d can't be attached to: permission denied", p.pid)
}

// letGo undoes a failed attach.
func (p *Process) letGo() {
	p.halt()
	for _, t := range p.threads {
		_ = kernel.Ptrace(unix.PTRACE_DETACH, t.tid, 0, 0)
	}
}
