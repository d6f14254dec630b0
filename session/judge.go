package session

import (
	"slices"
	"time"

	"dbg/arch"
	"dbg/internal/fault"
	"dbg/target"
)

// The tracer's thread asks the judge what to do about a thread that has arrived at a site. The
// judge has a snapshot of the purposes of all sites. So common answers need no lock: another
// thread's mark, a false condition.

// ruleSet is that snapshot. It never changes.
type ruleSet struct {
	watches []watchRule
	catches []catchRule
	at      map[target.Addr]*siteRule
}

// siteRule holds the purposes of one address.
type siteRule struct {
	linker  bool
	calls   []callRule // functions that return here
	jit     []jitRule  // the program reports here that it has generated or removed code
	named   bool       // with jit: a breakpoint may get a place in that code
	marks   []markRule
	scopes  []markRule // a watchpoint's frame has returned here
	breaks  []breakRule
	landing *landingRule // an exception, a longjmp or a panic is about to land
	traces  bool         // the site is only for tracepoints that need no full evaluator
}

// trace collects the values of all tracepoints at a site. If a condition needs the full evaluator,
// it collects nothing: the session then decides about all of them.
func (r *siteRule) trace(h *target.Hit, mem target.Memory) target.Verdict {
	var due [8]*tracePlace
	n := 0
	for i := range r.breaks {
		b := &r.breaks[i]
		if b.thread != 0 && b.thread != h.Thread {
			continue
		}
		if b.program != nil {
			yes, err := b.program.Run(h.Regs, mem)
			if err != nil || n == len(due) {
				return target.Park
			}
			if !yes {
				continue
			}
		}
		if n == len(due) {
			return target.Park
		}
		due[n] = b.trace
		n++
	}
	for _, t := range due[:n] {
		t.record(h.Thread, h.Regs, mem)
	}
	return target.Pass
}

// markRule is a place where one thread's plan waits.
type markRule struct {
	mark
	goroutine // set if the mark belongs to one
	thread    target.ThreadID
}

// met reports whether a thread at the mark's address is the one for which the mark was made.
func (m *markRule) met(h *target.Hit, mem target.Memory) bool {
	if m.g == 0 && m.thread != h.Thread {
		return false
	}
	moved, ok := m.moved(h.Regs, mem)
	return ok && m.matches(h.Regs, moved)
}

// program is a compiled condition, an eval.Program.
type program interface {
	Run(*arch.Registers, target.Memory) (bool, error)
}

// breakRule is the judge's information about a breakpoint.
type breakRule struct {
	thread  target.ThreadID // 0: any
	program program         // the condition; nil if none, or if it needs the full evaluator
	stops   bool            // stops if its condition is true or missing; nothing is counted first
	quick   bool            // the full evaluator was fast so far
	trace   *tracePlace     // of a tracepoint that needs no full evaluator
}

// quickEnough is the maximum time for a decision on the tracer's thread.
const quickEnough = time.Millisecond

// decision is a decision about a thread's arrival at a site that could not be carried out yet, or
// that was made on the tracer's thread.
type decision struct {
	addr         target.Addr
	ids, deleted []int
	stop         *Stop  // nil if the decision is only about the hit
	run          uint64 // the run of the decision, which is also valid in the next one
	arrival      uint64 // the thread's arrival that it is about; 0: unknown
}

// judge returns the judge of a process.
func (s *Session) judge(p target.Process) target.Judge {
	judge := func(h *target.Hit) target.Verdict {
		if h.Reason == target.Stepped {
			return s.planNow(p, h)
		}
		switch h.Reason {
		case target.Syscall, target.ChildCreated, target.ThreadCreated:
			return s.judgeEvent(h)
		}
		set := s.rules.Load()
		if set == nil {
			return target.Park
		}
		if h.Reason == target.Watched {
			return s.judgeWatch(set, h, p)
		}
		r := set.at[h.Addr]
		if r == nil {
			return target.Pass // its last user has just removed it
		}
		for i := range r.jit {
			s.made.report(&r.jit[i], p)
		}
		if r.linker || r.named {
			return target.Park
		}
		if r.traces {
			return r.trace(h, p)
		}
		for _, k := range r.calls {
			if sp, ok := h.Regs.SP(); ok && k.thread == h.Thread && (k.golang || k.sp == sp) {
				return target.Halt
			}
		}
		for i := range r.scopes {
			if r.scopes[i].met(h, p) {
				return target.Park
			}
		}
		for i := range r.marks {
			if r.marks[i].met(h, p) {
				if len(r.breaks) > 0 {
					return target.Park
				}
				return s.planNow(p, h)
			}
		}
		if r.landing != nil && r.landing.met(h, p) {
			if len(r.breaks) > 0 {
				return target.Park
			}
			return s.planNow(p, h)
		}
		sure, quick, asked := false, true, false
		for i := range r.breaks {
			b := &r.breaks[i]
			if b.thread != 0 && b.thread != h.Thread {
				continue
			}
			if b.program != nil {
				if yes, err := b.program.Run(h.Regs, p); err == nil && !yes {
					continue
				}
			}
			asked = true
			sure = sure || b.stops
			quick = quick && b.quick
		}
		switch {
		case !asked:
			return target.Pass
		case sure:
			return target.Halt
		case !quick || s.crowded() || !s.tryEnter():
			return target.Park
		}
		defer s.leave()
		if s.proc != p {
			return target.Park
		}
		s.dropCache()
		s.deciding = true
		defer func() {
			s.deciding = false
			s.dropCache()
		}()
		s.knowThread(h.Thread)
		s.arrival = h.Arrival
		ids, deleted := s.hit(h.Thread, h.Addr)
		if len(ids) == 0 {
			return target.Pass
		}
		s.decide(h.Thread, decision{addr: h.Addr, ids: ids, deleted: deleted})
		return target.Halt
	}
	return func(h *target.Hit) (v target.Verdict) {
		if err := fault.Catch(func() { v = judge(h) }); err != nil {
			s.logPanic(err)
			return target.Park // the session then decides, and reports the error
		}
		return v
	}
}

