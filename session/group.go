package session

import (
	"dbg/eval/view"
	"fmt"
	"slices"
	"sync"

	"dbg/symbols"
	"dbg/target"
)

// A group is a set of sessions that are debugged together: a program, the children that it forks,
// and programs that the user adds. gdb calls each an inferior. Each session has one process, with
// its own threads, modules and sites. All sessions of a group have one lane, so a decision about one
// process may change the others' breakpoints. A breakpoint has one number and one count of hits in
// all of them.
type group struct {
	views *view.Set     // how people read values; used in the lane
	lane  chan struct{} // see Session.enter

	mu      sync.Mutex // guards members, next and follow
	members []*Session // the first handle of each, by number
	next    int        // the number of the next session
	follow  FollowSettings

	// All fields below belong to the holder of the lane.

	breakpoint int // the number of the next breakpoint
	active     *Session
	// halted means that all processes were stopped together, and that the user has not continued one
	// since.
	halted bool
}

// FollowSettings specify what happens to children, and which processes run.
type FollowSettings struct {
	// Child means that the session follows the child of a fork. Else it stays with the parent.
	Child bool
	// KeepBoth keeps the other one stopped, in a session of its own. Else it is detached.
	KeepBoth bool
	// Together means that all processes of the group run when one continues, and that all stop when
	// one stops.
	Together bool
	// NewAtExec makes a new session for a program that a process executes. The old session keeps
	// the old program, and can run it again.
	NewAtExec bool
}

// Forked reports that the process has created a child which is kept, or which was detached.
type Forked struct {
	Parent, Child int      // process ids
	Session       *Session // of the child; nil if it was detached
	Vfork         bool
	// Followed means that this session does not run any more: the child does.
	Followed bool
	// Detached means that the parent was detached.
	Detached bool
}

func (Forked) isEvent() {}

func newGroup() *group {
	return &group{lane: make(chan struct{}, 1), next: 1, breakpoint: 1, views: view.NewSet()}
}

// join makes a session a member.
func (g *group) join(s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.group, s.lane, s.views = g, g.lane, g.views
	s.number.Store(int64(g.next))
	g.next++
	g.members = append(g.members, s.own)
}

// quit removes a session. It reports whether it was the last one.
func (g *group) quit(s *Session) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(m *Session) bool { return m.shared == s.shared })
	return len(g.members) == 0
}

// list returns the members.
func (g *group) list() []*Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.members)
}

func (g *group) settings() FollowSettings {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.follow
}

// newBreakpoint returns the number of a new breakpoint.
func (g *group) newBreakpoint() int {
	g.breakpoint++
	return g.breakpoint - 1
}

// others lists the other sessions of the group.
func (s *Session) others() []*Session {
	return slices.DeleteFunc(s.group.list(), func(o *Session) bool { return o.shared == s.shared })
}

// Number returns the session's number in its group, from 1.
func (s *Session) Number() int { return int(s.number.Load()) }

// Group lists the sessions that are debugged together, by number, this one included.
func (s *Session) Group() []*Session { return s.group.list() }

// Following returns what happens to children.
func (s *Session) Following() FollowSettings { return s.group.settings() }

// CloseGroup closes all sessions of the group.
func (s *Session) CloseGroup() error {
	var first error
	for _, o := range append(s.others(), s) {
		if err := o.Close(); first == nil {
			first = err
		}
	}
	return first
}

// Forked reports whether the process is a child that another process of the group has created.
func (s *Session) Forked() bool {
	out, _ := ask(s, func() (bool, error) { return s.forked, nil })
	return out
}

// SetFollowing changes what happens to the children of all processes of the group.
func (s *Session) SetFollowing(f FollowSettings) error {
	return s.try(func() error {
		s.group.mu.Lock()
		s.group.follow = f
		s.group.mu.Unlock()
		for _, o := range s.group.list() {
			o.sendCatches()
		}
		return nil
	})
}

// childPolicy returns what the target does with children.
func (f FollowSettings) childPolicy() target.ChildPolicy {
	switch {
	case f.Child:
		return target.FollowChildren
	case f.KeepBoth:
		return target.KeepChildren
	}
	return target.ReleaseChildren
}

// NewSession makes another session of the group, without a program. It has the breakpoints and the
// settings of s.
func (s *Session) NewSession() (*Session, error) {
	return ask(s, func() (*Session, error) { return s.sibling(), nil })
}

// sibling makes another session of the group. The caller holds the lane.
func (s *Session) sibling() *Session {
	o := newSession(s.cfg, s.group, s.files)
	o.fetcher = s.fetcher
	o.signals, o.skips = s.signals, s.skips
	o.locking, o.unwindOnSignal = s.locking, s.unwindOnSignal
	o.shell, o.stepMode, o.intelSyntax = s.shell, s.stepMode, s.intelSyntax
	s.subMu.Lock()
	defer s.subMu.Unlock()
	for sub := range s.subs {
		if sub.all {
			if o.subs == nil {
				o.subs = map[*subscriber]bool{}
			}
			o.subs[sub] = true
		}
	}
	return o
}

