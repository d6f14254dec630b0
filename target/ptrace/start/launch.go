package start

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Options specifies the program to launch.
type Options struct {
	Path string   // path of the program, also its argv[0], unchanged
	Args []string // without argv[0]
	Dir  string   // working directory; "" means ours
	Env  []string // environment; nil means ours

	// Before, if it is not empty, is a shell or another program with its arguments that executes
	// Path in the end. It is not traced: the process is stopped after Execs more executions.
	Before []string
	Execs  int

	Stdin, Stdout, Stderr *os.File // nil means /dev/null

	// KeepASLR keeps the randomisation of addresses enabled.
	KeepASLR bool

	// Terminal is the terminal that the program controls while it runs. The program then gets its
	// own process group.
	Terminal *os.File
}

// Launch starts a program that CheckProgram has accepted, and stops it at its first instruction:
// the dynamic linker's, or a static program's entry. The calling thread traces it with the given
// PTRACE_O_ options. If Launch fails, there is no process.
func Launch(opts Options, options int) (pid int, err error) {
	pid, err = forkTraced(opts)
	if err != nil {
		return 0, execError(opts.Path, err)
	}
	if err := seizeAtExec(pid, opts.Execs, options); err != nil {
		Kill(pid)
		return 0, fmt.Errorf("can't trace %s: %w", opts.Path, err)
	}
	return pid, nil
}

// Kill ends a program that was launched, and collects its status.
func Kill(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL)
	kernel.ReapKilled(pid)
}

// forkTraced starts the program so that it stops once it is loaded.
func forkTraced(opts Options) (int, error) {
	path, err := filepath.Abs(opts.Path) // Path is not relative to Dir
	if err != nil {
		return 0, err
	}
	env := opts.Env
	if env == nil {
		env = os.Environ()
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	files := make([]uintptr, 3)
	for i, f := range []*os.File{opts.Stdin, opts.Stdout, opts.Stderr} {
		if f == nil {
			f = null
		}
		files[i] = f.Fd()
	}
	if !opts.KeepASLR {
		// The personality belongs to the thread, and the child inherits it: personality(2).
		const addrNoRandomize = 0x0040000
		old, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
		if e == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_PERSONALITY, old|addrNoRandomize, 0, 0)
			defer unix.RawSyscall(unix.SYS_PERSONALITY, old, 0, 0)
		}
	}
	argv := append([]string{opts.Path}, opts.Args...)
	if len(opts.Before) > 0 {
		path, argv = opts.Before[0], opts.Before
	}
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: opts.Dir, Env: env, Files: files,
		Sys: &syscall.SysProcAttr{
			Ptrace:  true,
			Setpgid: opts.Terminal != nil,
			// Until it is seized, nothing else would kill the program when we end.
			Pdeathsig: syscall.SIGKILL,
		},
	})
}

