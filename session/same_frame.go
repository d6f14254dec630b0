package session

import "dbg/target"

// frameMark tells whether a later stop is in the same frame as the selected one was when a step began: by its CFA and its function.
type frameMark struct {
	cfa      target.Addr
	function string
	known    bool
}

// markFrame marks the selected frame.
func (s *Session) markFrame() frameMark {
	f, err := s.frame(s.selected, s.level)
	if err != nil {
		return frameMark{}
	}
	return markOf(&f)
}

// markOf marks a frame.
func markOf(f *Frame) frameMark { return frameMark{f.Machine.CFA, f.FunctionName, true} }

// is reports whether a frame is the marked one.
func (m frameMark) is(f *Frame) bool {
	return m.known && f.Machine.CFA == m.cfa && f.FunctionName == m.function
}
