package ptrace

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

// LaunchOptions specifies the program to launch.
type LaunchOptions struct {
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

// Launch starts a program. It is stopped at its first instruction: the dynamic linker's, or a
// static program's entry. No event is sent for that.
//
// The error is one sentence for the user and wraps one of the sentinels of this package.
func Launch(opts LaunchOptions) (*Process, error) {
	if err := checkProgram(opts.Path); err != nil {
		return nil, err
	}
	p := newProcess(target.Launched)
	if err := p.start(func() error { return p.launch(opts) }); err != nil {
		return nil, err
	}
	return p, nil
}

// launch runs in the tracer's goroutine.
func (p *Process) launch(opts LaunchOptions) (err error) {
	pid, err := forkTraced(opts)
	if err != nil {
		return execError(opts.Path, err)
	}
	p.setPID(pid)
	defer func() {
		if err != nil {
			_ = unix.Kill(pid, unix.SIGKILL)
			kernel.ReapKilled(pid)
		}
	}()
	t, err := p.seizeAtExec(opts.Execs)
	if err != nil {
		return fmt.Errorf("can't trace %s: %w", opts.Path, err)
	}
	p.threads[pid] = t
	p.last = t
	t.skip, t.skipping = t.pc(), true
	if err := p.openProcess(); err != nil {
		return err
	}
	p.terminal.Of = opts.Terminal
	return nil
}

// openProcess opens the descriptors for the process that are needed in addition to ptrace.
func (p *Process) openProcess() error {
	if err := p.pidfd.Open(p.pid); err != nil {
		return fmt.Errorf("can't open process %d: %w", p.pid, err)
	}
	if err := p.mem.open(p.pid); err != nil {
		return fmt.Errorf("can't open the memory of process %d: %w", p.pid, err)
	}
	return nil
}

// forkTraced starts the program so that it stops once it is loaded.
func forkTraced(opts LaunchOptions) (int, error) {
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
func (p *Process) seizeAtExec(more int) (*thread, error) {
	ws, ok := kernel.WaitFor(p.pid)
	for more > 0 && ok && ws.Stopped() {
		deliver := uintptr(0)
		if ws.StopSignal() == unix.SIGTRAP {
			more--
		} else {
			deliver = uintptr(ws.StopSignal())
		}
		if err := kernel.Ptrace(unix.PTRACE_CONT, p.pid, 0, deliver); err != nil {
			return nil, err
		}
		ws, ok = kernel.WaitFor(p.pid)
		if ok && ws.Exited() {
			return nil, fmt.Errorf("the shell exited with code %d: %w", ws.ExitStatus(), ErrEndedEarly)
		}
	}
	if !ok || !ws.Stopped() || ws.StopSignal() != unix.SIGTRAP {
		return nil, endedEarly(ws)
	}
	t := &thread{tid: p.pid}
	entry := t.pc()
	if entry == 0 {
		_, err := t.registers()
		if err == kernel.ErrCompat {
			return nil, Err32Bit
		}
		return nil, err
	}
	if err := kernel.Ptrace(unix.PTRACE_DETACH, p.pid, 0, uintptr(unix.SIGSTOP)); err != nil {
		return nil, err
	}
	if err := kernel.Ptrace(unix.PTRACE_SEIZE, p.pid, 0, uintptr(p.options(true))); err != nil {
		return nil, err
	}
	// SIGCONT ends the group-stop. It is delivered like any signal, and suppressed. It must not
	// be sent before the process has stopped: it would cancel the pending SIGSTOP.
	for sent := false; ; {
		ws, ok := kernel.WaitFor(p.pid)
		if !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT {
			return nil, endedEarly(ws)
		}
		sig := ws.StopSignal()
		deliver := 0
		switch {
		case kernel.StopEvent(ws) == unix.PTRACE_EVENT_STOP && !sent:
			if sig == unix.SIGTRAP {
				break
			}
			if err := unix.Kill(p.pid, unix.SIGCONT); err != nil {
				return nil, err
			}
			sent = true
		case kernel.StopEvent(ws) == 0 && sig == unix.SIGCONT && sent:
			t.haveRegs, t.sigStop = false, true
			if t.pc() != entry {
				return nil, fmt.Errorf("it did not stop at its first instruction")
			}
			return t, p.clearDeathSignal(t)
		case kernel.StopEvent(ws) == 0:
			deliver = int(sig)
		}
		if err := kernel.Ptrace(unix.PTRACE_CONT, p.pid, 0, uintptr(deliver)); err != nil {
			return nil, err
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
// instruction is written at the PC and removed again, so that nothing of it remains.
func (p *Process) clearDeathSignal(t *thread) error {
	saved, err := t.registers()
	if err != nil {
		return err
	}
	regs := *saved
	back := *saved
	fd, err := unix.Open(procfs.Path(p.pid, "mem"), unix.O_RDWR|unix.O_CLOEXEC, 0)
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
	if err := kernel.SetRegs(p.pid, &regs); err != nil {
		return err
	}
	for {
		if err := kernel.Ptrace(unix.PTRACE_SYSCALL, p.pid, 0, 0); err != nil {
			return err
		}
		ws, ok := kernel.WaitFor(p.pid)
		if !ok || !ws.Stopped() || kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT {
			return endedEarly(ws)
		}
		if ws.StopSignal() == unix.SIGTRAP|0x80 && !kernel.AtSyscallEntry(p.pid) {
			break
		}
	}
	kernel.WriteAll(fd, pc, code[:])
	back.Set(kernel.OrigRAX, ^uint64(0))
	t.haveRegs, t.sigStop = false, false
	return kernel.SetRegs(p.pid, &back)
}