// seizeAtExec turns a tracee that used PTRACE_TRACEME into a seized one. The only way is to
// detach from it stopped, and to seize it again.
//
// Each execve stops the tracee with a SIGTRAP. more is the number of executions that are to follow
// the first one.
func seizeAtExec(pid, more, options int) error {
	ws, ok := kernel.WaitFor(pid)
	for more > 0 && ok && ws.Stopped() {
		deliver := uintptr(0)
		if ws.StopSignal() == unix.SIGTRAP {
			more--
		} else {
			deliver = uintptr(ws.StopSignal())
		}
		if err := kernel.Ptrace(unix.PTRACE_CONT, pid, 0, deliver); err != nil {
			return err
		}
		ws, ok = kernel.WaitFor(pid)
		if ok && ws.Exited() {
			return fmt.Errorf("the shell exited with code %d: %w", ws.ExitStatus(), ErrEndedEarly)
		}
	}
	if !ok || !ws.Stopped() || ws.StopSignal() != unix.SIGTRAP {
		return endedEarly(ws)
	}
	var regs kernel.Regs
	if err := kernel.GetRegs(pid, &regs); err == kernel.ErrCompat {
		return Err32Bit
	} else if err != nil {
		return err
	}
	entry := regs.Get(kernel.RIP)
	if err := kernel.Ptrace(unix.PTRACE_DETACH, pid, 0, uintptr(unix.SIGSTOP)); err != nil {
		return err
	}
	if err := kernel.Ptrace(unix.PTRACE_SEIZE, pid, 0, uintptr(options)); err != nil {
		return err
	}
	// SIGCONT ends the group-stop. It is delivered like any signal, and suppressed. It must not
	// be sent before the process has stopped: it would cancel the pending SIGSTOP.
	for sent := false; ; {
		ws, ok := kernel.WaitFor(pid)
		if !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT {
			return endedEarly(ws)
		}
		sig := ws.StopSignal()
		deliver := 0
		switch {
		case kernel.StopEvent(ws) == unix.PTRACE_EVENT_STOP && !sent:
			if sig == unix.SIGTRAP {
				break
			}
			if err := unix.Kill(pid, unix.SIGCONT); err != nil {
				return err
			}
			sent = true
		case kernel.StopEvent(ws) == 0 && sig == unix.SIGCONT && sent:
			if err := kernel.GetRegs(pid, &regs); err != nil || regs.Get(kernel.RIP) != entry {
				return fmt.Errorf("it did not stop at its first instruction")
			}
			return clearDeathSignal(pid, &regs)
		case kernel.StopEvent(ws) == 0:
			deliver = int(sig)
		}
		if err := kernel.Ptrace(unix.PTRACE_CONT, pid, 0, uintptr(deliver)); err != nil {
			return err
		}
	}
}

// endedEarly is the error for a program that ended, or started to end, before its first
// instruction. The kernel kills a program like that when it finds out too late that it can't load
// the file.
func endedEarly(ws unix.WaitStatus) error {
	sig := 0
	switch {
	case ws.Signaled():
		sig = int(ws.Signal())
	case ws.Stopped() && kernel.StopEvent(ws) == 0:
		sig = int(ws.StopSignal())
	}
	if sig != 0 {
		return fmt.Errorf("it ended before its first instruction, with %s: %w", target.SignalName(sig), ErrEndedEarly)
	}
	return fmt.Errorf("it ended before its first instruction: %w", ErrEndedEarly)
}

// clearDeathSignal makes the process itself cancel the signal that it would receive when our
// thread ends: PTRACE_O_EXITKILL does that now, and only as long as we trace. The system call
// instruction is written at the PC and removed again, so that nothing of it remains. saved holds
// the registers of the process.
func clearDeathSignal(pid int, saved *kernel.Regs) error {
	regs := *saved
	back := *saved
	fd, err := unix.Open(procfs.Path(pid, "mem"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	pc := target.Addr(regs.Get(kernel.RIP))
	var code [2]byte
	if n, err := unix.Pread(fd, code[:], int64(pc)); err != nil || n != 2 {
		return fmt.Errorf("its first instruction can't be read: %w", ErrEndedEarly)
	}
	if kernel.WriteAll(fd, pc, []byte{0x0f, 0x05}) != 2 {
		return fmt.Errorf("its first instruction can't be changed")
	}
	regs.Set(kernel.RAX, unix.SYS_PRCTL)
	regs.Set(kernel.OrigRAX, ^uint64(0))
	regs.Set(kernel.RDI, unix.PR_SET_PDEATHSIG)
	regs.Set(kernel.RSI, 0)
	if err := kernel.SetRegs(pid, &regs); err != nil {
		return err
	}
	for {
		if err := kernel.Ptrace(unix.PTRACE_SYSCALL, pid, 0, 0); err != nil {
			return err
		}
		ws, ok := kernel.WaitFor(pid)
		if !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT {
			return endedEarly(ws)
		}
		if ws.StopSignal() == unix.SIGTRAP|0x80 && !kernel.AtSyscallEntry(pid) {
			break
		}
	}
	kernel.WriteAll(fd, pc, code[:])
	back.Set(kernel.OrigRAX, ^uint64(0))
	return kernel.SetRegs(pid, &back)
}
