package ptrace

import "golang.org/x/sys/unix"

// wait takes the next status. As long as one is sure to come at once it is waited for in the
// kernel, without a word to Go's scheduler; else in a select, which ctx can end.
func (s *stepLoop) wait() (tid int, ws unix.WaitStatus, err error) {
	if s.soon != nil || len(s.ready) > 0 {
		flags := unix.WALL | unix.WNOTHREAD
		if s.soon == nil {
			flags |= unix.WNOHANG
		}
		select {
		case <-s.done:
			return 0, 0, s.ctx.Err()
		default:
		}
		tid, ws := rawWait(flags)
		return tid, ws, nil
	}
	// Most system calls end at once. As the thread has our processor, to yield is to wait.
	for range 4 {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		if tid, ws := rawWait(unix.WALL | unix.WNOTHREAD | unix.WNOHANG); tid != 0 {
			return tid, ws, nil
		}
	}
	s.hush(false)
	defer s.hush(true)
	for {
		if tid, ws := wait(false); tid != 0 {
			return tid, ws, nil
		}
		select {
		case <-s.p.children:
		case <-s.done:
			return 0, 0, s.ctx.Err()
		}
	}
}

// hush keeps SIGCHLD down or lets it come again.
func (s *stepLoop) hush(on bool) {
	if s.quiet != on {
		s.quiet = on
		hushStops(on)
	}
}
