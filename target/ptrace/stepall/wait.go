package stepall

import (
	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
)

// wait takes the next status. If a status will certainly arrive soon, it waits in a raw system
// call, without informing Go's scheduler. Otherwise it sleeps until a status arrives or ctx is
// done.
func (s *loop) wait() (tid int, ws unix.WaitStatus, err error) {
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
	tid, ws = s.sleeper.DozeUntil(s.ctx)
	if tid == 0 {
		err = s.ctx.Err()
	}
	return tid, ws, err
}

// takeNext takes a status: if one will arrive soon, it waits for that.
func (s *loop) takeNext() (tid int, ws unix.WaitStatus) {
	if s.soon == nil {
		return kernel.Poll()
	}
	return kernel.WaitSoon()
}
