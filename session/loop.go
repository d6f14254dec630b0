package session

import (
	"errors"
	"sync"
	"sync/atomic"

	"dbg/target"
)

// ErrClosed is what every method gives after Close.
var ErrClosed = errors.New("the session is closed")

// loop is the goroutine that owns the session's state.
func (s *Session) loop() {
	defer close(s.stopped)
	for {
		select {
		case f := <-s.commands:
			f()
			if s.closing {
				return
			}
		case ev, ok := <-s.events:
			if !ok {
				s.events = nil
				continue
			}
			s.onEvent(ev)
		}
	}
}

// do runs f on the session's goroutine and waits for it.
func (s *Session) do(f func()) error {
	done := make(chan struct{})
	select {
	case s.commands <- func() { defer close(done); f() }:
	case <-s.stopped:
		return ErrClosed
	}
	<-done
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
			if o, ok := ev.(Output); ok {
				sub.mu.Lock()
				sub.output -= len(o.Data)
				sub.mu.Unlock()
				sub.space.Broadcast()
			}
		}
	}
}

func (sub *subscriber) put(ev Event) {
	sub.mu.Lock()
	if !sub.closed {
		sub.queue = append(sub.queue, ev)
		if o, ok := ev.(Output); ok {
			sub.output += len(o.Data)
		}
	}
	sub.mu.Unlock()
	sub.ready.Signal()
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
