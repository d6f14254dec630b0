package ptrace

import (
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// start makes the tracer's goroutine on a thread of its own, has it begin the
// tracing and, if that works, go on with the loop.
func (p *Process) start(begin func() error) error {
	result := make(chan error, 1)
	go onCleanThread(func() {
		p.tracer.Store(int64(unix.Gettid()))
		signal.Notify(p.children, syscall.SIGCHLD)
		tracing(1)
		err := begin()
		if err != nil {
			tracing(-1)
			signal.Stop(p.children)
			p.release()
			close(p.ended)
			result <- err
			return
		}
		result <- nil
		p.loop()
	})
	return <-result
}

// onCleanThread runs f locked to a thread that has no children. wait takes
// whatever the thread's children report, and must not take what belongs to
// somebody else in this program: a thread that has started a command for
// os/exec is that command's parent. Nor will it be the first thread, which inherits
// the children of the others when they end. The thread ends with f.
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

// loop is the tracer's life after the begin.
func (p *Process) loop() {
	defer func() {
		if p.lookout.quiet {
			hushStops(false)
		}
		tracing(-1)
		signal.Stop(p.children)
		p.tracer.Store(0)
		p.release()
		close(p.events)
		close(p.ended)
	}()
	for {
		if p.closing {
			p.queue = nil
		}
		if p.over && len(p.queue) == 0 {
			return
		}
		var out chan target.Event
		var next target.Event
		if len(p.queue) > 0 {
			out, next = p.events, p.queue[0]
		}
		if p.stepReportsSoon() {
			p.takeOne(true)
			select {
			case f := <-p.commands:
				f()
			case out <- next:
				p.queue = p.queue[1:]
			default:
			}
			continue
		}
		if p.hot != 0 && p.running {
			select {
			case f := <-p.commands:
				f()
			case out <- next:
				p.queue = p.queue[1:]
			default:
				if !p.stayAwake() {
					p.sleep()
				}
			}
			continue
		}
		p.sleep()
		select {
		case f := <-p.commands:
			f()
		case <-p.children:
			for p.takeOne(false) {
			}
		case out <- next:
			p.queue = p.queue[1:]
		}
	}
}

// stepReportsSoon reports whether a step is under way that ends by itself, so
// that waiting for it in the kernel saves the way through SIGCHLD.
func (p *Process) stepReportsSoon() bool {
	t := p.stepper
	return p.running && p.stepping && t != nil && t.running && (t.step == plainStep || t.step == toSyscall)
}

// takeOne takes one status and deals with it. It reports whether there was one.
func (p *Process) takeOne(block bool) bool {
	tid, ws := wait(block)
	if tid <= 0 {
		if tid < 0 {
			p.vanished()
		}
		return false
	}
	p.takeStatus(tid, ws)
	return true
}

// takeStatus deals with a status.
func (p *Process) takeStatus(tid int, ws unix.WaitStatus) {
	t := p.note(tid, ws)
	if p.stepperLost {
		p.halt()
		p.settle()
		return
	}
	if t != nil {
		p.react(t)
	}
	for len(p.born) > 0 {
		t, p.born = p.born[0], p.born[1:]
		p.react(t)
	}
}

// react decides what follows from a stop that has been noted.
func (p *Process) react(t *thread) {
	if !p.running || p.over || t.running || t.parked {
		return
	}
	switch {
	case t.why == breakpoint:
		p.arrive(t)
	case t.why == stepped && p.decide != nil:
		p.unkeep(t)
		p.park(t)
	case t.why.matters():
		p.halt()
		p.settle()
	case p.stays(t):
	default:
		p.pass(t)
	}
}

// arrive deals with a thread that has hit a site.
func (p *Process) arrive(t *thread) {
	switch p.judge(t) {
	case target.Pass:
		p.unkeep(t)
		t.skip, t.skipping, t.why = t.addr, true, passing
		p.hot = t.tid
		p.pass(t)
	case target.Park:
		p.unkeep(t)
		p.park(t)
	default:
		p.unkeep(t)
		e := target.Event{Kind: target.Stopped, Reason: target.Breakpoint, Addr: t.addr}
		t.why = passing
		p.halt()
		if !p.over {
			p.stopFor(t, e)
		}
	}
}

// unkeep takes a thread out of those whose stop is to be reported.
func (p *Process) unkeep(t *thread) {
	for i := len(p.kept) - 1; i >= 0; i-- {
		if p.kept[i] == t {
			p.kept = append(p.kept[:i], p.kept[i+1:]...)
		}
	}
}

// settle follows a halt: it reports what was found, or lets all go on.
func (p *Process) settle() {
	if p.over || !p.running {
		return
	}
	if !p.reportKept() {
		p.resumeAll()
	}
}

// release gives back what the process holds.
func (p *Process) release() {
	p.terminal.takeBack()
	p.mem.close()
	p.pidfdLock.Lock()
	if p.pidfd >= 0 {
		_ = unix.Close(p.pidfd)
		p.pidfd = -1
	}
	p.pidfdLock.Unlock()
}

func (p *Process) send(e target.Event) {
	p.queue = append(p.queue, e)
}
