package ptrace

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// start starts the tracer's goroutine on a thread of its own. There it calls begin, which starts
// the tracing, and then runs the loop if begin succeeded.
func (p *Process) start(begin func() error) error {
	result := make(chan error, 1)
	go onCleanThread(func() {
		p.bell.tracer.Store(int64(unix.Gettid()))
		tracing(1)
		p.mute = true
		err := begin()
		if err != nil {
			tracing(-1)
			p.bell.tracer.Store(0)
			p.release()
			close(p.ended)
			result <- err
			return
		}
		p.mute = false
		go p.outbox.deliver(p.events)
		result <- nil
		p.loop()
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

// loop runs after begin, until the process has ended or is detached. It executes commands and
// handles the statuses that the kernel reports.
func (p *Process) loop() {
	defer func() {
		if r := recover(); r != nil { // a bug here must not harm the program
			p.detach()
			panic(r)
		}
		tracing(-1)
		p.bell.tracer.Store(0)
		p.release()
		p.outbox.end()
		close(p.ended)
	}()
	for !p.over {
		p.takeDeferred()
		p.serve()
		if p.over {
			return
		}
		if p.hot != 0 && p.running && !p.urgent && p.stayAwake() {
			continue
		}
		p.hot = 0
		switch tid, ws := p.doze(p.wanted); {
		case tid > 0:
			p.takeStatus(tid, ws)
		case tid < 0:
			p.vanished()
			if !p.over { // only commands can arrive now
				f := <-p.commands
				p.bell.rung.Add(-1)
				f()
			}
		}
	}
}

// takeStatus handles a status.
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

// react decides how to continue after a stop that was recorded.
func (p *Process) react(t *thread) {
	if !p.running || p.over || t.running || t.parked {
		return
	}
	switch {
	case t.why == breakpoint, t.why == watched, t.why == noticed, t.why == stepped && p.decide != nil:
		p.arrive(t)
	case t.why.matters():
		p.halt()
		p.settle()
	case p.stays(t):
	default:
		p.pass(t)
	}
}

// arrive handles a thread that has hit a site, or has finished its step.
func (p *Process) arrive(t *thread) {
	p.dropPending(t)
	switch p.judge(t) {
	case target.Pass:
		if t.why == watched {
			p.passWatch(t)
			return
		}
		if t.why == noticed {
			p.passNotice(t)
			return
		}
		p.hot = t.tid
		p.goFrom(t, p.hit.Next)
	case target.Park:
		p.park(t)
	default:
		e := p.judgedEvent(t)
		t.why = passing
		p.halt()
		if !p.over {
			p.stopFor(t, e)
		}
	}
}

// goFrom continues a thread from the place where it arrived, as r specifies.
func (p *Process) goFrom(t *thread, r target.Resume) {
	p.forgetRegisters(t)
	// After a watch or another event, the thread has not yet hit a site at its PC.
	t.skip, t.skipping = t.pc(), t.why != watched && t.why != noticed
	t.why, t.signal = passing, nil
	switch {
	case r.Step:
		p.stepper, p.stepping, p.stepLo, p.stepHi, p.first = t, true, r.StepLo, r.StepHi, true
		p.hot = t.tid
	case p.stepper == t:
		p.stepper, p.stepping = nil, false
	}
	p.pass(t)
}

// dropPending removes a thread from the pending stops.
func (p *Process) dropPending(t *thread) {
	for i := len(p.pending) - 1; i >= 0; i-- {
		if p.pending[i] == t {
			p.pending = append(p.pending[:i], p.pending[i+1:]...)
		}
	}
}

// settle is called after halt: it reports a pending stop, or else resumes all threads.
func (p *Process) settle() {
	if p.over || !p.running {
		return
	}
	if !p.reportPending() {
		p.resumeAll()
	}
}

// release frees the resources of the process: the terminal, and the descriptors.
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
