package ptrace

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// The tracer sleeps in wait4(2), so that the kernel switches from the thread that stops to it directly. Who has a command
// for it rings: the count of those who ring goes up, and a SIGCHLD sent to the tracer's thread ends its sleep
// with EINTR. A signal that comes after the tracer has looked at the count and before it sleeps is lost, so it is
// sent again until the tracer is there.
//
// SIGCHLD is the signal since this package changes its action anyhow: while a process is being traced, no SIGCHLD is sent for
// stops, which would wake a second thread for each, and none restarts a system call.

// bell is how the tracer is woken.
type bell struct {
	rung   atomic.Int32
	tracer atomic.Int64 // the id of the tracer's OS thread; 0: it has ended
}

// again is after how long it is rung again.
const again = time.Millisecond

// strike wakes the tracer if it sleeps.
func (b *bell) strike() {
	if tid := b.tracer.Load(); tid != 0 {
		_ = unix.Tgkill(os.Getpid(), int(tid), unix.SIGCHLD)
	}
}

// alarm makes late true after a time, and wakes the tracer again and again from then on, until stop is called.
func (b *bell) alarm(after time.Duration) (late *atomic.Bool, stop func()) {
	late = new(atomic.Bool)
	quit := make(chan struct{})
	go func() {
		timer := time.NewTimer(after)
		defer timer.Stop()
		for {
			select {
			case <-quit:
				return
			case <-timer.C:
				late.Store(true)
				b.strike()
				timer.Reset(again)
			}
		}
	}()
	return late, func() { close(quit) }
}

// do runs f in the tracer's goroutine and waits for it. A judge, which is in that goroutine, is served at once.
func (p *Process) do(f func() error) error {
	if p.bell.tracer.Load() == int64(unix.Gettid()) {
		return f()
	}
	var err error
	done := make(chan struct{})
	command := func() { err = f(); close(done) }
	p.bell.rung.Add(1)
	p.bell.strike()
	timer := time.NewTicker(again)
	defer timer.Stop()
	for {
		select {
		case p.commands <- command:
			<-done
			return err
		case <-p.ended:
			p.bell.rung.Add(-1)
			return target.ErrGone
		case <-timer.C:
			p.bell.strike()
		}
	}
}

// doze waits for one status and returns it; -1 if there is no tracee any more; 0 if enough has become true, of which it is told
// by a strike of the bell.
func (p *Process) doze(enough func() bool) (tid int, ws unix.WaitStatus) {
	for !enough() {
		var status int32
		n, _, e := unix.Syscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), unix.WALL|unix.WNOTHREAD, 0, 0, 0)
		switch e {
		case 0:
			return int(n), unix.WaitStatus(status)
		case unix.EINTR:
		default:
			return -1, 0
		}
	}
	return 0, 0
}

// wanted reports whether somebody rings.
func (p *Process) wanted() bool { return p.bell.rung.Load() > 0 }

// serve runs the commands that wait.
func (p *Process) serve() {
	for p.wanted() && !p.over {
		f := <-p.commands // whoever has rung is there, or about to be
		p.bell.rung.Add(-1)
		f()
	}
}

// action counts the Processes, since the action of a signal is the whole program's.
var action struct {
	sync.Mutex // guards tracers
	tracers    int
}

// tracing is told of each Process that begins (1) and ends (-1).
func tracing(n int) {
	action.Lock()
	defer action.Unlock()
	before := action.tracers > 0
	action.tracers += n
	if now := action.tracers > 0; now != before {
		setAction(now)
	}
}

// setAction changes the flags of SIGCHLD's action: sigaction(2).
func setAction(tracing bool) {
	const saNoCldStop, saRestart = 1, 0x10000000
	var act struct { // struct sigaction of the kernel, x86-64
		handler, flags, restorer, mask uintptr
	}
	at := uintptr(unsafe.Pointer(&act))
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0, at, 8, 0, 0); e != 0 {
		return
	}
	if tracing {
		act.flags = act.flags&^saRestart | saNoCldStop
	} else {
		act.flags = act.flags&^saNoCldStop | saRestart
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), at, 0, 8, 0, 0)
}
