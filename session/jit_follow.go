package session

import (
	"dbg/jit"
	"dbg/target"
)

// followJIT follows the code that the program generates from now on. It sets an internal breakpoint
// on the function that the program calls after each change of its list. As for the dynamic linker,
// this starts when the process is about to run for the first time.
func (s *Session) followJIT() {
	s.made.noCode = false
	s.findJIT(s.awaitsCode())
}

// awaitsCode reports whether a breakpoint waits for code that does not exist yet.
func (s *Session) awaitsCode() bool {
	for _, b := range s.breakpoints.all {
		if !b.Spec.HasAddr && len(b.Places) == 0 {
			return true
		}
	}
	return false
}

// followLists sets the breakpoints for the lists that are not followed yet.
func (s *Session) followLists() {
	if s.proc == nil {
		return
	}
	for _, l := range s.made.lists {
		if l.followed || l.register == 0 {
			continue
		}
		l.followed = true
		if err := s.breakpoints.setInternal(s, l.register, internalJIT); err != nil {
			s.jitTrouble(l, err)
		}
	}
}

// dropLists drops the lists of modules that were unmapped.
func (s *Session) dropLists(gone map[string]*Module) {
	if len(gone) == 0 || len(s.made.lists) == 0 {
		return
	}
	var kept []*jitList
	for _, l := range s.made.lists {
		unmapped := false
		for _, m := range gone {
			unmapped = unmapped || m == l.module
		}
		if !unmapped {
			kept = append(kept, l)
			continue
		}
		for len(l.entries) > 0 {
			s.dropEntry(l, l.entries[len(l.entries)-1].Addr)
		}
		if l.followed {
			s.breakpoints.clearInternal(s, l.register, internalJIT)
		}
	}
	s.made.lists = kept
}

// jitRule is the judge's information about a site where a program reports changes of its list.
type jitRule struct {
	layout     jit.Layout
	descriptor target.Addr
}

// report records a change that the program has just made. It runs on the tracer's thread.
func (c *madeCode) report(r *jitRule, mem target.Memory) {
	d, err := r.layout.ReadDescriptor(mem, r.descriptor)
	c.changes.Lock()
	defer c.changes.Unlock()
	switch {
	case err != nil || len(c.changes.list) >= maxJITReports:
		c.changes.list, c.changes.lost = nil, true
	case !c.changes.lost && d.Action != jit.NoAction:
		c.changes.list = append(c.changes.list, jitChange{r.descriptor, d.Action, d.Relevant})
	}
}

// onJIT handles a thread that was parked where it reports a change, because a breakpoint may get a
// place in the new code.
func (s *Session) onJIT() {
	if s.updateJIT() {
		s.resolveAll()
	}
}

// wantsNewCode reports whether a breakpoint may get a place in code that the program generates.
func (s *Session) wantsNewCode() bool {
	for _, b := range s.breakpoints.all {
		if !b.Spec.HasAddr { // a disabled one, too, must not keep places in removed code
			return true
		}
	}
	return false
}

// jitRules adds the sites of the lists to a rule set.
func (s *Session) jitRules(at func(target.Addr) *siteRule) {
	named := s.wantsNewCode()
	for _, l := range s.made.lists {
		if l.followed && s.breakpoints.hasInternal(l.register, internalJIT) {
			r := at(l.register)
			r.jit = append(r.jit, jitRule{l.layout, l.descriptor})
			r.named = named
		}
	}
}
