package ptrace

import (
	"sync"

	"dbg/target"
)

// outbox delivers events to their receiver, in order, so that the tracer need not wait for it.
// Its length is not limited: a stopped process makes no events, and a running one makes them no
// faster than it creates threads.
type outbox struct {
	lock   sync.Mutex // guards list and ended
	list   []target.Event
	ended  bool
	wake   chan struct{} // holds one token if list or ended has changed
	closed chan struct{} // closed when events are no longer wanted
	once   sync.Once     // closes closed
}

func (o *outbox) init() {
	o.wake, o.closed = make(chan struct{}, 1), make(chan struct{})
}

// put appends an event.
func (o *outbox) put(e target.Event) {
	o.lock.Lock()
	o.list = append(o.list, e)
	o.lock.Unlock()
	o.ring()
}

// end lets deliver return when all events have been received.
func (o *outbox) end() {
	o.lock.Lock()
	o.ended = true
	o.lock.Unlock()
	o.ring()
}

func (o *outbox) ring() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// discard drops all events, now and later.
func (o *outbox) discard() { o.once.Do(func() { close(o.closed) }) }

// deliver is the goroutine that sends the events. It closes out at the end.
func (o *outbox) deliver(out chan<- target.Event) {
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

// send queues an event. During StepAll and an attach, only the end of the process is sent.
func (p *Process) send(e target.Event) {
	if p.mute && e.Kind != target.Exited && e.Kind != target.Killed {
		return
	}
	p.outbox.put(e)
}
