package ptrace

import (
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Debug registers: Intel SDM volume 3, 17.2. DR0 to DR3 have addresses, DR7 enables them, DR6 tells
// which ones fired. The kernel keeps a set for each thread (PTRACE_POKEUSER, struct user.u_debugreg).
// A new thread has none.
//
// They obey the rule of breakpoint bytes: they are set only while the process runs. A thread gets
// them before it is resumed, and a stop of the whole process clears them. So the program survives if
// dbg is killed at a prompt; while an attached program runs, the guardian clears them.

const (
	debugSlots  = 4
	offDebugReg = 848 // offsetof(struct user, u_debugreg), <sys/user.h>
)

// watches is the table of what the debug registers hold. It belongs to the tracer's thread.
type watches struct {
	slots   [debugSlots]watchSlot
	version uint32 // grows with each change; 0: there has never been a watch
}

// watchSlot is one debug register.
type watchSlot struct {
	target.Watch
	users int // 0: the slot is free
}

// used reports whether any slot is in use.
func (w *watches) used() bool {
	for i := range w.slots {
		if w.slots[i].users > 0 {
			return true
		}
	}
	return false
}

// executes reports whether the instruction at an address is watched.
func (w *watches) executes(addr target.Addr) bool {
	if w.version == 0 {
		return false
	}
	for i := range w.slots {
		if s := &w.slots[i]; s.users > 0 && s.Kind == target.WatchExecute && s.Addr == addr {
			return true
		}
	}
	return false
}

// touches reports whether an access to memory would be reported.
func (w *watches) touches(addr target.Addr, n int, write bool) bool {
	if w.version == 0 {
		return false
	}
	for i := range w.slots {
		s := &w.slots[i]
		if s.users > 0 && s.Overlaps(addr, n) && (s.Kind == target.WatchAccess || s.Kind == target.WatchWrite && write) {
			return true
		}
	}
	return false
}

// control returns DR7: the local enable bits, and for each slot the kind and the length (17.2.4).
func (w *watches) control() (dr7 uintptr) {
	kinds := [...]uintptr{target.WatchWrite: 1, target.WatchAccess: 3, target.WatchExecute: 0}
	for i := range w.slots {
		s := &w.slots[i]
		if s.users == 0 {
			continue
		}
		length := map[int]uintptr{1: 0, 2: 1, 4: 3, 8: 2}[s.Len]
		dr7 |= 1<<(2*i) | (kinds[s.Kind]|length<<2)<<(16+4*i)
	}
	return dr7
}

// InsertWatch implements target.Process.
func (p *Process) InsertWatch(w target.Watch) error {
	if !w.Valid() {
		return &target.MemoryError{Addr: w.Addr, Why: "the processor can't watch this range"}
	}
	return p.alive(func() error {
		if err := p.protect(); err != nil {
			return err
		}
		free := -1
		for i := range p.watches.slots {
			switch s := &p.watches.slots[i]; {
			case s.users > 0 && s.Watch == w:
				s.users++
				return nil
			case s.users == 0 && free < 0:
				free = i
			}
		}
		if free < 0 {
			return target.ErrNoSlot
		}
		p.watches.slots[free] = watchSlot{w, 1}
		p.watches.version++
		if err := p.tryWatches(); err != nil {
			p.watches.slots[free] = watchSlot{}
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
		for i := range p.watches.slots {
			if s := &p.watches.slots[i]; s.users > 0 && s.Watch == w {
				if s.users--; s.users == 0 {
					p.watches.version++
				}
				return nil
			}
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
		err := p.writeWatches(t)
		if t.armed = p.watches.version; !p.running {
			p.disarm(t)
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
	p.mem.guard.watching(true)
	p.halt()
	p.settle()
}

// arm gives a stopped thread the debug registers before it is resumed.
func (p *Process) arm(t *thread) {
	if t.armed == p.watches.version || t.guest {
		return
	}
	if !p.watches.used() {
		p.disarm(t)
		t.armed = p.watches.version
		return
	}
	p.mem.guard.watching(true)
	if p.writeWatches(t) == nil {
		t.armed = p.watches.version
	}
}

// writeWatches writes DR0 to DR3 and DR7. DR7 is cleared first: the kernel refuses an address that does
// not fit the length of an enabled register.
func (p *Process) writeWatches(t *thread) error {
	if err := pokeDebug(t.tid, 7, 0); err != nil {
		return err
	}
	for i := range p.watches.slots {
		if s := &p.watches.slots[i]; s.users > 0 {
			if err := pokeDebug(t.tid, i, uintptr(s.Addr)); err != nil {
				return refused(s.Addr, err)
			}
		}
	}
	if err := pokeDebug(t.tid, 7, p.watches.control()); err != nil {
		if err == unix.ENOSPC { // perf has taken the registers
			return target.ErrNoSlot
		}
		return refused(p.watches.slots[0].Addr, err)
	}
	return nil
}

func refused(addr target.Addr, err error) error {
	if err == unix.ESRCH {
		return err
	}
	return &target.MemoryError{Addr: addr, Why: "the kernel refuses to watch it: " + err.Error()}
}

// disarm clears the debug registers of a stopped thread.
func (p *Process) disarm(t *thread) { _ = pokeDebug(t.tid, 7, 0) }

// disarmAll clears the debug registers of all threads, as the process has stopped or is let go. All
// threads are stopped.
func (p *Process) disarmAll() {
	if p.watches.version == 0 {
		return
	}
	for _, t := range p.threads {
		if t.armed != 0 && !t.running {
			p.disarm(t)
			t.armed = 0
		}
	}
	p.mem.guard.watching(false)
}

// firedWatches returns the slots that fired in a thread, as bits, and clears DR6. A slot of which
// the user is gone is not among them.
func (p *Process) firedWatches(t *thread) (bits uint8) {
	v, err := peekDebug(t.tid, 6)
	if err != nil || v&(1<<debugSlots-1) == 0 {
		return 0
	}
	_ = pokeDebug(t.tid, 6, 0)
	for i := range p.watches.slots {
		if v>>i&1 != 0 && p.watches.slots[i].users > 0 && t.armed == p.watches.version {
			bits |= 1 << i
		}
	}
	return bits
}

// listWatches appends the watches of the slots in bits to list.
func (p *Process) listWatches(list []target.Watch, bits uint8) []target.Watch {
	for i := range p.watches.slots {
		if bits>>i&1 != 0 {
			list = append(list, p.watches.slots[i].Watch)
		}
	}
	return list
}

// noteWatches is noteSignal for a SIGTRAP, where watches are in use. It returns true if the trap was
// one of theirs. A step may end with the same trap.
func (p *Process) noteWatches(t *thread, code int) bool {
	if t.armed == 0 || code != kernel.CodeHWBreak && code != kernel.CodeTrace {
		return false
	}
	bits := p.firedWatches(t)
	for i := range p.watches.slots {
		if bits>>i&1 != 0 && p.watches.slots[i].Kind == target.WatchExecute {
			bits &^= 1 << i
			t.why, t.addr, t.trapStop = breakpoint, t.pc(), true
		}
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
	if bits != 0 {
		t.why, t.fired, t.stepDone = watched, bits, stepDone
	}
	return true // of a watch that is gone, if nothing fired
}

// passWatch lets a thread go on after a watch that the judge passes.
func (p *Process) passWatch(t *thread) {
	t.skipping = false
	if t.stepDone {
		t.why, t.stepDone = stepped, false
		p.arrive(t)
		return
	}
	t.why = passing
	p.pass(t)
}

func pokeDebug(tid, i int, v uintptr) error {
	return kernel.Ptrace(unix.PTRACE_POKEUSR, tid, uintptr(offDebugReg+8*i), v)
}

func peekDebug(tid, i int) (v uint64, err error) {
	err = kernel.Ptrace(unix.PTRACE_PEEKUSR, tid, uintptr(offDebugReg+8*i), uintptr(unsafe.Pointer(&v)))
	return v, err
}

// forgetWatches empties the table, after an execve: the kernel has cleared the registers.
func (p *Process) forgetWatches() {
	if p.watches.version == 0 {
		return
	}
	p.watches.slots = [debugSlots]watchSlot{}
	p.watches.version++
	p.mem.guard.watching(false)
}

// clearDebugRegisters clears the debug registers of all threads of a process that has lost its
// tracer: the guardian's part. Each thread is stopped for a moment. It gives up where the kernel does not permit
// the guardian to trace.
func clearDebugRegisters(pid int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const rounds = 3 // a thread may make others meanwhile, with clear registers
	done := map[int]bool{}
	for range rounds {
		entries, err := os.ReadDir(procfs.Path(pid, "task"))
		if err != nil {
			return
		}
		fresh := false
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || done[tid] {
				continue
			}
			done[tid], fresh = true, true
			if kernel.Ptrace(unix.PTRACE_SEIZE, tid, 0, 0) != nil {
				continue
			}
			if kernel.Ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) == nil {
				ws, ok := kernel.WaitFor(tid)
				if !ok || !ws.Stopped() {
					continue
				}
				_ = pokeDebug(tid, 7, 0)
				sig := 0
				if kernel.StopEvent(ws) == 0 { // a signal came first
					sig = int(ws.StopSignal())
					var info kernel.SigInfo
					if sig == int(unix.SIGTRAP) && kernel.GetSigInfo(tid, &info) == nil && info.Code() == kernel.CodeHWBreak {
						sig = 0
					}
				}
				_ = kernel.Ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(sig))
			}
		}
		if !fresh {
			return
		}
	}
}
