package ptrace

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
	"dbg/target/ptrace/tracerthread"
)

// A tracer is the goroutine that makes all ptrace requests for a process, locked to its thread. It
// traces the children of the process that are kept, too: the kernel makes a child the tracee of its
// parent's tracer, and only a detach could change that.
//
// Each process has its own state and its own events. A status that one process receives while it
// waits for its own threads, but that belongs to another, is deferred by that other process.
//
// All fields except thread belong to the goroutine.
type tracer struct {
	thread  *tracerthread.Thread
	procs   []*Process              // those that are not over
	early   map[int]unix.WaitStatus // stops of tracees that are not known yet
	leaving map[int]bool            // tracees of a process that is over; detached at their next stop
}

func newTracer() *tracer {
	return &tracer{thread: tracerthread.New(), early: map[int]unix.WaitStatus{}, leaving: map[int]bool{}}
}

// start starts the tracer's goroutine on a thread of its own. There it calls begin, which starts
// the tracing, and then runs the loop if begin succeeded.
func (p *Process) start(begin func() error) error {
	result := make(chan error, 1)
	tr := p.tracer
	tr.thread.Start(func() {
		tr.procs = []*Process{p}
		p.mute = true
		err := begin()
		if err != nil {
			p.release()
			close(p.ended)
			result <- err
			return
		}
		p.mute = false
		go p.outbox.Deliver(p.events)
		result <- nil
		tr.loop()
	})
	return <-result
}

// loop runs until all processes have ended or are detached. It executes commands and handles the
// statuses that the kernel reports.
func (tr *tracer) loop() {
	defer func() {
		r := recover()
		for _, p := range tr.procs {
			if r != nil { // a bug here must not harm the program
				p.detach()
			}
			p.end()
		}
		if r != nil {
			panic(r)
		}
	}()
	for tr.retire() {
		if tr.takeDeferred() {
			continue
		}
		if tr.thread.Wanted() {
			tr.thread.Serve()
			continue
		}
		if p := tr.hot(); p != nil {
			if p.stayAwake() {
				continue
			}
			p.hot = 0
		}
		switch tid, ws := tr.thread.Doze(tr.thread.Wanted); {
		case tid > 0:
			tr.dispatch(tid, ws)
		case tid < 0:
			for _, p := range tr.procs {
				p.vanished()
			}
			if tr.retire() { // only commands can arrive now
				tr.thread.ServeOne()
			}
		}
	}
}

// retire ends the processes that are over. It reports whether there are others.
func (tr *tracer) retire() bool {
	for i := len(tr.procs) - 1; i >= 0; i-- {
		if p := tr.procs[i]; p.over {
			tr.procs = slices.Delete(tr.procs, i, i+1)
			for tid := range p.guests {
				tr.leaving[tid] = true
			}
			for _, d := range p.deferred {
				tr.dispatch(d.tid, d.ws)
			}
			p.end()
		}
	}
	return len(tr.procs) > 0
}

// end is called when a process is over.
func (p *Process) end() {
	p.release()
	p.outbox.End()
	close(p.ended)
}

// takeDeferred handles the statuses that were deferred. It reports whether there were any.
func (tr *tracer) takeDeferred() (any bool) {
	for _, p := range tr.procs {
		if len(p.deferred) > 0 {
			any = true
			p.takeDeferred()
		}
	}
	return any
}

// hot returns the process with a thread that has just passed a site and is likely to report soon.
func (tr *tracer) hot() *Process {
	for _, p := range tr.procs {
		if p.hot == 0 {
			continue
		}
		if p.running && !p.urgent {
			return p
		}
		p.hot = 0
	}
	return nil
}

// dispatch hands a status to the process that it belongs to.
func (tr *tracer) dispatch(tid int, ws unix.WaitStatus) {
	if p := tr.owner(tid); p != nil {
		p.takeStatus(tid, ws)
		return
	}
	tr.takeStray(tid, ws)
}

// owner returns the process that a tracee is known to, or the only one. It returns nil if that is
// not known.
func (tr *tracer) owner(tid int) *Process {
	if len(tr.leaving) == 0 && len(tr.procs) == 1 {
		return tr.procs[0]
	}
	for _, p := range tr.procs {
		if p.owns(tid) {
			return p
		}
	}
	return nil
}

// owns reports whether a tracee is a thread or a guest of the process.
func (p *Process) owns(tid int) bool {
	return p.threads[tid] != nil || tid == p.pid || p.guests[tid] != nil
}

// takeStray handles a status of a tracee that no process knows.
func (tr *tracer) takeStray(tid int, ws unix.WaitStatus) {
	switch {
	case !ws.Stopped():
		delete(tr.early, tid)
		delete(tr.leaving, tid)
	case tr.leaving[tid]:
		delete(tr.leaving, tid)
		sig := 0
		if kernel.StopEvent(ws) == 0 && ws.StopSignal()&^0x80 != unix.SIGTRAP {
			sig = int(ws.StopSignal())
		}
		_ = kernel.Ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(sig))
	case kernel.StopEvent(ws) == unix.PTRACE_EVENT_EXIT:
		// This new thread was killed before its creator's event arrived.
		_ = kernel.Ptrace(unix.PTRACE_CONT, tid, 0, 0)
	default:
		// A new thread or child. Its parent's event has not arrived yet.
		tr.early[tid] = ws
	}
}

// statusOf returns the next status of a tracee that will certainly report soon. It may have been taken
// already, by a wait for another one.
func (tr *tracer) statusOf(tid int) (unix.WaitStatus, bool) {
	if ws, ok := tr.early[tid]; ok {
		delete(tr.early, tid)
		return ws, true
	}
	for _, p := range tr.procs {
		for i, d := range p.deferred {
			if d.tid == tid {
				p.deferred = append(p.deferred[:i:i], p.deferred[i+1:]...)
				return d.ws, true
			}
		}
	}
	return kernel.WaitFor(tid)
}

// dropEarly detaches the new children of a process whose parent's event will not arrive.
func (tr *tracer) dropEarly(p *Process) {
	for child := range tr.early {
		if len(tr.procs) > 1 && procfs.StatusField(child, "PPid") != strconv.Itoa(p.pid) && procfs.StatusField(child, "Tgid") != strconv.Itoa(p.pid) {
			continue
		}
		delete(tr.early, child)
		p.detachChild(child)
	}
}

// do runs f in the tracer's goroutine and waits for it. It returns ErrGone if the process is over.
func (p *Process) do(f func() error) error {
	return p.tracer.thread.Do(func() error {
		if p.over {
			return target.ErrGone
		}
		return f()
	})
}

var (
	_ target.Process      = (*Process)(nil)
	_ target.StateReader  = (*Process)(nil)
	_ target.AuxvReader   = (*Process)(nil)
	_ target.RegionReader = (*Process)(nil)
)
