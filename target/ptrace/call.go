package ptrace

import (
	"dbg/target"
	"dbg/target/ptrace/tracerthread"
)

// A run to a site is made in one request: the caller's goroutine and the tracer's are each woken
// once, instead of about twelve times. Waking a thread takes longer than a short function runs.

var _ target.Caller = (*Process)(nil)

// expectedReturn is the stop that ends a run to a site.
type expectedReturn struct {
	thread *thread
	addr   target.Addr
	sp     uint64
	came   bool
}

// RunTo implements target.Caller.
func (p *Process) RunTo(r *target.RunTo) (returned bool, err error) {
	err = p.whileStopped(func() error {
		t := p.threads[int(r.Resume.Thread)]
		if t == nil || t.zombie {
			return target.ErrNoThread
		}
		for _, w := range r.Writes {
			if _, err := p.WriteMemory(w.Addr, w.Data); err != nil {
				return err
			}
		}
		saved, err := t.save()
		if err != nil {
			return gone(err)
		}
		next, err := r.Edit(saved)
		if err != nil {
			return err
		}
		if err := p.restore(t, next); err != nil {
			return gone(err)
		}
		r.Saved = saved
		x := &expectedReturn{thread: t, addr: r.Back, sp: r.SP}
		p.expected = x
		defer func() { p.expected = nil }()
		if err := p.resume(r.Resume); err != nil {
			return err
		}
		p.hot, p.lookout = t.tid, tracerthread.Lookout{}
		for p.running && !p.over && p.parked == 0 && !p.tracer.thread.Wanted() && p.stayAwake() {
		}
		if !x.came {
			return nil
		}
		if r.After, err = t.save(); err == nil {
			err = p.restore(t, saved)
		}
		if err != nil {
			return gone(err)
		}
		if regs, err := t.regs.Decode(); err == nil { // the next question is about them
			p.cache.Put(r.Resume.Thread, &regs)
		}
		returned = true
		return nil
	})
	return returned, err
}

// isExpected reports whether a stop ends the run to a site, and notes that.
func (p *Process) isExpected(t *thread, e *target.Event) bool {
	x := p.expected
	if x == nil || x.thread != t || e.Reason != target.Breakpoint || e.Addr != x.addr {
		return false
	}
	regs, err := t.regs.Decode()
	if err != nil {
		return false
	}
	sp, ok := regs.SP()
	x.came = ok && sp == x.sp
	return x.came
}
