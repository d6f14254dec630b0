package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"dbg/internal/fault"
	"dbg/target"
)

// ErrClosed is what every method gives after Close.
var ErrClosed = errors.New("the session is closed")

// control is what may be asked and done while a query is at work: how the program is, pausing it and ending it. Its
// lock is held for moments only, and nothing is called under it that could wait.
type control struct {
	mu      sync.Mutex
	state   State
	proc    target.Process     // nil for a core, and when there is nothing
	done    chan struct{}      // closed when the events of proc have been dealt with
	stop    Stop               // the newest
	stops   uint64             // how many there have been
	run     uint64             // of the present or the latest run
	pausing bool               // a pause was asked for during this run
	late    []func()           // what the next holder of the lane does first
	cancel  context.CancelFunc // of the query that holds the lane
	client  bool               // it is a client's, and no decision of the session's own
	closing bool
}

// setStop remembers the newest stop, and gives it its number. The caller holds the lock.
func (c *control) setStop(st Stop) Stop {
	c.stops++
	st.Number = c.stops
	c.stop = st
	return st
}

// enter takes the lane: the right to look at, and to change, everything that control doesn't have. What is done in it is a
// decision of the session's own, which only the end of the process or of the session cancels. It is false if the session has been closed.
func (s *Session) enter() bool { return s.enterFor(context.Background()) == nil }

