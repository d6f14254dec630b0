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
// goroutine, runs f at once. It returns ErrGone if the tracer has ended.
func (tr *tracer) do(f func() error) error {
	if tr.bell.tracer.Load() == int64(unix.Gettid()) {
		return f()
	}
	var err error
	done := make(chan struct{})
	command := func() { err = f(); close(done) }
	tr.bell.rung.Add(1)
	tr.bell.strike()
	timer := time.NewTicker(again)
	defer timer.Stop()
	for {
		select {
		case tr.commands <- command:
			<-done
			return err
		case <-tr.ended:
			tr.bell.rung.Add(-1)
			return target.ErrGone
		case <-timer.C:
			tr.bell.strike()
		}
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
