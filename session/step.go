package session

import (
	"context"
	"errors"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// A stepper is a step controller: it makes one thread go somewhere (over a line, out of
// a function) by small moves. The session asks it after each stop of its
// thread that no user breakpoint, signal or pause has claimed. Such a stop ends
// the step and the stepper with it.
type stepper interface {
	// owner is the thread that it moves.
	owner() target.ThreadID
	// next says, in a stop of that thread, what comes now.
	next(s *Session, ev target.Event) (action, error)
	// origin is the CFA and the function's name of the frame in which the step began.
	origin() (cfa target.Addr, function string)
	// marks are the addresses of its internal breakpoints.
	marks() *marks
	// follow says that its goroutine is now on another thread.
	follow(target.ThreadID)
}

// action is what a stepper wants next: to be done with that stop, or the
// thread to be resumed.
type action struct {
	done   bool
	stop   Stop
	resume target.Resume
}

// stepBase is what all controllers share.
type stepBase struct {
	thread target.ThreadID
	cfa    target.Addr // of the frame that the step began in
	fn     string
	placed marks
}

func (b *stepBase) owner() target.ThreadID        { return b.thread }
func (b *stepBase) origin() (target.Addr, string) { return b.cfa, b.fn }
func (b *stepBase) marks() *marks                 { return &b.placed }
func (b *stepBase) follow(t target.ThreadID)      { b.thread = t }

// marks are places at which a controller waits.
type marks struct {
	list []mark
	goroutine
}

// mark is a place to be reached by one frame: with the stack at or above minSP, since the same
// place reached by a deeper recursion is another frame, or, if exact is set, with a CFA that a register tells.
type mark struct {
	addr  target.Addr
	minSP uint64

	exact     bool
	cfa       target.Addr
	cfaReg    arch.Reg
	cfaOffset int64
}

// add puts a breakpoint at addr.
func (m *marks) add(s *Session, addr target.Addr, minSP uint64) error {
	return m.put(s, mark{addr: addr, minSP: minSP})
}

func (m *marks) put(s *Session, k mark) error {
	if err := s.breakpoints.setInternal(s, k.addr, internalStep); err != nil {
		return err
	}
	m.list = append(m.list, k)
	s.dirty = true
	return nil
}

// clear removes all.
func (m *marks) clear(s *Session) {
	for _, k := range m.list {
		s.breakpoints.clearInternal(s, k.addr, internalStep)
	}
	s.dirty = s.dirty || len(m.list) > 0
	m.list = nil
}

// reached reports whether a thread with these registers is at one of the marks. mem is the program's memory.
func (m *marks) reached(regs *arch.Registers, mem target.Memory) bool {
	pc, _ := regs.PC()
	moved, ok := m.goroutine.moved(regs, mem)
	if !ok {
		return false
	}
	for i := range m.list {
		if k := &m.list[i]; uint64(k.addr) == pc && k.matches(regs, moved) {
			return true
		}
	}
	return false
}

// atMark reports whether a thread is at one of the marks.
func (s *Session) atMark(m *marks, t target.ThreadID) (bool, error) {
	regs, err := s.tgt.Registers(t)
	if err != nil {
		return false, err
	}
	return m.reached(&regs, s.tgt), nil
}

// endStepper removes the controller and its breakpoints.
func (s *Session) endStepper() {
	s.stepper.marks().clear(s)
	s.stepper = nil
	s.publishRules()
}

var errNoPC = errors.New("the thread's program counter is not known")

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