// planNow asks the thread's plans, on the tracer's thread, how to continue after a step or at a
// mark. It does so only if the lane is free and plans were fast so far.
func (s *Session) planNow(p target.Process, h *target.Hit) target.Verdict {
	if s.slowPlan.Load() || !s.tryEnter() {
		return target.Park
	}
	defer s.leave()
	if s.proc != p || s.state != IsRunning {
		return target.Park
	}
	began := time.Now()
	s.dropCache()
	s.deciding = true
	defer func() {
		s.deciding = false
		s.dropCache()
		s.slowPlan.Store(time.Since(began) > quickEnough)
	}()
	s.arrival = h.Arrival
	c := s.takeUp(h.Thread)
	if c == nil {
		return target.Park
	}
	st, r, done := s.plan(c, target.Event{Kind: target.Parked, Thread: h.Thread, Reason: h.Reason, Addr: h.Addr, Arrival: h.Arrival})
	if done {
		s.decide(h.Thread, decision{stop: &st, addr: h.Addr, ids: st.Breakpoints, deleted: st.Deleted})
		return target.Halt
	}
	if s.dirty {
		s.publishRules()
	}
	r.Thread = h.Thread
	h.Next = r
	return target.Pass
}

// publishRules makes a new rule set, after breakpoints or a plan's marks have changed.
func (s *Session) publishRules() {
	s.dirty = false
	set := &ruleSet{at: map[target.Addr]*siteRule{}}
	at := func(a target.Addr) *siteRule {
		r := set.at[a]
		if r == nil {
			r = &siteRule{}
			set.at[a] = r
		}
		return r
	}
	for a, kinds := range s.breakpoints.internal {
		for _, k := range kinds {
			if k == internalLinker {
				at(a).linker = true
			}
		}
	}
	s.jitRules(at)
	s.landingRules(at)
	for _, k := range s.calls {
		if k.golang != nil {
			for a := range k.golang.traps {
				r := at(a)
				r.calls = append(r.calls, callRule{thread: k.thread, golang: true})
			}
			continue
		}
		r := at(k.pc)
		r.calls = append(r.calls, callRule{thread: k.thread, sp: k.sp})
	}
	for _, c := range s.courses.all {
		for _, p := range c.plans {
			for _, m := range p.marks() {
				r := at(m.addr)
				r.marks = append(r.marks, markRule{m, c.goroutine, c.thread})
			}
		}
	}
	for _, b := range s.breakpoints.all {
		if !b.Enabled {
			continue
		}
		if w := b.watch; w != nil && w.armed() {
			set.watches = append(set.watches, b.watchRule())
			if w.scoped {
				r := at(w.scope.addr)
				r.scopes = append(r.scopes, markRule{mark: w.scope, thread: w.thread})
			}
		}
		if b.catch != nil && !b.Spec.Catch.Kind.inFunctions() {
			set.catches = append(set.catches, catchRule{b.Spec.Catch, b.Spec.Thread})
		}
		for i := range b.Places {
			a := b.Places[i].Addr
			r := at(a)
			r.breaks = append(r.breaks, b.rule(a))
		}
	}
	for _, r := range set.at {
		r.traces = len(r.breaks) > 0 && len(r.marks) == 0 && len(r.calls) == 0 && len(r.scopes) == 0 && !r.linker && len(r.jit) == 0 &&
			!slices.ContainsFunc(r.breaks, func(b breakRule) bool { return b.trace == nil })
	}
	s.rules.Store(set)
	s.sendCatches()
}

// rule returns the judge's information about a breakpoint at one of its places.
func (b *logical) rule(a target.Addr) breakRule {
	r := breakRule{thread: b.Spec.Thread, program: b.programs[a], quick: b.tried > 0 && b.slowest < quickEnough}
	plain := b.ignore == 0 && (b.catch == nil || b.catch.match == nil) && b.Spec.HitCondition == "" && !b.Spec.logs()
	if b.trace != nil {
		if t := b.tracing[a]; t != nil && !t.slow && b.ignore == 0 {
			r.trace = t
		}
		return r
	}
	r.stops = plain && (b.Spec.Condition == "" || r.program != nil)
	return r
}

// decide saves a decision until it can be carried out.
func (s *Session) decide(t target.ThreadID, d decision) {
	d.run, d.arrival = s.ctl.run, s.arrival
	s.decided[t] = d
}

// decidedHit returns and removes an earlier decision about a hit.
func (s *Session) decidedHit(t target.ThreadID, a target.Addr) (d decision, ok bool) {
	d, ok = s.decided[t]
	if ok {
		delete(s.decided, t)
	}
	return d, ok && d.addr == a && s.still(&d, s.arrival)
}

// still reports whether a decision is about a thread's present arrival. Pauses may have come in between,
// any number of them.
func (s *Session) still(d *decision, arrival uint64) bool {
	if d.arrival != 0 && arrival != 0 {
		return d.arrival == arrival
	}
	return s.ctl.run-d.run <= 1
}
