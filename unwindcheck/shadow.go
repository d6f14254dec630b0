package unwindcheck

import "dbg/arch"

// shadow holds the information about all stacks of a process.
type shadow struct {
	// word reads memory.
	word func(addr uint64) (uint64, bool)
	// settle receives the outcome of a claim.
	settle func(*claim, outcome)

	suspended []*stack // stacks without a thread, in the order in which they were left
}

// thread is the shadow of one thread.
type thread struct {
	*shadow
	stack   *stack
	transit *transit // nil if none is under way
	was     state    // the state before the instruction
}

// sigreturn is the number of rt_sigreturn(2).
const sigreturn = 15

// newThread returns a thread that starts at s, with an empty stack.
func (sh *shadow) newThread(s state) *thread {
	sh.forget(s.sp)
	return &thread{shadow: sh, was: s, stack: &stack{low: s.sp, high: s.sp, bottom: true}}
}

// step handles an instruction that led from t.was to now.
func (t *thread) step(in instruction, now *state) {
	was := &t.was
	switch {
	case in.class == call && now.sp == was.sp-8:
		t.call(in, now)
	case in.class == ret:
		t.ret(now)
	case in.class == jump:
		t.jumped(now)
	case in.class == syscall && was.rax == sigreturn && now.pc != was.pc+2:
		t.sigreturn(now)
	case now.sp == was.sp:
		if a := t.stack.top(); a != nil && a.popped && now.pc == a.ra {
			t.jumped(now)
		}
	case in.class == setSP || in.class == loadSP:
		t.moveTo(now.sp, in.class == loadSP)
	case now.sp > was.sp:
		t.up(now.sp, in.class == pop)
	default:
		if a := t.stack.top(); a != nil && a.popped && in.class == push && now.sp == a.cfa-8 {
			a.popped = false
		}
	}
	t.stack.seen(now.sp)
	t.was = *now
}

func (t *thread) call(in instruction, now *state) {
	if in.here {
		return // not a function: the code gets its own address
	}
	if a := t.stack.top(); a != nil && a.popped {
		t.settleAll(t.stack.drop(), open)
	}
	if tr := t.transit; tr != nil {
		// The thread did not jump: it continues here, on another stack.
		t.land(nil)
		t.stack.acts = append(t.stack.acts, activation{kind: unknown, cfa: t.was.sp + 8})
	}
	t.stack.acts = append(t.stack.acts, activation{cfa: t.was.sp, ra: in.next, saved: t.was.saved})
}

func (t *thread) ret(now *state) {
	a := t.stack.top()
	if a != nil && a.cfa-8 == t.was.sp {
		switch {
		case a.kind == unknown:
			t.settleAll(t.stack.drop(), open)
		case now.pc != a.ra:
			t.leave()
		case a.kind == handler:
			a.returned = true
			t.settleAll(a.claims, refuted)
			a.claims = nil
		default:
			t.returned(now)
		}
	}
	t.up(now.sp, false)
	if t.transit != nil {
		t.land(now)
	}
}

// returned removes an activation that has returned. A function with its own calling convention does
// not restore all registers (libcrypto's inner functions return results in callee-saved registers).
// Claims about these are correct if they match the registers that the caller has received.
func (t *thread) returned(now *state) {
	gone := t.stack.top().saved.differs(&now.saved)
	list := t.stack.drop()
	for i := range list {
		c := &list[i]
		o := refuted
		switch {
		case gone == 0 || !c.entry:
		case c.fits(now):
			o = proven
		case c.fault.kind == wrongRegister:
			c.fault.gone = gone
		}
		t.settle(c, o)
	}
}

// jumped handles an indirect jump, or any jump to a popped return address.
func (t *thread) jumped(now *state) {
	if a := t.stack.top(); a != nil && a.popped {
		switch {
		case now.pc == a.ra:
			t.returned(now)
		case t.transit != nil:
			// libgcc's eh_return ends with a pop and a jump: it writes the landing pad's address
			// over the return address of the function that was called by the catching one.
			t.leave()
		}
	}
	if t.transit != nil {
		t.land(now)
	}
}

