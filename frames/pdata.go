package frames

import "errors"

var errCalledLeaf = errors.New("the function has no entry, as if it were a leaf, and has made a call")

// refuseLeaf takes the site's plan away if it is that of a leaf and PC is a return address. Windows
// permits a function without an entry only if it calls nothing ("x64 exception handling",
// RUNTIME_FUNCTION).
func (w *Walk) refuseLeaf(s *site) {
	if s.plan != nil && !s.precise && s.from.HasLeaves() {
		s.plan, s.rowErr = nil, errCalledLeaf
	}
}
