package ptrace

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
)

// wait takes the next status. If a status will certainly arrive soon, it waits in a raw system
// call, without informing Go's scheduler. Otherwise it sleeps until a status arrives or ctx is
// done.
func (s *stepLoop) wait() (tid int, ws unix.WaitStatus, err error) {
	if s.soon != nil || len(s.ready) > 0 {
		select {
		case <-s.done:
			return 0, 0, s.ctx.Err()
		default:
		}
		tid, ws := s.takeNext()
		return tid, ws, nil
	}
	// Most system calls end quickly. The thread shares our processor, so yielding gives it time.
	for range 4 {
		kernel.Yield()
		if tid, ws := kernel.Poll(); tid != 0 {
			return tid, ws, nil
		}
	}
	// When ctx is done, strike the bell until this function returns.
	over := make(chan struct{})
	defer close(over)
	defer context.AfterFunc(s.ctx, func() {
		t := time.NewTicker(again)
		defer t.Stop()
		for {
			s.p.tracer.bell.strike()
			select {
			case <-over:
				return
			case <-t.C:
			}
		}
	})()
	tid, ws = s.p.tracer.doze(func() bool { return s.ctx.Err() != nil })
	if tid == 0 {
		err = s.ctx.Err()
	}
	return tid, ws, err
}

// takeNext takes a status: if one will arrive soon, it waits for that.
func (s *stepLoop) takeNext() (tid int, ws unix.WaitStatus) {
	if s.soon == nil {
		return kernel.Poll()
	}
	return kernel.WaitSoon()
}
