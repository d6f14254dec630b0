package ptrace

import (
	"errors"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/inject"
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
		_, child, err := p.systemCall(t, unix.SYS_CLONE, nil)
		switch {
		case err != nil:
			return err
		case child == 0:
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
		result, _, err = p.systemCall(p.someThread(), number, args)
		return err
	})
	return result, err
}

// systemCall makes a thread execute a system call and brings it back to where it was. All threads
// are stopped, and stay so. child is the task that the call has created, or 0.
func (p *Process) systemCall(t *thread, number int, args []uint64) (result uint64, child int, err error) {
	at, err := inject.Instruction(&p.files, p.mem)
	switch {
	case err != nil:
		return 0, 0, err
	case t.away || t.waits:
		return 0, 0, errAway
	case t.groupStop:
		return 0, 0, errors.New("the process is stopped by job control")
	}
	saved, err := t.regs.Read()
	if err != nil {
		return 0, 0, err
	}
	if t.inject != 0 {
		p.holdBack(t) // the thread leaves its signal-delivery-stop
	}
	regs := *saved
	t.regs.Flush()
	t.sigStop, t.trapStop = false, false
	call := inject.Call{TID: t.tid, Number: number, Args: args, At: at, Signal: func(sig int) {
		if kernel.GetSigInfo(t.tid, &t.info) != nil {
			t.info = kernel.NewSigInfo(sig)
		}
		t.inject = sig
		p.holdBack(t)
	}}
	result, err = call.Run(&regs)
	t.regs.Forget()
	var death *inject.Death
	if errors.As(err, &death) {
		if death.Taken {
			p.note(t.tid, death.Status)
		}
		err = target.ErrGone
	}
	return result, call.Child, err
}