// adoptChild makes a session for a child that the target has kept. It is stopped.
func (s *Session) adoptChild(p target.Process) *Session {
	o := s.sibling()
	o.program = Program{Path: p.Exe(), Args: s.program.Args, Dir: s.program.Dir, Env: s.program.Env, Terminal: s.program.Terminal}
	o.forked = true
	o.adopt(p, p)
	for _, b := range s.breakpoints.all {
		o.inherit(b)
	}
	return o
}

// onForked handles a child that was created while the process runs.
func (s *Session) onForked(ev target.Event) {
	e := Forked{Parent: s.proc.PID(), Child: ev.Child, Vfork: ev.Vfork}
	if ev.Process == nil {
		s.publish(e)
		return
	}
	f := s.group.settings()
	if !f.KeepBoth && !f.Child { // the setting has changed meanwhile
		if err := ev.Process.Detach(); err != nil {
			s.logf("child %d: %v", ev.Child, err)
		}
		s.publish(e)
		return
	}
	o := s.adoptChild(ev.Process)
	e.Session = o
	s.publish(e)
	if f.Together && !s.group.halted {
		if err := o.letGoAlone(target.Resume{}); err != nil {
			s.publish(LogMessage{Warning: true, Text: fmt.Sprintf("process %d: %v", ev.Child, err)})
		}
	}
}

// heir is a child that is followed when its parent continues.
type heir struct {
	thread  target.ThreadID // the parent's, which has created it
	process target.Process
	vfork   bool
}

// followHeir continues in the child of the latest stop, if there is one. It reports whether it did.
func (s *Session) followHeir() bool {
	h := s.heir
	if h == nil {
		return false
	}
	s.heir = nil
	s.followChild(h.thread, h.process, h.vfork)
	return true
}

// followChild continues in a child: the parent, which has stopped in a fork, is detached or stays
// stopped. A step goes on in the child.
func (s *Session) followChild(t target.ThreadID, p target.Process, vfork bool) {
	f := s.group.settings()
	o := s.adoptChild(p)
	o.stepFrom = s.stepFrom
	step := s.courses.of(t)
	if step != nil && !vfork {
		o.takeOver(step, target.ThreadID(p.PID()))
	}
	s.endCourses()
	e := Forked{Parent: s.proc.PID(), Child: p.PID(), Session: o, Vfork: vfork, Followed: true, Detached: !f.KeepBoth}
	if e.Detached {
		if err := s.proc.Detach(); err != nil {
			s.logf("parent %d: %v", e.Parent, err)
		}
		s.forgetTarget()
		s.resolveAll()
		s.publish(e)
		s.publish(Ended{PID: e.Parent, Detached: true})
	} else {
		s.publish(e)
		s.stop(Stop{Reason: StopFork, Thread: t, NewFunction: true})
	}
	r := target.Resume{}
	if c := o.courses.of(target.ThreadID(p.PID())); c != nil {
		o.setState(IsRunning)
		st, next, done, err := c.ask(o)
		switch {
		case err != nil:
			o.publish(LogMessage{Warning: true, Text: err.Error()})
		case done:
			o.publish(Resumed{Thread: c.thread})
			st.Thread = c.thread
			o.stop(st)
			return
		default:
			r = next
		}
		o.setState(IsStopped)
	}
	if err := o.letGo(r); err != nil {
		o.publish(LogMessage{Warning: true, Text: err.Error()})
	}
}

// takeOver makes the plans of a parent's thread those of a thread of this session, whose process
// has a copy of the parent's memory.
func (s *Session) takeOver(c *course, t target.ThreadID) {
	own := &course{thread: t, goroutine: c.goroutine, from: c.from}
	own.at, _, _ = s.pcAndSP(t)
	if l := c.landing; l != nil {
		if err := s.breakpoints.setInternal(s, l.addr, internalStep); err == nil {
			own.landing = l
		}
	}
	for _, p := range c.plans {
		for i, k := range p.marks() {
			if err := s.breakpoints.setInternal(s, k.addr, internalStep); err != nil {
				s.logf("step in process %d: %v", s.proc.PID(), err)
				s.clearMarks(p.marks()[:i])
				return
			}
		}
		own.plans = append(own.plans, p)
	}
	s.courses.all = append(s.courses.all, own)
	s.armLandings()
	s.dirty = true
	s.publishRules()
}

// leaveProgram is called when the process has executed another program, if that belongs to a new
// session: this session gets a new number, and another one, with the old number, can run the old
// program again.
func (s *Session) leaveProgram(old Program) {
	if old.Path == "" {
		return
	}
	o := s.sibling()
	if err := o.load(old); err != nil {
		s.publish(LogMessage{Warning: true, Text: err.Error()})
	}
	for _, b := range s.breakpoints.all {
		o.inherit(b)
	}
	g := s.group
	g.mu.Lock()
	before := s.number.Load()
	s.number.Store(o.number.Load())
	o.number.Store(before)
	slices.SortFunc(g.members, func(a, b *Session) int { return a.Number() - b.Number() })
	g.mu.Unlock()
	s.program.Path = s.tgt.Exe()
}

