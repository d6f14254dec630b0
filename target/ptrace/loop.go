package ptrace

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// start makes the tracer's goroutine on a thread of its own, has it begin the
// tracing and, if that works, go on with the loop.
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

// loop is the tracer's life after the begin: it serves commands and deals with what the kernel reports.
func (p *Process) loop() {
	defer func() {
		if r := recover(); r != nil { // the program must not suffer from it
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
			if !p.over { // there is nothing to wait for but commands
				f := <-p.commands
				p.bell.rung.Add(-1)
				f()
			}
		}
	}
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
	case t.why == breakpoint, t.why == watched, t.why == stepped && p.decide != nil:
		p.arrive(t)
	case t.why.matters():
		p.halt()
		p.settle()
	case p.stays(t):
	default:
		p.pass(t)
	}
}

// arrive deals with a thread that has hit a site, or has finished its step.
func (p *Process) arrive(t *thread) {
	p.dropPending(t)
	switch p.judge(t) {
	case target.Pass:
		if t.why == watched {
			p.passWatch(t)
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

// goFrom lets a thread go on from where it has arrived, as r says.
func (p *Process) goFrom(t *thread, r target.Resume) {
	p.forgetRegisters(t)
	t.skip, t.skipping = t.pc(), true
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

// dropPending takes a thread out of those whose stop is to be reported.
func (p *Process) dropPending(t *thread) {
	for i := len(p.pending) - 1; i >= 0; i-- {
		if p.pending[i] == t {
			p.pending = append(p.pending[:i], p.pending[i+1:]...)
		}
	}
}

// settle follows a halt: it reports what was found, or lets all go on.
func (p *Process) settle() {
	if p.over || !p.running {
		return
	}
	if !p.reportPending() {
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
