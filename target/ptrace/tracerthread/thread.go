package tracerthread

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// Thread is a thread that traces. It is made by New.
type Thread struct {
	commands chan func()
	ended    chan struct{} // closed when the goroutine has ended
	waiting  atomic.Int32  // how many callers of Do wait
	tid      atomic.Int64  // of the OS thread, or 0 after it has ended
}

// New returns a Thread that has not been started.
func New() *Thread { return &Thread{commands: make(chan func()), ended: make(chan struct{})} }

// Start runs main in a new goroutine, which is locked to a thread that has no children. The Thread
// ends with main.
func (t *Thread) Start(main func()) {
	go onCleanThread(func() {
		t.tid.Store(int64(unix.Gettid()))
		tracing(1)
		defer tracing(-1)
		defer close(t.ended)
		defer t.tid.Store(0)
		main()
	})
}

// onCleanThread runs f locked to a thread that has no children. The waits of package kernel take
// every status of the thread's children, and must not take those that belong to other code in this
// program: a thread that has started a command for os/exec is that command's parent. The first
// thread is not used either: it inherits the children of other threads when they end. The thread
// ends with f.
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

// Do runs f on the Thread, and waits for it. A call on the Thread itself runs f at once. It returns
// target.ErrGone if the Thread has ended, or else f's error.
func (t *Thread) Do(f func() error) error {
	if t.tid.Load() == int64(unix.Gettid()) {
		return f()
	}
	var err error
	done := make(chan struct{})
	command := func() { err = f(); close(done) }
	t.waiting.Add(1)
	t.strike()
	timer := time.NewTicker(again)
	defer timer.Stop()
	for {
		select {
		case t.commands <- command:
			<-done
			return err
		case <-t.ended:
			t.waiting.Add(-1)
			return target.ErrGone
		case <-timer.C:
			t.strike()
		}
	}
}

// Wanted reports whether a caller of Do is waiting.
func (t *Thread) Wanted() bool { return t.waiting.Load() > 0 }

// Serve runs the functions of the callers that are waiting.
func (t *Thread) Serve() {
	for t.Wanted() {
		t.ServeOne()
	}
}

// ServeOne waits for a caller, and runs its function.
func (t *Thread) ServeOne() {
	f := <-t.commands // a caller that has rung sends its command soon
	t.waiting.Add(-1)
	f()
}

// Doze waits for one status of any tracee, and returns it. It returns tid -1 if there is no tracee
// any more, and 0 if enough returns true, which Doze checks after each strike of the bell.
func (t *Thread) Doze(enough func() bool) (tid int, ws unix.WaitStatus) {
	for !enough() {
		tid, ws, again := kernel.WaitOnce()
		if !again {
			return tid, ws
		}
	}
	return 0, 0
}

// DozeUntil is Doze until ctx is done.
func (t *Thread) DozeUntil(ctx context.Context) (tid int, ws unix.WaitStatus) {
	// When ctx is done, strike the bell until this function returns.
	over := make(chan struct{})
	defer close(over)
	defer context.AfterFunc(ctx, func() { t.strikeUntil(over, 0, nil) })()
	return t.Doze(func() bool { return ctx.Err() != nil })
}

// Alarm sets late after a time, and then wakes the Thread again and again until stop is called.
func (t *Thread) Alarm(after time.Duration) (late *atomic.Bool, stop func()) {
	late = new(atomic.Bool)
	quit := make(chan struct{})
	go t.strikeUntil(quit, after, late)
	return late, func() { close(quit) }
}

// again is the time after which the signal is sent again.
const again = time.Millisecond

// strikeUntil strikes the bell again and again after a time, until quit is closed. It sets late if
// that is not nil.
func (t *Thread) strikeUntil(quit chan struct{}, after time.Duration, late *atomic.Bool) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	for {
		select {
		case <-quit:
			return
		case <-timer.C:
			if late != nil {
				late.Store(true)
			}
			t.strike()
			timer.Reset(again)
		}
	}
}

// strike wakes the Thread if it sleeps.
func (t *Thread) strike() {
	if tid := t.tid.Load(); tid != 0 {
		_ = unix.Tgkill(os.Getpid(), int(tid), unix.SIGCHLD)
	}
}
