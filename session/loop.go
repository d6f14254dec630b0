package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"dbg/internal/fault"
	"dbg/target"
)

// ErrClosed is the error of every method after Close.
var ErrClosed = errors.New("the session is closed")

// control is the state that is available while a query is running: the program's state, and how to
// pause and end it. Its lock is held only briefly, and no call under it may block.
type control struct {
	mu      sync.Mutex
	state   State
	proc    target.Process // nil for a core, and without a target
	done    chan struct{}  // closed when the events of proc have been handled
	stop    Stop           // the latest
	stops   uint64         // the number of stops so far
	run     uint64         // the number of the current or latest run
	pausing bool           // a pause was requested during this run
	// together means that another process of the group has stopped, and that this one must stop, too.
	together bool
	// again means that the group has continued before the interruption for together has arrived: the
	// process continues when it does.
	again   bool
	caught  *Stop              // an event for which the session itself has requested a pause
	late    []func()           // run first by the next holder of the lane
	cancel  context.CancelFunc // cancels the query that holds the lane
	client  bool               // that query is a client's, not a decision of the session itself
	closing bool
}

// setStop records the latest stop, and numbers it. The caller holds the lock.
func (c *control) setStop(st Stop) Stop {
	c.stops++
	st.Number = c.stops
	c.stop = st
	return st
}

// enter takes the lane: the right to read and change all state that is not in control. The holder
// makes a decision of the session itself, which only the end of the process or of the session
// cancels. enter returns false if the session is closed.
func (s *Session) enter() bool { return s.enterFor(context.Background()) == nil }

// enterFor takes the lane for work that ends with ctx.
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
	s.group.active = s.own
	s.catchUp()
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	s.cut.Store(false)
	s.ctl.mu.Lock()
	s.ctl.cancel = cancel
	s.ctl.mu.Unlock()
}

// leave releases the lane.
func (s *Session) leave() {
	s.ctl.mu.Lock()
	cancel := s.ctl.cancel
	s.ctl.cancel, s.ctl.client = nil, false
	s.ctl.mu.Unlock()
	cancel()
	s.ctx = context.Background()
	s.catchUp()
	<-s.lane
	// A function may have been put off between the last check and the release.
	s.ctl.mu.Lock()
	late := len(s.ctl.late) > 0
	s.ctl.mu.Unlock()
	if late && s.tryEnter() {
		s.leave()
	}
}

// catchUp runs the functions that were put off while another query was running.
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

// putOff makes the next holder of the lane run f. If the lane is held now, f runs when the holder
// leaves.
func (s *Session) putOff(f func()) {
	s.ctl.mu.Lock()
	s.ctl.late = append(s.ctl.late, f)
	s.ctl.mu.Unlock()
	if s.tryEnter() {
		s.leave()
	}
}

// cancelQuery cancels the running query.
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

// logPanic logs where a bug in dbg caused a panic.
func (s *Session) logPanic(err error) {
	var mine *fault.PanicError
	if errors.As(err, &mine) {
		s.logf("%v\n%s", err, mine.Stack)
	}
}

// cutError returns the error of a query that was cancelled in the middle of something, so its
// result can't be used.
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

// ask is do for functions that return a value.
func ask[T any](s *Session, f func() (T, error)) (T, error) {
	var out T
	err := s.try(func() (err error) { out, err = f(); return err })
	return out, err
}

// subscriber is a receiver of events. Its queue has no limit, so a slow front end never delays the
// session. A front end that has ended has cancelled its subscription. Only the program's output,
// which has no limit, waits until there is room for it.
type subscriber struct {
	mu     sync.Mutex // guards queue, closed and output
	ready  *sync.Cond // signals that queue or closed has changed
	space  *sync.Cond // signals that output has shrunk, or closed has changed
	queue  []Event
	closed bool
	all    bool // of all sessions of the group
	output int  // bytes of output in the queue
	out    chan Event
	quit   chan struct{}
}

