package session

import "dbg/target"

// frameMark identifies the selected frame at the start of a step, by its CFA and its function. With
// it, a later stop in the same frame is recognised.
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
