package session

import (
	"context"
	"fmt"
	"sync"

	"dbg/eval"
	"dbg/target"
)

// BreakpointWish is one breakpoint in a set that a client wants.
type BreakpointWish struct {
	Spec BreakpointSpec
	// Files holds other names of Spec.File. They are tried in order if the first name has no place.
	Files []string
}

// BreakpointOutcome is the result of a wish: the breakpoint, or an error.
type BreakpointOutcome struct {
	Breakpoint Breakpoint
	Err        error
}

// breakpointSets holds the breakpoints that were set together.
type breakpointSets struct {
	mu     sync.Mutex // guards byName; held while a set is replaced
	byName map[string][]setMember
}

// setMember is a breakpoint in a set, with its wish.
type setMember struct {
	wish wishKey
	id   int
}

// wishKey identifies a wish: wishes with equal keys are the same.
type wishKey struct {
	location                            LocationSpec
	condition, hitCondition, logMessage string
	watch                               watchKey
	catch                               catchKey
}

// catchKey is the part of a wishKey that makes two catchpoints the same.
type catchKey struct {
	set   bool
	kind  CatchKind
	match string
	// list holds the signals and the system calls.
	list string
}

func (c *CatchSpec) key() (k catchKey) {
	if c == nil {
		return k
	}
	return catchKey{true, c.Kind, c.Match, fmt.Sprint(c.Signals, c.AllSignals, c.Syscalls)}
}

// watchKey is the part of a wishKey that makes two watchpoints the same.
type watchKey struct {
	expr, typ string
	kind      WatchKind
	addr      target.Addr
	location  bool
}

func (w *WatchSpec) key() (k watchKey) {
	if w == nil {
		return k
	}
	k = watchKey{expr: w.Expr, kind: w.Kind, location: w.Location}
	if w.Value != nil {
		k.addr, k.typ = w.Value.Addr, eval.TypeName(*w.Value)
	}
	return k
}

func (w *BreakpointWish) key() wishKey {
	return wishKey{w.Spec.LocationSpec, w.Spec.Condition, w.Spec.HitCondition, w.Spec.LogMessage, w.Spec.Watch.key(), w.Spec.Catch.key()}
}

// ReplaceBreakpoints replaces the breakpoints in a client's named set. Breakpoints that the set
// already contains stay as they are, with their numbers and hit counts. The set's other breakpoints
// are deleted. A new one is pending if it has no place yet. The outcomes are in the order of the
// wishes. If the query is cancelled, the outcomes of the wishes that were not set yet hold that
// error.
func (s *Session) ReplaceBreakpoints(set string, wishes []BreakpointWish) []BreakpointOutcome {
	s.sets.mu.Lock()
	defer s.sets.mu.Unlock()
	whole := s.Under(context.Background()) // the set must stay consistent if the query is cancelled
	present := map[int]Breakpoint{}
	for _, b := range whole.Breakpoints() {
		present[b.ID] = b
	}
	before := map[wishKey][]int{}
	for _, m := range s.sets.byName[set] {
		if _, ok := present[m.id]; ok { // another client may have deleted it
			before[m.wish] = append(before[m.wish], m.id)
		}
	}
	kept := make([]int, len(wishes))
	for i := range wishes {
		k := wishes[i].key()
		if same := before[k]; len(same) > 0 {
			kept[i], before[k] = same[0], same[1:]
		}
	}
	for _, gone := range before {
		for _, id := range gone {
			if err := whole.DeleteBreakpoint(id); err != nil {
				s.logf("can't delete breakpoint %d: %v", id, err)
			}
		}
	}
	out := make([]BreakpointOutcome, len(wishes))
	var members []setMember
	for i := range wishes {
		if kept[i] != 0 {
			out[i].Breakpoint = present[kept[i]]
		} else if out[i].Breakpoint, out[i].Err = s.SetBreakpoint(s.located(&wishes[i]), true); out[i].Err != nil {
			continue
		}
		members = append(members, setMember{wishes[i].key(), out[i].Breakpoint.ID})
	}
	if s.sets.byName == nil {
		s.sets.byName = map[string][]setMember{}
	}
	s.sets.byName[set] = members
	if len(members) == 0 {
		delete(s.sets.byName, set)
	}
	return out
}

// DropBreakpointSets deletes the breakpoints of all sets.
func (s *Session) DropBreakpointSets() {
	s.sets.mu.Lock()
	defer s.sets.mu.Unlock()
	for _, members := range s.sets.byName {
		for _, m := range members {
			_ = s.DeleteBreakpoint(m.id) // it may have been deleted
		}
	}
	s.sets.byName = nil
}

// located returns a wish's spec with the first file name that has a place, or with the original
// name if none has.
func (s *Session) located(w *BreakpointWish) BreakpointSpec {
	if len(w.Files) == 0 {
		return w.Spec
	}
	if _, err := s.FindLocation(w.Spec.LocationSpec); err == nil {
		return w.Spec
	}
	for _, file := range w.Files {
		spec := w.Spec
		spec.File = file
		if _, err := s.FindLocation(spec.LocationSpec); err == nil {
			return spec
		}
	}
	return w.Spec
}
