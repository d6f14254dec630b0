package session

import (
	"context"
	"errors"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// A plan moves one thread to a goal: over a line, out of a function, to an address. Plans are small
// and use each other: a plan pushes another one, which moves the thread until it is done; then the
// first plan is asked again. The session asks the plan on top of a thread's stack after each stop
// of that thread, unless a breakpoint, a signal or a user's pause explains the stop.
//
// Each plan states its contract: where it ends, and how it reacts to a signal, an exception, a
// longjmp or the end of its thread. Every plan ends, without a result, when the user's stop comes
// first or its thread ends.
type plan interface {
	// begin starts the plan where the thread is, and returns the first action.
	begin(s *Session, c *course) (action, error)
	// next returns the next action, after a stop of the thread.
	next(s *Session, c *course) (action, error)
	// marks returns the places where the plan waits for the thread, or nil. They do not change
	// after begin.
	marks() []mark
	// shift tells the plan that the stack of the thread's goroutine has moved by a number of bytes.
	shift(by uint64)
}

// action is a plan's next action. The zero value lets the thread run.
type action struct {
	done   bool // the plan has ended; stop is for the user if no other plan waits for this one
	stop   Stop
	push   plan          // a plan to run before this plan is asked again
	resume target.Resume // how the thread continues otherwise; a step also if push fails
}

// course is a thread's stack of plans. In a Go program it belongs to a goroutine, which may change
// its thread.
type course struct {
	thread target.ThreadID
	goroutine
	from  frameMark   // the frame in which its latest step began
	plans []plan      // the last one is active
	at    target.Addr // where the thread was when it moved last

	landing *landing // where the thread is about to land, or nil
}

// mark is a place that one frame must reach. It is reached with the stack pointer at or above
// minSP, because a deeper recursion at the same place is another frame. If exact is set, it is
// instead reached with the CFA, which is computed from a register.
type mark struct {
	addr  target.Addr
	minSP uint64

	exact     bool
	cfa       target.Addr
	cfaReg    arch.Reg
	cfaOffset int64
}

// shift moves a mark with its stack.
func (k *mark) shift(by uint64) {
	k.cfa += target.Addr(by)
	if k.minSP != 0 {
		k.minSP += by
	}
}

// courses holds the courses of all threads that have one.
type courses struct {
	all []*course
}

// of returns a thread's course, or nil.
func (l *courses) of(t target.ThreadID) *course {
	for _, c := range l.all {
		if c.thread == t {
			return c
		}
	}
	return nil
}

// begin makes a course with one plan for a thread, and returns how the thread continues first.
// After an error, the course is removed.
func (s *Session) begin(t target.ThreadID, p plan) (target.Resume, error) {
	c := &course{thread: t}
	c.at, _, _ = s.pcAndSP(t)
	s.courses.all = append(s.courses.all, c)
	_, r, done, err := s.carryOut(c, action{push: p}, nil)
	if err == nil && done {
		err = errors.New("no step is needed")
	}
	if err != nil {
		s.endCourse(c)
	}
	return r, err
}

// carryOut carries out the actions of the plan on top, until the thread must move (r), or the last
// plan is done with a stop for the user.
func (s *Session) carryOut(c *course, act action, err error) (st Stop, r target.Resume, done bool, _ error) {
	for err == nil {
		switch {
		case act.push != nil:
			instead := act.resume
			if act, err = s.push(c, act.push); err != nil && instead.Step {
				return st, instead, false, nil
			}
		case !act.done:
			return st, act.resume, false, nil
		case len(c.plans) == 1:
			return act.stop, r, true, nil
		default:
			s.pop(c)
			act, err = c.top().next(s, c)
		}
	}
	return st, r, false, err
}

func (c *course) top() plan { return c.plans[len(c.plans)-1] }

// mostPlans limits a stack of plans: a plan that pushes plans endlessly is a bug, and must not hang
// the program.
const mostPlans = 100

// push pushes a plan on a thread's stack and starts it. After an error the plan is not on the
// stack.
func (s *Session) push(c *course, p plan) (action, error) {
	if len(c.plans) == mostPlans {
		return action{}, errors.New("the step needs too many internal steps")
	}
	act, err := p.begin(s, c)
	if err != nil {
		return act, err
	}
	for i, k := range p.marks() {
		if err := s.breakpoints.setInternal(s, k.addr, internalStep); err != nil {
			s.clearMarks(p.marks()[:i])
			return act, err
		}
		s.dirty = true
	}
	if len(p.marks()) > 0 && s.landings.at == nil {
		s.armLandings() // the thread will run freely
	}
	c.plans = append(c.plans, p)
	return act, nil
}

// pop removes the plan on top of a thread's stack.
func (s *Session) pop(c *course) {
	s.clearMarks(c.top().marks())
	c.plans = c.plans[:len(c.plans)-1]
}

func (s *Session) clearMarks(list []mark) {
	for _, k := range list {
		s.breakpoints.clearInternal(s, k.addr, internalStep)
		s.dirty = true
	}
}

// endCourse drops a thread's plans.
func (s *Session) endCourse(c *course) {
	s.dropLanding(c)
	for len(c.plans) > 0 {
		s.pop(c)
	}
	for i, x := range s.courses.all {
		if x == c {
			s.courses.all = append(s.courses.all[:i:i], s.courses.all[i+1:]...)
			break
		}
	}
}

// endCourses drops all plans of all threads.
func (s *Session) endCourses() {
	if len(s.courses.all) == 0 {
		return
	}
	for len(s.courses.all) > 0 {
		s.endCourse(s.courses.all[0])
	}
	s.publishRules()
}

// ask asks a thread's plans, after a stop, for the next action: first the plan on top and, when
// that is done, the one below it. done means that the last plan has ended, with a stop for the
// user.
func (c *course) ask(s *Session) (st Stop, r target.Resume, done bool, err error) {
	c.settleMoved(s)
	if act, landed, err := s.land(c); landed || err != nil {
		return s.carryOut(c, act, err)
	}
	// If the thread is at a mark of a lower plan, the frames of the plans above it are gone,
	// through an exception or a longjmp.
	for i := len(c.plans) - 2; i >= 0; i-- {
		if at, err := s.atMark(c, c.plans[i].marks()); at && err == nil {
			for len(c.plans)-1 > i {
				s.pop(c)
			}
		}
	}
	act, err := c.top().next(s, c)
	return s.carryOut(c, act, err)
}

// atMark reports whether a course's thread is at one of the marks.
func (s *Session) atMark(c *course, list []mark) (bool, error) {
	if len(list) == 0 {
		return false, nil
	}
	regs, err := s.tgt.Registers(c.thread)
	if err != nil {
		return false, err
	}
	pc, _ := regs.PC()
	moved, ok := c.goroutine.moved(&regs, s.tgt)
	if !ok {
		return false, nil
	}
	for i := range list {
		if k := &list[i]; uint64(k.addr) == pc && k.matches(&regs, moved) {
			return true, nil
		}
	}
	return false, nil
}

// runTo lets a thread run until it reaches one of its marks.
//
// Contract: it ends there, with a stop for a step. It passes signal handlers and deeper recursions.
// When an exception or a longjmp leaves the marks' frame, the step ends where it lands.
type runTo struct {
	list   []mark
	caller target.Addr // the CFA of the frame that a landing may not leave; 0 means none
}

func (p *runTo) marks() []mark { return p.list }

func (p *runTo) begin(*Session, *course) (action, error) { return action{}, nil }

func (p *runTo) next(s *Session, c *course) (action, error) {
	reached, err := s.atMark(c, p.list)
	return action{done: reached, stop: Stop{Reason: StopStep}}, err
}

func (p *runTo) shift(by uint64) {
	for i := range p.list {
		p.list[i].shift(by)
	}
	if p.caller != 0 {
		p.caller += target.Addr(by)
	}
}

// to returns a plan that runs to an address, with the stack pointer at or above minSP (0 means
// any).
func to(addr target.Addr, minSP uint64) *runTo {
	return &runTo{list: []mark{{addr: addr, minSP: minSP}}}
}

var errNoPC = errors.New("the thread's program counter is unknown")

// top unwinds the innermost n machine frames of a thread, without symbols.
func (s *Session) top(t target.ThreadID, n int) ([]*frames.Frame, error) {
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return nil, err
	}
	w := s.unwinder().Walk(&regs)
	var out []*frames.Frame
	for f, err := range w.Frames(context.Background()) {
		if err != nil {
			return out, err
		}
		out = append(out, f.Clone())
		if len(out) == n {
			break
		}
	}
	if len(out) == 0 {
		return nil, errNoPC
	}
	return out, nil
}

// pcAndSP reads a thread's program counter and stack pointer.
func (s *Session) pcAndSP(t target.ThreadID) (target.Addr, uint64, error) {
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return 0, 0, err
	}
	pc, ok := regs.PC()
	sp, ok2 := regs.SP()
	if !ok || !ok2 {
		return 0, 0, errNoPC
	}
	return target.Addr(pc), sp, nil
}
