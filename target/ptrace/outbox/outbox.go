package outbox

import (
	"sync"

	"dbg/target"
)

// Outbox delivers events to their receiver, in order, so that the tracer need not wait for it.
// Its length is not limited: a stopped process makes no events, and a running one makes them no
// faster than it creates threads.
type Outbox struct {
	lock   sync.Mutex // guards list and ended
	list   []target.Event
	ended  bool
	wake   chan struct{} // holds one token if list or ended has changed
	closed chan struct{} // closed when events are no longer wanted
	once   sync.Once     // closes closed
}

// New returns an empty Outbox.
func New() *Outbox {
	return &Outbox{wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Put appends an event.
func (o *Outbox) Put(e target.Event) {
	o.lock.Lock()
	o.list = append(o.list, e)
	o.lock.Unlock()
	o.ring()
}

// End lets Deliver return when all events have been received.
func (o *Outbox) End() {
	o.lock.Lock()
	o.ended = true
	o.lock.Unlock()
	o.ring()
}

func (o *Outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Discard drops all events, now and later.
func (o *Outbox) Discard() { o.once.Do(func() { close(o.closed) }) }

// Deliver is the goroutine that sends the events. It returns after End, and closes out.
func (o *Outbox) Deliver(out chan<- target.Event) {
	defer close(out)
	for {
		o.lock.Lock()
		list, ended := o.list, o.ended
		o.list = nil
		o.lock.Unlock()
		for _, e := range list {
			select {
			case <-o.closed:
				continue
			default:
			}
			select {
			case out <- e:
			case <-o.closed:
			}
		}
		if len(list) > 0 {
			continue
		}
		if ended {
			return
		}
		<-o.wake
	}
}
