package ptrace

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"dbg/target"
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
		r, err := t.registers()
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
		if _, ok := p.tracer.early[child]; !ok {
			if ws, ok := waitFor(child); !ok || !ws.Stopped() {
				return target.ErrGone
			}
		}
		delete(p.tracer.early, child)
		if err := setRegs(child, &saved); err != nil {
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
	case len(args) > len(syscallOffsets):
		return 0, errors.New("a system call has at most six arguments")
	}
	saved, err := t.registers()
	if err != nil {
		return 0, err
	}
	back, regs := *saved, *saved
	if t.inject != 0 {
		p.holdBack(t) // the thread leaves its signal-delivery-stop
	}
	regs.set(offRIP, uint64(at))
	regs.set(offRAX, uint64(number))
	regs.set(offOrigRAX, ^uint64(0))
	for i, off := range syscallOffsets {
		regs.set(off, 0)
		if i < len(args) {
			regs.set(off, args[i])
		}
	}
	t.flush()
	if err := setRegs(t.tid, &regs); err != nil {
		return 0, err
	}
	t.sigStop, t.trapStop = false, false
	result, err := p.finishCall(t, child)
	if err != nil {
		return 0, err
	}
	// A stop by PTRACE_INTERRUPT is the only kind in which the kernel restarts the call that the
	// thread may have been in before.
	t.haveRegs, t.changed = false, false
	if err := setRegs(t.tid, &back); err != nil {
		return 0, err
	}
	_ = ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
	for {
		if err := ptrace(unix.PTRACE_CONT, t.tid, 0, 0); err != nil {
			return 0, err
		}
		ws, ok := waitFor(t.tid)
		switch {
		case !ok || !ws.Stopped() || stopEvent(ws) == unix.PTRACE_EVENT_EXIT:
			return 0, p.diedInCall(t, ws, ok)
		case stopEvent(ws) == unix.PTRACE_EVENT_STOP:
			if int64(result) < 0 && int64(result) >= -4095 {
				return 0, unix.Errno(-int64(result))
			}
			return result, nil
		case stopEvent(ws) == 0 && ws.StopSignal() != unix.SIGTRAP|0x80:
			p.keepSignal(t, int(ws.StopSignal()))
		}
	}
}

// finishCall lets a thread execute the system call at its PC, and returns the kernel's result.
func (p *Process) finishCall(t *thread, child *int) (uint64, error) {
	for {
		if err := ptrace(unix.PTRACE_SYSCALL, t.tid, 0, 0); err != nil {
			return 0, err
		}
		ws, ok := waitFor(t.tid)
		switch {
		case !ok || !ws.Stopped() || stopEvent(ws) == unix.PTRACE_EVENT_EXIT:
			return 0, p.diedInCall(t, ws, ok)
		case stopEvent(ws) == 0 && ws.StopSignal() == unix.SIGTRAP|0x80:
			if atSyscallEntry(t.tid) {
				continue
			}
			var r userRegs
			err := getRegs(t.tid, &r)
			return r.get(offRAX), err
		case stopEvent(ws) == unix.PTRACE_EVENT_CLONE, stopEvent(ws) == unix.PTRACE_EVENT_FORK:
			if child != nil {
				*child, _ = eventMessage(t.tid)
			}
		case stopEvent(ws) == 0:
			p.keepSignal(t, int(ws.StopSignal()))
		}
	}
}

// keepSignal saves a signal that arrived during a system call of ours.
func (p *Process) keepSignal(t *thread, sig int) {
	if getSigInfo(t.tid, &t.info) != nil {
		t.info = newSigInfo(sig)
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
		n, _ := p.mem.read(m.Lo, text)
		if i := bytes.Index(text[:n], []byte{0x0f, 0x05}); i >= 0 {
			return m.Lo + target.Addr(i), nil
		}
	}
	return 0, fmt.Errorf("process %d has no vDSO with a syscall instruction", p.pid)
}
