package ptrace

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

var _ target.Copier = (*Process)(nil)

// errManyThreads has gdb's words.
var errManyThreads = errors.New("checkpoint: can't checkpoint multiple threads.") //lint:ignore ST1005 gdb's words

// CopyProcess implements target.Copier. The thread calls clone(2) with no signal for its end: the
// program gets no SIGCHLD, and its own wait does not return the copy.
func (p *Process) CopyProcess() (target.Process, error) {
	var q *Process
	err := p.whileStopped(func() error {
		if len(p.threads) != 1 {
			return errManyThreads
		}
		t := p.someThread()
		r, err := t.regs.Read()
		if err != nil {
			return err
		}
		saved := *r
		child := 0
		if _, err := p.systemCall(t, unix.SYS_CLONE, nil, &child); err != nil {
			return err
		}
		if child == 0 {
			return errors.New("the kernel has not reported the copy")
		}
		if ws, ok := p.tracer.statusOf(child); !ok || !ws.Stopped() {
			return target.ErrGone
		}
		if err := kernel.SetRegs(child, &saved); err != nil {
			return err
		}
		q, err = p.adoptChild(child)
		return err
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

// SystemCall implements target.Copier.
func (p *Process) SystemCall(number int, args ...uint64) (result uint64, err error) {
	err = p.whileStopped(func() error {
		result, err = p.systemCall(p.someThread(), number, args, nil)
		return err
	})
	return result, err
}

// argumentOffsets lists the registers of the arguments of a system call: syscall(2).
var argumentOffsets = [6]int{kernel.RDI, kernel.RSI, kernel.RDX, kernel.R10, kernel.R8, kernel.R9}

// systemCall makes a thread execute a system call and brings it back to where it was. All threads
// are stopped, and stay so. child, if it is not nil, receives the id of a new task.
func (p *Process) systemCall(t *thread, number int, args []uint64, child *int) (uint64, error) {
	at, err := p.syscallInstruction()
	if err != nil {
		return 0, err
	}
	switch {
	case t.away || t.waits:
		return 0, errAway
	case t.groupStop:
		return 0, errors.New("the process is stopped by job control")
	case len(args) > len(argumentOffsets):
		return 0, errors.New("a system call has at most six arguments")
	}
	saved, err := t.regs.Read()
	if err != nil {
		return 0, err
	}
	back, regs := *saved, *saved
	if t.inject != 0 {
		p.holdBack(t) // the thread leaves its signal-delivery-stop
	}
	regs.Set(kernel.RIP, uint64(at))
	regs.Set(kernel.RAX, uint64(number))
	regs.Set(kernel.OrigRAX, ^uint64(0))
	for i, off := range argumentOffsets {
		regs.Set(off, 0)
		if i < len(args) {
			regs.Set(off, args[i])
		}
	}
	t.regs.Flush()
	if err := kernel.SetRegs(t.tid, &regs); err != nil {
		return 0, err
	}
	t.sigStop, t.trapStop = false, false
	result, err := p.finishCall(t, child)
	if err != nil {
		return 0, err
	}
	// A stop by PTRACE_INTERRUPT is the only kind in which the kernel restarts the call that the
	// thread may have been in before.
	t.regs.Forget()
	if err := kernel.SetRegs(t.tid, &back); err != nil {
		return 0, err
	}
	_ = kernel.Ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
	for {
		if err := kernel.Ptrace(unix.PTRACE_CONT, t.tid, 0, 0); err != nil {
			return 0, err
		}
		ws, ok := kernel.WaitFor(t.tid)
		switch {
		case !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT:
			return 0, p.diedInCall(t, ws, ok)
		case kernel.StopEvent(ws) == unix.PTRACE_EVENT_STOP:
			if int64(result) < 0 && int64(result) >= -4095 {
				return 0, unix.Errno(-int64(result))
			}
			return result, nil
		case kernel.StopEvent(ws) == 0 && ws.StopSignal() != unix.SIGTRAP|0x80:
			p.keepSignal(t, int(ws.StopSignal()))
		}
	}
}

// finishCall lets a thread execute the system call at its PC, and returns the kernel's result.
func (p *Process) finishCall(t *thread, child *int) (uint64, error) {
	for {
		if err := kernel.Ptrace(unix.PTRACE_SYSCALL, t.tid, 0, 0); err != nil {
			return 0, err
		}
		ws, ok := kernel.WaitFor(t.tid)
		switch {
		case !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT:
			return 0, p.diedInCall(t, ws, ok)
		case kernel.StopEvent(ws) == 0 && ws.StopSignal() == unix.SIGTRAP|0x80:
			if kernel.AtSyscallEntry(t.tid) {
				continue
			}
			var r kernel.Regs
			err := kernel.GetRegs(t.tid, &r)
			return r.Get(kernel.RAX), err
		case kernel.StopEvent(ws) == unix.PTRACE_EVENT_CLONE, kernel.StopEvent(ws) == unix.PTRACE_EVENT_FORK:
			if child != nil {
				*child, _ = kernel.EventMessage(t.tid)
			}
		case kernel.StopEvent(ws) == 0:
			p.keepSignal(t, int(ws.StopSignal()))
		}
	}
}

// keepSignal saves a signal that arrived during a system call of ours.
func (p *Process) keepSignal(t *thread, sig int) {
	if kernel.GetSigInfo(t.tid, &t.info) != nil {
		t.info = kernel.NewSigInfo(sig)
	}
	t.inject = sig
	p.holdBack(t)
}

// diedInCall records the end of a thread.
func (p *Process) diedInCall(t *thread, ws unix.WaitStatus, ok bool) error {
	if ok {
		p.note(t.tid, ws)
	}
	return target.ErrGone
}

// syscallInstruction returns the address of a syscall instruction in the vDSO, which no program
// changes.
func (p *Process) syscallInstruction() (target.Addr, error) {
	maps, err := p.Mappings()
	if err != nil {
		return 0, err
	}
	const most = 64 << 10
	for _, m := range maps {
		if m.Path != "[vdso]" || m.Hi-m.Lo > most {
			continue
		}
		text := make([]byte, m.Hi-m.Lo)
		n, _ := p.mem.Read(m.Lo, text)
		if i := bytes.Index(text[:n], []byte{0x0f, 0x05}); i >= 0 {
			return m.Lo + target.Addr(i), nil
		}
	}
	return 0, fmt.Errorf("process %d has no vDSO with a syscall instruction", p.pid)
}
