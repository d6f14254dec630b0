package session

import "slices"

// IgnoreHere makes the breakpoints at which the program is stopped ignore their next n hits, and
// returns their numbers. There are none if the program did not stop at a breakpoint that still
// exists.
func (s *Session) IgnoreHere(n int) []int {
	st := s.LastStop()
	if st.Reason != StopBreakpoint {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(st.Breakpoints), func(id int) bool { return s.SetIgnore(id, n) != nil })
}
