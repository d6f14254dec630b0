package ptrace

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// A tracer is the goroutine that makes all ptrace requests for a process, locked to its thread. It
// traces the children of the process that are kept, too: the kernel makes a child the tracee of its
// parent's tracer, and only a detach could change that.
//
// Each process has its own state and its own events. A status that one process receives while it
// waits for its own threads, but that belongs to another, is deferred by that other process.
//
// All fields except the first three belong to the goroutine.
type tracer struct {
	commands chan func()
	bell     bell
	ended    chan struct{}           // closed when the goroutine has ended
	procs    []*Process              // those that are not over
	early    map[int]unix.WaitStatus // stops of tracees that are not known yet
	leaving  map[int]bool            // tracees of a process that is over; detached at their next stop
}

func newTracer() *tracer {
	return &tracer{commands: make(chan func()), ended: make(chan struct{}), early: map[int]unix.WaitStatus{}, leaving: map[int]bool{}}
}

// start starts the tracer's goroutine on a thread of its own. There it calls begin, which starts
// the tracing, and then runs the loop if begin succeeded.
func (p *Process) start(begin func() error) error {
	result := make(chan error, 1)
	tr := p.tracer
	go onCleanThread(func() {
		tr.bell.tracer.Store(int64(unix.Gettid()))
		tracing(1)
		defer tracing(-1)
		defer close(tr.ended)
		defer tr.bell.tracer.Store(0)
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
		go p.outbox.deliver(p.events)
		result <- nil
		tr.loop()
	})
	return <-result
}

// onCleanThread runs f locked to a thread that has no children. wait takes every status of the
// thread's children, and must not take those that belong to other code in this program: a thread
// that has started a command for os/exec is that command's parent. The first thread is not used
// either: it inherits the children of other threads when they end. The thread ends with f.
func onCleanThread(f func()) {
	runtime.LockOSThread()
	tid := unix.Gettid()
	list, err := os.ReadFile("/proc/thread-self/children")
	if tid == unix.Getpid() || err == nil && strings.TrimSpace(string(list)) != "" {
		// Keep this thread until another one has been found.
		found := make(chan struct{})
		go onCleanThread(func() { close(found); f() })
		<-found
		runtime.UnlockOSThread()
		return
	}
	f() // the goroutine ends locked, and the runtime ends the thread
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
		if tr.wanted() {
			tr.serve()
			continue
		}
		if p := tr.hot(); p != nil {
			if p.stayAwake() {
				continue
			}
			p.hot = 0
		}
		switch tid, ws := tr.doze(tr.wanted); {
		case tid > 0:
			tr.dispatch(tid, ws)
		case tid < 0:
			for _, p := range tr.procs {
				p.vanished()
			}
			if tr.retire() { // only commands can arrive now
				f := <-tr.commands
				tr.bell.rung.Add(-1)
				f()
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
	p.outbox.end()
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

// doze waits for one status and returns it. It returns -1 if there is no tracee any more, and 0
// if enough returns true, which doze checks after each strike of the bell.
func (tr *tracer) doze(enough func() bool) (tid int, ws unix.WaitStatus) {
	for !enough() {
		tid, ws, again := kernel.WaitOnce()
		if !again {
			return tid, ws
		}
	}
	return 0, 0
}

// wanted reports whether a caller is waiting.
func (tr *tracer) wanted() bool { return tr.bell.rung.Load() > 0 }

// serve runs the waiting commands.
func (tr *tracer) serve() {
	for tr.wanted() {
		f := <-tr.commands // a caller that has rung sends its command soon
		tr.bell.rung.Add(-1)
		f()
	}
}

// do runs f in the tracer's goroutine and waits for it. It returns ErrGone if the process is over.
func (p *Process) do(f func() error) error {
	return p.tracer.do(func() error {
		if p.over {
			return target.ErrGone
		}
		return f()
	})
}

var _ target.Process = (*Process)(nil)
