// Package inject makes a stopped thread execute a system call for dbg and brings it back to where
// it was. It answers what the kernel returned, which task the call created, and which signals
// arrived meanwhile.
//
// Its caller is target/ptrace, on the tracer's goroutine, with all threads of the process stopped.
package inject

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
	"dbg/target/ptrace/procfs"
)

// Call is a system call.
type Call struct {
	TID    int // the thread: stopped, not by job control, and not in a signal-delivery-stop
	Number int
	Args   []uint64    // at most six
	At     target.Addr // of a syscall instruction, see Instruction

	// Signal is called for each signal that arrives during the call. The thread does not get it.
	Signal func(sig int)

	Child int // set by Run: the task that the call created, or 0
}

// A Death is the error of Run if the thread died. Status is its status, which the caller must
// handle, if there is one.
type Death struct {
	Status unix.WaitStatus
	Taken  bool // there is a status
}

// Error says that the thread has ended.
func (d *Death) Error() string { return "the thread ended in a system call" }

// Run executes the call. regs are the thread's registers, which it gets back. The error is an Errno
// of the call itself, a Death, or tells why the thread can't be moved.
func (c *Call) Run(regs *kernel.Regs) (uint64, error) {
	if len(c.Args) > len(kernel.SyscallArgs) {
		return 0, errors.New("a system call has at most six arguments")
	}
	moved := *regs
	moved.Set(kernel.RIP, uint64(c.At))
	moved.Set(kernel.RAX, uint64(c.Number))
	moved.Set(kernel.OrigRAX, ^uint64(0))
	for i, off := range kernel.SyscallArgs {
		moved.Set(off, 0)
		if i < len(c.Args) {
			moved.Set(off, c.Args[i])
		}
	}
	if err := kernel.SetRegs(c.TID, &moved); err != nil {
		return 0, err
	}
	result, err := c.execute()
	if err != nil {
		return 0, err
	}
	if err := kernel.SetRegs(c.TID, regs); err != nil {
		return 0, err
	}
	if err := c.stopAgain(); err != nil {
		return 0, err
	}
	if n := -int64(result); n > 0 && n <= 4095 { // MAX_ERRNO
		return 0, unix.Errno(n)
	}
	return result, nil
}

// execute lets the thread execute the call at its PC, and returns the kernel's result.
func (c *Call) execute() (uint64, error) {
	for {
		ws, err := c.move(unix.PTRACE_SYSCALL)
		switch event := kernel.StopEvent(ws); {
		case err != nil:
			return 0, err
		case event == 0 && ws.StopSignal() == unix.SIGTRAP|0x80:
			if kernel.AtSyscallEntry(c.TID) {
				continue
			}
			var r kernel.Regs
			err := kernel.GetRegs(c.TID, &r)
			return r.Get(kernel.RAX), err
		case event == unix.PTRACE_EVENT_CLONE, event == unix.PTRACE_EVENT_FORK:
			c.Child, _ = kernel.EventMessage(c.TID)
		case event == 0:
			c.Signal(int(ws.StopSignal()))
		}
	}
}

// stopAgain brings the thread to a stop by PTRACE_INTERRUPT. That is the only kind in which the
// kernel restarts the call that the thread may have been in before.
func (c *Call) stopAgain() error {
	_ = kernel.Ptrace(unix.PTRACE_INTERRUPT, c.TID, 0, 0)
	for {
		ws, err := c.move(unix.PTRACE_CONT)
		switch event := kernel.StopEvent(ws); {
		case err != nil:
			return err
		case event == unix.PTRACE_EVENT_STOP:
			return nil
		case event == 0 && ws.StopSignal() != unix.SIGTRAP|0x80:
			c.Signal(int(ws.StopSignal()))
		}
	}
}

// move resumes the thread and waits for its next stop.
func (c *Call) move(request int) (unix.WaitStatus, error) {
	if err := kernel.Ptrace(request, c.TID, 0, 0); err != nil {
		return 0, err
	}
	ws, ok := kernel.WaitFor(c.TID)
	if !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT {
		return 0, &Death{ws, ok}
	}
	return ws, nil
}

// Instruction returns the address of a syscall instruction in a process's vDSO, which no program
// changes.
func Instruction(files *procfs.Process, m *memory.Memory) (target.Addr, error) {
	maps, err := files.Mappings()
	if err != nil {
		return 0, err
	}
	const most = 64 << 10
	for _, vdso := range maps {
		if vdso.Path != "[vdso]" || vdso.Hi-vdso.Lo > most {
			continue
		}
		text := make([]byte, vdso.Hi-vdso.Lo)
		n, _ := m.Read(vdso.Lo, text)
		if i := bytes.Index(text[:n], []byte{0x0f, 0x05}); i >= 0 {
			return vdso.Lo + target.Addr(i), nil
		}
	}
	return 0, fmt.Errorf("process has no vDSO with a syscall instruction")
}
