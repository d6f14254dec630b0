package ptrace

import (
	"errors"

	"dbg/target"
	"dbg/target/ptrace/guardian"
)

// ErrNoBreakpoint is the error of RemoveBreakpoint if no breakpoint is inserted at the address.
var ErrNoBreakpoint = errors.New("no breakpoint is inserted there")

// ReadMemory implements target.Memory. It may be called from any goroutine.
func (p *Process) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return p.mem.Read(addr, buf)
}

// WriteMemory implements target.Target. It may be called while a thread is parked.
func (p *Process) WriteMemory(addr target.Addr, data []byte) (n int, err error) {
	err = p.alive(func() error {
		if p.running && p.parked == 0 {
			return target.ErrRunning
		}
		n, err = p.mem.Write(addr, data)
		return err
	})
	return n, err
}

// InsertBreakpoint implements target.Process.
func (p *Process) InsertBreakpoint(addr target.Addr) error {
	return p.alive(func() error {
		if err := p.protect(); err != nil {
			return err
		}
		return p.mem.Insert(addr)
	})
}

// RemoveBreakpoint implements target.Process. After a stop with reason Execed, no breakpoint is
// inserted.
func (p *Process) RemoveBreakpoint(addr target.Addr) error {
	return p.alive(func() error {
		if !p.mem.Remove(addr) {
			return ErrNoBreakpoint
		}
		return nil
	})
}

// protect prepares for the first site or watch: it starts the guardian of an attached process.
func (p *Process) protect() error {
	if p.guardian != "" && p.guard == nil {
		g, err := guardian.Start(p.guardian, p.pid, p.pidfd.Descriptor())
		if err != nil {
			return err // no breakpoint is better than one that may stay in memory
		}
		p.guard = g
		p.mem.SetJournal(g)
		p.urgent = guardian.HurryTracer()
	}
	if !p.shared && p.kind == target.Attached {
		p.shared = true
		p.adoptSharers()
	}
	return nil
}

// alive runs f in the tracer's goroutine if the process still exists.
func (p *Process) alive(f func() error) error {
	return p.do(func() error {
		if p.over {
			return target.ErrGone
		}
		return f()
	})
}
