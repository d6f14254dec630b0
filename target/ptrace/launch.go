package ptrace

import (
	"fmt"

	"dbg/target"
	"dbg/target/ptrace/start"
)

// LaunchOptions specifies the program to launch.
type LaunchOptions = start.Options

// Launch starts a program. It is stopped at its first instruction: the dynamic linker's, or a
// static program's entry. No event is sent for that.
//
// The error is one sentence for the user and wraps one of the sentinels of package start.
func Launch(opts LaunchOptions) (*Process, error) {
	if err := start.CheckProgram(opts.Path); err != nil {
		return nil, err
	}
	p := newProcess(target.Launched)
	if err := p.start(func() error { return p.launch(opts) }); err != nil {
		return nil, err
	}
	return p, nil
}

// launch runs in the tracer's goroutine.
func (p *Process) launch(opts LaunchOptions) error {
	pid, err := start.Launch(opts, p.options(true))
	if err != nil {
		return err
	}
	p.setPID(pid)
	t := newThread(pid)
	p.threads[pid] = t
	p.last = t
	t.skip, t.skipping = t.regs.PC(), true
	if err := p.openProcess(); err != nil {
		start.Kill(pid)
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
	if err := p.mem.Open(p.pid); err != nil {
		return fmt.Errorf("can't open the memory of process %d: %w", p.pid, err)
	}
	return nil
}
