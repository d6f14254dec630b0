package session

import (
	"slices"

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

// atInlinedLine reports whether a step over lines has reached another line of its frame that begins
// with an inlined call. It then hides that call.
func (st *lineStep) atInlinedLine(s *Session, t target.ThreadID, m *Module, pc target.Addr) bool {
	calls := m.Symbols.CallsAt(m.fileAddr(pc))
	deeper := len(calls) - st.depth
	if deeper <= 0 || deeper >= len(calls) {
		return false
	}
	line := calls[deeper].Position
	if line.Line == 0 || line.Line == st.pos.Line && line.File == st.pos.File {
		return false
	}
	s.hidden = hiddenCalls{t, pc, deeper}
	return true
}
