package remote

import (
	"context"
	"errors"
	"runtime"

	"dbg/internal/fault"
	"dbg/target"
)

// State is where a task stands.
type State uint8

const (
	Waiting State = iota // the task needs memory, or must wait for another task to end
	Found                // a walk has found a frame
	Ended                // the task has ended
)

func (s State) String() string { return [...]string{"waiting", "found", "ended"}[s] }

// ErrClosed is the error of a task that Close has ended.
var ErrClosed = errors.New("the task was closed")

// aborted is the panic that ends a routine whose context has ended.
type aborted struct{}

// routine runs a function that stops where memory is missing. It is a goroutine that runs only while step
// waits for it. If the context ends, the goroutine ends.
type routine struct {
	mem    *Memory
	ctx    context.Context
	cancel context.CancelCauseFunc
	resume chan struct{}
	stop   chan State    // the routine has stopped
	done   chan struct{} // closed when the routine has ended
	err    error         // valid after done

	// What the routine waits for. They are valid while it is stopped with Waiting.
	addr target.Addr
	need int
	buf  []byte
	got  int // the result of the read
	fail error
}

// newRoutine starts a routine, which stops before it calls body. After body has ended, after is called; it
// is called for an aborted routine, too.
func newRoutine(ctx context.Context, mem *Memory, body func(*routine) error, after func(ok bool)) *routine {
	r := &routine{mem: mem, resume: make(chan struct{}), stop: make(chan State), done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	go r.run(body, after)
	return r
}

func (r *routine) run(body func(*routine) error, after func(ok bool)) {
	defer close(r.done)
	mistake := fault.Catch(func() {
		defer func() {
			switch v := recover().(type) {
			case nil:
			case aborted:
				r.err = context.Cause(r.ctx)
			default:
				panic(v)
			}
		}()
		r.await()
		r.err = body(r)
	})
	if mistake != nil {
		r.err = mistake
	}
	after(r.err == nil)
	r.cancel(ErrClosed)
}

// await waits until step resumes the routine.
func (r *routine) await() {
	select {
	case <-r.resume:
	case <-r.ctx.Done():
	}
	if r.ctx.Err() != nil { // both may have happened, and a read has no result then
		panic(aborted{})
	}
}

// pause stops the routine: step returns s.
func (r *routine) pause(s State) {
	select {
	case r.stop <- s:
	case <-r.ctx.Done():
		panic(aborted{})
	}
	r.await()
}

// step resumes the routine and waits until it stops again.
func (r *routine) step() State {
	select {
	case r.resume <- struct{}{}:
	case <-r.done:
		return Ended
	}
	select {
	case s := <-r.stop:
		return s
	case <-r.done:
		return Ended
	}
}

// read reads memory, and stops until the first need bytes are known.
func (r *routine) read(addr target.Addr, buf []byte, need int) (int, error) {
	n, missing, err := r.mem.read(addr, buf, need)
	if !missing {
		return n, err
	}
	r.mem.want(addr, uint64(need), urgent, 1)
	r.addr, r.need, r.buf = addr, need, buf
	defer r.mem.unpin(addr, uint64(need))
	r.pause(Waiting)
	return r.got, r.fail
}

// ready reports whether the memory that the routine waits for has come.
func (r *routine) ready() bool {
	n, missing, err := r.mem.read(r.addr, r.buf, r.need)
	if missing {
		r.mem.want(r.addr, uint64(r.need), urgent, 0) // dropped by Forget or Retry
		return false
	}
	r.got, r.fail = n, err
	return true
}

// Task is work that is under way in a Process: opening it. A Task belongs to one goroutine.
type Task struct {
	p       *Process
	r       *routine
	state   State
	started bool
}

// newTask makes a task of a routine. If the task becomes garbage, the routine ends.
func newTask(p *Process, r *routine) *Task {
	t := &Task{p: p, r: r}
	runtime.AddCleanup(t, func(r *routine) { r.cancel(ErrClosed) }, r)
	return t
}

// Next works until memory is missing, or until the end. With Waiting it has asked for that memory: see
// Memory.Needs. It may be called at any time, and does not block for memory.
func (t *Task) Next() State {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	if t.state == Waiting && (!t.started || t.r.ctx.Err() != nil || t.r.ready()) {
		t.started = true
		t.state = t.r.step()
	}
	return t.state
}

// Err returns the error of a task that has ended: that of its context, ErrClosed, or one of opening.
func (t *Task) Err() error {
	if t.state != Ended {
		return nil
	}
	return t.r.err
}

// Close ends the task. It is not necessary after the end, or if the context ends.
func (t *Task) Close() {
	t.r.cancel(ErrClosed)
	<-t.r.done
	t.state = Ended
}