// up removes the activations whose return address is below the stack pointer now.
func (t *thread) up(sp uint64, popped bool) {
	for {
		a := t.stack.top()
		if a == nil || a.cfa-8 >= sp || a.kind == handler && a.returned && a.cfa >= sp {
			return
		}
		switch {
		case a.popped && a.cfa == sp:
			return
		case popped && a.cfa == sp && a.kind == called:
			a.popped = true
			return
		case a.popped, a.kind == unknown:
			t.settleAll(t.stack.drop(), open)
		default:
			t.leave()
		}
	}
}

// leave removes the innermost activation without a return.
func (t *thread) leave() {
	t.begin().claims = append(t.transit.claims, t.stack.drop()...)
}

// begin puts the thread in transit.
func (t *thread) begin() *transit {
	if t.transit == nil {
		t.transit = new(transit)
	}
	return t.transit
}

// land ends a transit in the state that it led to, or with nil if it led nowhere.
func (t *thread) land(now *state) {
	tr := t.transit
	t.transit = nil
	for i := range tr.claims {
		c := &tr.claims[i]
		o := c.outcome(now)
		if o == refuted {
			c.blame(now)
		}
		t.settle(c, o)
	}
	for i := range tr.waiting {
		c := &tr.waiting[i]
		switch {
		case c.outcome(now) == proven:
			t.settle(c, proven)
		case len(tr.left.acts) == tr.depth && tr.depth > 0:
			a := tr.left.top()
			a.claims = append(a.claims, *c)
		default:
			t.settle(c, open)
		}
	}
}

func (c *claim) outcome(now *state) outcome {
	switch {
	case now == nil:
		return open
	case c.fits(now):
		return proven
	}
	return refuted
}

func (sh *shadow) settleAll(list []claim, o outcome) {
	for i := range list {
		sh.settle(&list[i], o)
	}
}

// frameRoom is the maximum distance below the stack pointer at which a signal's frame starts on the
// same stack: the red zone, the saved vector registers (11 KiB with AMX), siginfo and ucontext.
const frameRoom = 16 << 10

// signalled handles the kernel's entry into a handler. regs holds the interrupted registers.
func (t *thread) signalled(regs *arch.Registers, now *state) {
	ra, _ := t.word(now.sp)
	a := activation{kind: handler, cfa: now.sp + 8, ra: ra, saved: now.saved, interrupted: regs, transit: t.transit}
	t.transit = nil
	if now.sp >= t.was.sp || t.was.sp-now.sp > frameRoom {
		a.from = t.stack
		t.forget(now.sp)
		t.stack = &stack{low: now.sp, high: now.sp}
	}
	t.stack.acts = append(t.stack.acts, a)
	t.stack.seen(now.sp)
	t.was = *now
}

// sigreturn handles the return to the interrupted code, or to the state that the handler has set.
func (t *thread) sigreturn(now *state) {
	for {
		a := t.stack.top()
		if a == nil {
			t.moveTo(now.sp, true)
			return
		}
		h := *a
		t.leave()
		if h.kind != handler {
			continue
		}
		t.land(now)
		t.transit = h.transit
		if h.from != nil {
			t.stack = h.from
		}
		sp, _ := h.interrupted.Get(arch.RSP)
		pc, _ := h.interrupted.Get(arch.RIP)
		t.was = stateOf(h.interrupted)
		if now.sp == sp-8 && now.pc != pc {
			if ra, ok := t.word(now.sp); ok && ra == pc {
				// Go's way to insert a call that the code itself does not contain:
				// runtime.(*sigctxt).pushCall.
				t.stack.acts = append(t.stack.acts, activation{cfa: sp, ra: pc, saved: t.was.saved})
				return
			}
		}
		if now.sp != sp {
			t.moveTo(now.sp, true)
			if t.transit != nil {
				t.land(now)
			}
		}
		return
	}
}

// exit removes the thread's stack.
func (t *thread) exit(o outcome) {
	if t.transit != nil {
		t.settleAll(t.transit.claims, o)
		t.settleAll(t.transit.waiting, o)
	}
	for len(t.stack.acts) > 0 {
		t.settleAll(t.stack.drop(), o)
	}
}