// enterFor takes the lane for something that ends with ctx.
func (s *Session) enterFor(ctx context.Context) error {
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	select {
	case s.lane <- struct{}{}:
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	s.entered(ctx)
	if err := ctx.Err(); err != nil {
		s.leave()
		return err
	}
	return nil
}

// tryEnter takes the lane if it is free.
func (s *Session) tryEnter() bool {
	select {
	case s.lane <- struct{}{}:
		s.entered(context.Background())
		return true
	default:
		return false
	}
}

func (s *Session) entered(ctx context.Context) {
	s.catchUp()
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	s.cut.Store(false)
	s.ctl.mu.Lock()
	s.ctl.cancel = cancel
	s.ctl.mu.Unlock()
}

// leave gives the lane back.
func (s *Session) leave() {
	s.ctl.mu.Lock()
	cancel := s.ctl.cancel
	s.ctl.cancel, s.ctl.client = nil, false
	s.ctl.mu.Unlock()
	cancel()
	s.ctx = context.Background()
	s.catchUp()
	<-s.lane
	// Something may have been put off between the last look and the release.
	s.ctl.mu.Lock()
	late := len(s.ctl.late) > 0
	s.ctl.mu.Unlock()
	if late && s.tryEnter() {
		s.leave()
	}
}

// catchUp does what was put off while another query was at work.
func (s *Session) catchUp() {
	for {
		s.ctl.mu.Lock()
		late := s.ctl.late
		s.ctl.late = nil
		s.ctl.mu.Unlock()
		if len(late) == 0 {
			return
		}
		for _, f := range late {
			f()
		}
	}
}

// putOff has f done by the next holder of the lane, who may be there already: then it is done when that one leaves.
func (s *Session) putOff(f func()) {
	s.ctl.mu.Lock()
	s.ctl.late = append(s.ctl.late, f)
	s.ctl.mu.Unlock()
	if s.tryEnter() {
		s.leave()
	}
}

// cancelQuery makes the query that is at work end soon.
func (s *Session) cancelQuery() {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	if s.ctl.cancel != nil {
		s.ctl.cancel()
	}
}

// do runs f in the lane, on the caller's goroutine.
func (s *Session) do(f func()) error {
	if err := s.enterFor(s.asked); err != nil {
		return err
	}
	defer s.leave()
	if err := s.current(); err != nil {
		return err
	}
	s.ctl.mu.Lock()
	s.ctl.client = true
	s.ctl.mu.Unlock()
	err := fault.Catch(f)
	if cut := s.cutError(); err == nil && cut != nil {
		err = cut
	} else if err != nil {
		s.logPanic(err)
	}
	if err != nil {
		s.forgetCut()
	}
	return err
}

// logPanic writes down where a mistake of ours happened.
func (s *Session) logPanic(err error) {
	var mine *fault.PanicError
	if errors.As(err, &mine) {
		s.logf("%v\n%s", err, mine.Stack)
	}
}

// cutError is the error of a query that was cancelled in the middle of something, so that what it has is not an answer.
func (s *Session) cutError() error {
	if s.cut.Load() {
		return s.ctx.Err()
	}
	return nil
}

// try is do for functions that can fail.
func (s *Session) try(f func() error) error {
	var err error
	if e := s.do(func() { err = f() }); e != nil {
		return e
	}
	return err
}

// ask is do for functions that give something.
func ask[T any](s *Session, f func() (T, error)) (T, error) {
	var out T
	err := s.try(func() (err error) { out, err = f(); return err })
	return out, err
}

// subscriber is somebody who gets events. Its queue has no bound, so that a
// slow face never holds up the session; a face that is gone has cancelled. The
// program's output, of which there may be any amount, waits in room instead.
type subscriber struct {
	mu     sync.Mutex // guards queue, closed and output
	ready  *sync.Cond // queue or closed has changed
	space  *sync.Cond // output has shrunk, or closed
	queue  []Event
	closed bool
	output int // bytes of Output that were queued and not yet taken
	out    chan Event
	quit   chan struct{}
}

// Subscribe returns a channel of all events from now on, in order, and a
// function that ends the subscription. The channel is closed when the
// subscription or the session ends.
func (s *Session) Subscribe() (<-chan Event, func()) {
	sub := &subscriber{out: make(chan Event), quit: make(chan struct{})}
	sub.ready, sub.space = sync.NewCond(&sub.mu), sync.NewCond(&sub.mu)
	s.subMu.Lock()
	if s.subs == nil {
		s.subs = map[*subscriber]bool{}
	}
	s.subs[sub] = true
	ended := s.subsEnded
	s.subMu.Unlock()
	if ended {
		sub.end()
	}
	go sub.pump()
	var once sync.Once
	return sub.out, func() {
		once.Do(func() {
			s.subMu.Lock()
			delete(s.subs, sub)
			s.subMu.Unlock()
			close(sub.quit)
			sub.end()
		})
	}
}

// pump moves events from the queue to the channel.
func (sub *subscriber) pump() {
	defer close(sub.out)
	for {
		sub.mu.Lock()
		for len(sub.queue) == 0 && !sub.closed {
			sub.ready.Wait()
		}
		if len(sub.queue) == 0 {
			sub.mu.Unlock()
			return
		}
		batch := sub.queue
		sub.queue = nil
		sub.mu.Unlock()
		for _, ev := range batch {
			select {
			case sub.out <- ev:
			case <-sub.quit:
				return
			}
			if n := outputSize(ev); n > 0 {
				sub.mu.Lock()
				sub.output -= n
				sub.mu.Unlock()
				sub.space.Broadcast()
			}
		}
	}
}

func (sub *subscriber) put(ev Event) {
	sub.mu.Lock()
	if !sub.closed {
		if n := len(sub.queue); n > 0 && supersedes(ev, sub.queue[n-1]) {
			sub.queue[n-1] = ev
		} else {
			sub.queue = append(sub.queue, ev)
		}
		sub.output += outputSize(ev)
	}
	sub.mu.Unlock()
	sub.ready.Signal()
}

// outputSize is what an event counts for mostOutput: the program's output, and the messages of log points.
func outputSize(ev Event) int {
	switch ev := ev.(type) {
	case Output:
		return len(ev.Data)
	case LogMessage:
		return len(ev.Text)
	}
	return 0
}

// supersedes reports whether an event says all that the one before it said: a breakpoint that is ignored a million times is
// not a million events.
func supersedes(ev, last Event) bool {
	a, ok1 := ev.(BreakpointChanged)
	b, ok2 := last.(BreakpointChanged)
	return ok1 && ok2 && a.Breakpoint.ID == b.Breakpoint.ID && !b.Deleted
}

// crowded reports whether a subscriber is behind with the output.
func (s *Session) crowded() bool {
	for _, sub := range s.subscribers() {
		sub.mu.Lock()
		full := sub.output > mostOutput && !sub.closed
		sub.mu.Unlock()
		if full {
			return true
		}
	}
	return false
}

// end lets the pump finish what is queued and close the channel.
func (sub *subscriber) end() {
	sub.mu.Lock()
	sub.closed = true
	sub.mu.Unlock()
	sub.ready.Broadcast()
	sub.space.Broadcast()
}

// mostOutput is how much of the program's output may wait for a subscriber, in
// bytes. A program that writes more blocks, as it would on a terminal that is not read.
const mostOutput = 4 << 20

// awaitRoom blocks while a subscriber is too far behind with the output, and
// giveUp is not set.
func (s *Session) awaitRoom(giveUp *atomic.Bool) {
	for _, sub := range s.subscribers() {
		sub.mu.Lock()
		for sub.output > mostOutput && !sub.closed && !giveUp.Load() {
			sub.space.Wait()
		}
		sub.mu.Unlock()
	}
}

// wakeWriters makes those who wait for room look at giveUp again.
func (s *Session) wakeWriters() {
	for _, sub := range s.subscribers() {
		sub.mu.Lock() // so that none is between its look and its wait
		sub.space.Broadcast()
		sub.mu.Unlock()
	}
}

func (s *Session) subscribers() []*subscriber {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	subs := make([]*subscriber, 0, len(s.subs))
	for sub := range s.subs {
		subs = append(subs, sub)
	}
	return subs
}

// publish gives an event to all subscribers.
func (s *Session) publish(ev Event) {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	for sub := range s.subs {
		sub.put(ev)
	}
}

// endSubscriptions closes all channels once their queues are empty.
func (s *Session) endSubscriptions() {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	s.subsEnded = true
	for sub := range s.subs {
		sub.end()
	}
}

// needStopped is the error of a method that needs a stopped process or a core.
func (s *Session) needStopped() error {
	switch s.state {
	case IsStopped, IsCore:
		return nil
	case IsRunning:
		if s.deciding {
			return nil // about the one thread that is stopped
		}
		return target.ErrRunning
	}
	return target.ErrNotRunning
}

// needProcess is the error of a method that needs a stopped, live process.
func (s *Session) needProcess() error {
	if s.state == IsCore {
		return target.ErrReadOnly
	}
	return s.needStopped()
}
