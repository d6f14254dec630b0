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

// The tracer sleeps in wait4(2), so that the kernel switches directly to it from the thread that
// stops. A caller with a command rings the bell: it increments the count of waiting callers, and
// sends a SIGCHLD to the tracer's thread, which ends its sleep with EINTR. A signal that arrives
// after the tracer has read the count and before it sleeps is lost. It is therefore sent again
// until the tracer responds.
//
// The signal is SIGCHLD because this package changes its action anyway: while a process is being
// traced, no SIGCHLD is sent for stops, which would wake a second thread for each, and no SIGCHLD
// restarts a system call.

// bell wakes the tracer.
type bell struct {
	rung   atomic.Int32
	tracer atomic.Int64 // the id of the tracer's OS thread, or 0 after it has ended
}

// again is the time after which the signal is sent again.
const again = time.Millisecond

// strike wakes the tracer if it sleeps.
func (b *bell) strike() {
	if tid := b.tracer.Load(); tid != 0 {
		_ = unix.Tgkill(os.Getpid(), int(tid), unix.SIGCHLD)
	}
}

// alarm sets late after a time, and then wakes the tracer again and again until stop is called.
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

// do runs f in the tracer's goroutine and waits for it. A call from a judge, which is in that
// goroutine, runs f at once.
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

// doze waits for one status and returns it. It returns -1 if there is no tracee any more, and 0
// if enough returns true, which doze checks after each strike of the bell.
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

// wanted reports whether a caller is waiting.
func (p *Process) wanted() bool { return p.bell.rung.Load() > 0 }

// serve runs the waiting commands.
func (p *Process) serve() {
	for p.wanted() && !p.over {
		f := <-p.commands // a caller that has rung sends its command soon
		p.bell.rung.Add(-1)
		f()
	}
}

// action counts the Processes: a signal's action applies to the whole program.
var action struct {
	sync.Mutex // guards tracers
	tracers    int
}

// tracing is called with 1 when a Process starts, and with -1 when it ends.
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
