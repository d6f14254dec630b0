package session

import "slices"

// StopInMain sets a temporary breakpoint on main, where users want to see a program first. It
// returns an error if there is no main.
func (s *Session) StopInMain() (Breakpoint, error) {
	spec := BreakpointSpec{LocationSpec: LocationSpec{Text: "main", Function: "main"}, Temporary: true}
	b, err := s.SetBreakpoint(spec, false)
	if err == nil {
		s.inMain.Store(int64(b.ID))
	}
	return b, err
}

// ForgetEntry removes the breakpoint of StopInMain, if it still exists. It is called after the
// program has stopped anywhere.
func (s *Session) ForgetEntry() {
	if id := s.inMain.Swap(0); id != 0 {
		_ = s.DeleteBreakpoint(int(id)) // it may have been deleted
	}
}

// AtEntry reports whether a stop is at the breakpoint of StopInMain.
func (s *Session) AtEntry(st *Stop) bool {
	return slices.Contains(st.Breakpoints, int(s.inMain.Load()))
}
