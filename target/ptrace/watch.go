package ptrace

import (
	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/kernel"
)

// Watches are in debug registers (package debugreg). They obey the rule of breakpoint bytes: they
// are set only while the process runs. A thread gets them before it is resumed, and a stop of the
// whole process clears them. So the program survives if dbg is killed at a prompt; while an
// attached program runs, the guardian clears them.

// InsertWatch implements target.Process.
func (p *Process) InsertWatch(w target.Watch) error {
	if !w.Valid() {
		return &target.MemoryError{Addr: w.Addr, Why: "the processor can't watch this range"}
	}
	return p.alive(func() error {
		if err := p.protect(); err != nil {
			return err
		}
		added, err := p.watches.Add(w)
		if err != nil || !added {
			return err
		}
		if err := p.tryWatches(); err != nil {
			p.watches.Undo(w)
			return err
		}
		p.rearm()
		return nil
	})
}

// RemoveWatch implements target.Process. A thread that runs keeps its registers until it stops
// next. If the watch fires meanwhile, the thread passes.
func (p *Process) RemoveWatch(w target.Watch) error {
	return p.alive(func() error {
		if p.watches.Remove(w) {
			return nil
		}
		return ErrNoBreakpoint
	})
}

// tryWatches writes the registers of one stopped thread, so that an address that the kernel refuses
// is an error now.
func (p *Process) tryWatches() error {
	for _, t := range p.threads {
		if t.running || t.zombie {
			continue
		}
		err := p.watches.Write(t.tid)
		if t.armed = p.watches.Version(); !p.running {
			debugreg.Clear(t.tid)
			t.armed = 0
		}
		if err == unix.ESRCH { // it has just been killed
			continue
		}
		return err
	}
	return nil
}

// rearm brings a new table to threads that run: they are stopped for a moment.
func (p *Process) rearm() {
	if !p.running {
		return
	}
	p.guard.Watching(true)
	p.halt()
	p.settle()
}

// arm gives a stopped thread the debug registers before it is resumed.
func (p *Process) arm(t *thread) {
	if t.armed == p.watches.Version() || t.guest {
		return
	}
	if !p.watches.Used() {
		debugreg.Clear(t.tid)
		t.armed = p.watches.Version()
		return
	}
	p.guard.Watching(true)
	if p.watches.Write(t.tid) == nil {
		t.armed = p.watches.Version()
	}
}

// disarmAll clears the debug registers of all threads, as the process has stopped or is let go. All
// threads are stopped.
func (p *Process) disarmAll() {
	if p.watches.Version() == 0 {
		return
	}
	for _, t := range p.threads {
		if t.armed != 0 && !t.running {
			debugreg.Clear(t.tid)
			t.armed = 0
		}
	}
	p.guard.Watching(false)
}

// noteWatches is noteSignal for a SIGTRAP, where watches are in use. It returns true if the trap
// was one of theirs. A step may end with the same trap.
func (p *Process) noteWatches(t *thread, code int) bool {
	if t.armed == 0 || code != kernel.CodeHWBreak && code != kernel.CodeTrace {
		return false
	}
	fired := p.watches.Fired(t.tid, t.armed == p.watches.Version())
	if memory := p.watches.Accesses(fired); memory != fired {
		fired = memory
		t.why, t.addr, t.trapStop = breakpoint, t.regs.PC(), true
	}
	stepDone := false
	if code == kernel.CodeTrace && (t.step == plainStep || t.step == slowStep) {
		t.trapStop = true
		p.noteStepped(t)
		stepDone = t.why == stepped
	} else if code == kernel.CodeTrace {
		return false
	}
	t.trapStop = true
	if fired != 0 {
		t.why, t.fired, t.stepDone = watched, fired, stepDone
	}
	return true // of a watch that is gone, if nothing fired
}

// forgetWatches empties the table, after an execve: the kernel has cleared the registers.
func (p *Process) forgetWatches() {
	if p.watches.Version() == 0 {
		return
	}
	p.watches.Forget()
	p.guard.Watching(false)
}
