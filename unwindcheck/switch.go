package unwindcheck

// Limits for distinguishing stacks.
const (
	// maxSuspended limits the stacks that are remembered.
	maxSuspended = 10_000
	// near is the maximum distance by which a stack pointer moves down at once in the same stack,
	// unless it was loaded from memory.
	near = 1 << 20
	// validated is the number of innermost activations that are compared with memory when a stack
	// is resumed.
	validated = 8
)

// moveTo handles a stack pointer that was set as a whole: by an epilogue, longjmp, an exception, or
// a switch to another stack.
func (t *thread) moveTo(sp uint64, loaded bool) {
	if t.within(sp, loaded) {
		t.up(sp, false)
		return
	}
	left := t.stack
	to := t.resume(sp)
	t.suspend(left)
	tr := t.begin()
	if a := left.top(); a != nil && len(a.claims) > 0 {
		// Claims about the stack that is left may describe where control goes now (swapcontext), or
		// where it will come back to.
		tr.waiting, tr.left, tr.depth = append(tr.waiting, a.claims...), left, len(left.acts)
		a.claims = nil
	}
	t.stack = to
	t.up(sp, false)
}

// within reports whether sp is in the current stack.
func (t *thread) within(sp uint64, loaded bool) bool {
	s := t.stack
	switch {
	case s.low <= sp && sp <= s.high:
		return true
	case sp > s.high || loaded || t.was.sp-sp > near:
		return false
	}
	for _, o := range t.suspended {
		if o.low <= sp && sp <= o.high {
			return false
		}
	}
	return true
}

// suspend saves a stack that its thread has left.
func (sh *shadow) suspend(s *stack) {
	if len(s.acts) == 0 && !s.bottom {
		return
	}
	if len(sh.suspended) >= maxSuspended {
		sh.abandon(sh.suspended[0])
		sh.suspended = append(sh.suspended[:0], sh.suspended[1:]...)
	}
	sh.suspended = append(sh.suspended, s)
}

// resume returns the suspended stack that contains sp, or a new one.
func (t *thread) resume(sp uint64) *stack {
	// A stack that was interrupted by a handler on another stack is not in the list.
	for i := len(t.stack.acts) - 1; i >= 0; i-- {
		if s := t.stack.acts[i].from; s != nil && s.low <= sp && sp <= s.high {
			return s
		}
	}
	for i := len(t.suspended) - 1; i >= 0; i-- {
		s := t.suspended[i]
		if sp < s.low || sp > s.high {
			continue
		}
		t.suspended = append(t.suspended[:i], t.suspended[i+1:]...)
		if t.intact(s, sp) {
			return s
		}
		t.abandon(s)
	}
	return &stack{low: sp, high: sp}
}

// intact reports whether the return addresses of a stack that was left are still there. Its memory
// may have been reused for another stack.
func (sh *shadow) intact(s *stack, sp uint64) bool {
	n := 0
	for i := len(s.acts) - 1; i >= 0 && n < validated; i-- {
		a := &s.acts[i]
		if a.kind == unknown || a.cfa-8 < sp {
			continue
		}
		if ra, ok := sh.word(a.cfa - 8); !ok || ra != a.ra {
			return false
		}
		n++
	}
	return true
}

// forget drops the suspended stacks at sp, where another stack starts.
func (sh *shadow) forget(sp uint64) {
	rest := sh.suspended[:0]
	for _, s := range sh.suspended {
		if s.low <= sp && sp <= s.high {
			sh.abandon(s)
			continue
		}
		rest = append(rest, s)
	}
	clear(sh.suspended[len(rest):])
	sh.suspended = rest
}

// abandon settles the claims on a stack that will not be resumed.
func (sh *shadow) abandon(s *stack) {
	for len(s.acts) > 0 {
		sh.settleAll(s.drop(), open)
	}
}