// Subscribe returns a channel of all events from now on, in order, and a
// function that ends the subscription. The channel is closed when the
// subscription or the session ends.
func (s *Session) Subscribe() (<-chan Event, func()) { return s.subscribe(false) }

// SubscribeGroup is Subscribe for all sessions of the group, the later ones included. Each event is
// a From. The channel is closed when the subscription or the last of the sessions ends.
func (s *Session) SubscribeGroup() (<-chan Event, func()) { return s.subscribe(true) }

// From is an event of one session of a group.
type From struct {
	Session *Session
	Event   Event
}

func (From) isEvent() {}

func (s *Session) subscribe(all bool) (<-chan Event, func()) {
	sub := &subscriber{out: make(chan Event), quit: make(chan struct{}), all: all}
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
			for _, o := range append(s.others(), s) {
				o.subMu.Lock()
				delete(o.subs, sub)
				o.subMu.Unlock()
			}
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

// outputSize returns the number of bytes that an event adds to output: those of the program's
// output, and of log points' messages.
func outputSize(ev Event) int {
	switch ev := ev.(type) {
	case From:
		return outputSize(ev.Event)
	case Output:
		return len(ev.Data)
	case LogMessage:
		return len(ev.Text)
	}
	return 0
}

// supersedes reports whether an event makes the one before it redundant: a breakpoint that is
// ignored a million times must not fill the queue with a million events.
func supersedes(ev, last Event) bool {
	if f, ok := ev.(From); ok {
		l, ok := last.(From)
		return ok && l.Session == f.Session && supersedes(f.Event, l.Event)
	}
	a, ok1 := ev.(BreakpointChanged)
	b, ok2 := last.(BreakpointChanged)
	return ok1 && ok2 && a.Breakpoint.ID == b.Breakpoint.ID && !b.Deleted
}

// crowded reports whether a subscriber has too much unread output.
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

// end lets pump deliver the queue and close the channel.
func (sub *subscriber) end() {
	sub.mu.Lock()
	sub.closed = true
	sub.mu.Unlock()
	sub.ready.Broadcast()
	sub.space.Broadcast()
}

// mostOutput limits the program's output that waits for a subscriber, in bytes. A program that
// writes more blocks, as on a terminal that is not read.
const mostOutput = 4 << 20

// awaitRoom blocks while a subscriber has too much unread output, until giveUp is set.
func (s *Session) awaitRoom(giveUp *atomic.Bool) {
	for _, sub := range s.subscribers() {
		sub.mu.Lock()
		for sub.output > mostOutput && !sub.closed && !giveUp.Load() {
			sub.space.Wait()
		}
		sub.mu.Unlock()
	}
}

// wakeWriters makes goroutines in awaitRoom check giveUp again.
func (s *Session) wakeWriters() {
	for _, sub := range s.subscribers() {
		sub.mu.Lock() // so that none is between its check and its wait
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

// publish sends an event to all subscribers.
func (s *Session) publish(ev Event) {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	for sub := range s.subs {
		if sub.all {
			sub.put(From{s.own, ev})
		} else {
			sub.put(ev)
		}
	}
}

// endSubscriptions closes all channels once their queues are empty.
func (s *Session) endSubscriptions() {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	s.subsEnded = true
	last := len(s.others()) == 0
	for sub := range s.subs {
		if last || !sub.all {
			sub.end()
		}
	}
}

// needStopped returns an error unless there is a stopped process or a core.
func (s *Session) needStopped() error {
	switch s.state {
	case IsStopped, IsCore:
		return nil
	case IsRunning:
		if s.deciding {
			return nil // the query is about the one thread that is stopped
		}
		return target.ErrRunning
	}
	return target.ErrNotRunning
}

// needProcess returns an error unless there is a stopped, live process.
func (s *Session) needProcess() error {
	if s.state == IsCore {
		return target.ErrReadOnly
	}
	return s.needStopped()
}
