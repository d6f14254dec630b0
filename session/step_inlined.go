package session

import (
	"slices"

	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// A step over lines may end where the code of an inlined call begins, on a line that consists only
// of that call. The thread is then shown before the call: the inlined levels are hidden until the
// program moves or the user steps in.

// hiddenCalls describes inlined calls that are not shown yet, because a thread is at the start of
// their code.
type hiddenCalls struct {
	thread target.ThreadID
	pc     target.Addr
	levels int // the number of hidden innermost levels; 0 means none
}

// hides returns the number of hidden levels at a thread's PC.
func (h *hiddenCalls) hides(t target.ThreadID, pc target.Addr) int {
	if h.thread != t || h.pc != pc {
		return 0
	}
	return h.levels
}

// withoutHidden removes the hidden levels from the innermost levels of a thread's backtrace.
func (s *Session) withoutHidden(t target.ThreadID, own []Frame) []Frame {
	n := s.hidden.hides(t, own[0].PC)
	if n == 0 || n >= len(own) {
		return own
	}
	own = slices.Clone(own[n:])
	for i := range own {
		own[i].Level = i
	}
	own[0].ShowPC = false
	return own
}

// enterHidden shows one more hidden level, which is all that a step into an inlined call does. It
// returns false if none is hidden, or if the list of skips has it.
func (s *Session) enterHidden(t target.ThreadID) bool {
	pc, _, err := s.pcAndSP(t)
	if err != nil || s.hidden.hides(t, pc) == 0 {
		return false
	}
	m := s.modules.find(pc)
	if m != nil && m.Symbols != nil {
		if calls, hidden := s.shownCalls(t, m, pc); hidden > 0 && s.skippedCall(calls[hidden-1:hidden]) {
			return false
		}
	}
	s.hidden.levels--
	s.dropCache()
	s.publish(Resumed{Thread: t})
	s.stop(Stop{Reason: StopStep, Thread: t})
	return true
}

// startingCalls returns how many of the innermost inlined calls around a PC begin there: they are
// not around the byte before it.
func startingCalls(m *Module, pc image.Addr, calls []symbols.Call) int {
	if len(calls) < 2 {
		return 0
	}
	before := m.Symbols.CallsAt(pc - 1)
	if fn := calls[len(calls)-1].Function; fn == nil || pc <= fn.Lo {
		before = nil
	}
	same := 0 // the number of outer calls that both have
	for same < len(calls) && same < len(before) {
		a, b := &calls[len(calls)-1-same], &before[len(before)-1-same]
		if !a.Function.Is(b.Function) {
			break
		}
		if same++; same < len(calls) && same < len(before) && (a.Position.Line != b.Position.Line || a.Position.Column != b.Position.Column) {
			break // they are at different calls
		}
	}
	return min(len(calls)-same, len(calls)-1)
}

// hideStarting hides the inlined calls that begin at a thread's PC.
func (s *Session) hideStarting(t target.ThreadID, pc target.Addr) {
	m := s.modules.find(pc)
	if m == nil || m.Symbols == nil {
		return
	}
	fa := m.fileAddr(pc)
	if n := startingCalls(m, fa, m.Symbols.CallsAt(fa)); n > 0 {
		s.hidden = hiddenCalls{t, pc, n}
	}
}