// inherit adds a breakpoint of another session of the group. Watchpoints belong to one process.
func (s *Session) inherit(b *logical) {
	if b.watch != nil || s.breakpoints.byID(b.ID) != nil || s.state == IsCore {
		return
	}
	c := &logical{Breakpoint: b.Breakpoint, ignore: b.ignore, found: map[*symbols.Module][]symbols.Location{}}
	c.Places, c.Problem, c.trace = nil, "", b.trace
	for m, list := range b.found {
		c.found[m] = list
	}
	if b.catch != nil {
		var err error
		if c.catch, err = newCatch(b.Spec.Catch); err != nil {
			return
		}
	}
	s.breakpoints.all = append(s.breakpoints.all, c)
	places, err := s.resolve(c)
	if err == nil {
		err = s.place(c, places)
	}
	if err != nil {
		c.Problem = err.Error()
	}
}

// share copies the counts of a breakpoint to the other sessions.
func (s *Session) share(b *logical) {
	for _, o := range s.others() {
		c := o.breakpoints.byID(b.ID)
		if c == nil {
			continue
		}
		before := c.ignore
		c.Hits, c.ignore = b.Hits, b.ignore
		c.Spec.Ignore, c.Spec.Count = b.Spec.Ignore, b.Spec.Count
		if before != c.ignore {
			o.publishRules()
		}
	}
}

// edit runs f for a breakpoint in each session that has it. It returns the error of this session,
// or else the first one.
func (s *Session) edit(id int, f func(o *Session, b *logical) error) error {
	found := false
	var first, own error
	for _, o := range s.group.list() {
		o.catchUp()
		b := o.breakpoints.byID(id)
		if b == nil {
			continue
		}
		found = true
		if err := f(o, b); err != nil && o.shared == s.shared {
			own = err
		} else if first == nil {
			first = err
		}
	}
	switch {
	case !found:
		//lint:ignore ST1005 gdb's words, shown as they are
		return fmt.Errorf("No breakpoint number %d.", id)
	case own != nil:
		return own
	}
	return first
}

// runTogether continues the other processes of the group, if they run together.
func (s *Session) runTogether() {
	s.group.halted = false
	if !s.group.settings().Together {
		return
	}
	for _, o := range s.others() {
		o.catchUp()
		switch {
		case o.proc == nil:
		case o.state == IsStopped:
			if err := o.letGoAlone(target.Resume{}); err != nil {
				s.publish(LogMessage{Warning: true, Text: err.Error()})
			}
		case o.state == IsRunning: // perhaps it is about to stop
			o.ctl.mu.Lock()
			if o.ctl.together {
				o.ctl.together, o.ctl.again = false, true
			}
			o.ctl.mu.Unlock()
		}
	}
}

// saveStop saves a stop for the next time that the group continues, if another process has stopped
// the group already: the user sees one stop at a time.
func (s *Session) saveStop(st *Stop) bool {
	if !s.group.halted || !s.group.settings().Together {
		return false
	}
	switch st.Reason {
	case StopPause, StopTogether, StopFork, StopEntry:
		return false
	}
	own := *st
	s.saved = &own
	return true
}

// reportSaved reports the stop of a process that has stopped when another one had stopped the
// group. It returns false if there is none, or if the processes do not run together.
func (s *Session) reportSaved() bool {
	if !s.group.settings().Together && s.saved == nil {
		return false
	}
	for _, o := range append([]*Session{s.own}, s.others()...) {
		o.catchUp()
		if o.saved == nil || o.proc == nil {
			continue
		}
		st := *o.saved
		o.saved = nil
		if o.shared != s.shared {
			s.publish(Resumed{Thread: s.selected})
			s.ctl.mu.Lock()
			own := s.ctl.setStop(Stop{Reason: StopTogether, Thread: s.selected, NewFunction: true})
			s.ctl.mu.Unlock()
			s.publish(Stopped{own})
		}
		o.publish(Resumed{Thread: st.Thread})
		o.ctl.mu.Lock()
		st = o.ctl.setStop(st)
		o.ctl.mu.Unlock()
		o.point(st.Thread)
		o.publish(Stopped{st})
		return true
	}
	return false
}

// stopTogether stops the other processes of the group, if they run together.
func (s *Session) stopTogether() {
	if !s.group.settings().Together {
		return
	}
	s.group.halted = true
	for _, o := range s.others() {
		o.catchUp()
		if o.proc == nil || o.state != IsRunning {
			continue
		}
		o.ctl.mu.Lock()
		told := o.ctl.together
		o.ctl.together = true
		o.ctl.mu.Unlock()
		if !told {
			if err := o.proc.Interrupt(); err != nil {
				s.logf("process %d: %v", o.proc.PID(), err)
			}
		}
	}
}
