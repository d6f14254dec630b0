package dap

import (
	"dbg/session"

	godap "github.com/google/go-dap"
)

// group says by which request a breakpoint was set: that request replaces all of its group.
type group struct {
	kind groupKind
	file string // of sourceGroup: the client's own name for the file
}

type groupKind uint8

const (
	sourceGroup groupKind = iota
	functionGroup
	instructionGroup
)

// wanted is one breakpoint of a request.
type wanted struct {
	spec   session.BreakpointSpec
	line   int                      // asked for; 0 if none was
	others []session.BreakpointSpec // other names for the same place, tried if spec has none
	err    error                    // what is wrong with it
}

// clientBreakpoint is a breakpoint that this client has set.
type clientBreakpoint struct {
	id    int
	group group
	key   breakpointKey
	sent  breakpointBody // as the client knows it
}

// breakpointKey is what makes two wishes the same.
type breakpointKey struct {
	location                            session.LocationSpec
	condition, hitCondition, logMessage string
}

func keyOf(spec session.BreakpointSpec) breakpointKey {
	return breakpointKey{spec.LocationSpec, spec.Condition, spec.HitCondition, spec.LogMessage}
}

// breakpointTable is the client's breakpoints.
type breakpointTable struct {
	byID   map[int]*clientBreakpoint
	groups map[group][]*clientBreakpoint
}

func newBreakpointTable() breakpointTable {
	return breakpointTable{map[int]*clientBreakpoint{}, map[group][]*clientBreakpoint{}}
}

// breakpointBody is godap.Breakpoint with lines that may be 0.
type breakpointBody struct {
	ID                   int           `json:"id,omitempty"`
	Verified             bool          `json:"verified"`
	Message              string        `json:"message,omitempty"`
	Reason               string        `json:"reason,omitempty"` // why it is not verified: "pending" or "failed"
	Source               *godap.Source `json:"source,omitempty"`
	Line                 *int          `json:"line,omitempty"`
	Column               *int          `json:"column,omitempty"`
	InstructionReference string        `json:"instructionReference,omitempty"`
}

// same reports whether two of them say the same.
func (b *breakpointBody) same(c *breakpointBody) bool {
	number := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	path := func(s *godap.Source) string {
		if s == nil {
			return ""
		}
		return s.Path
	}
	return b.Verified == c.Verified && b.Message == c.Message && number(b.Line) == number(c.Line) && number(b.Column) == number(c.Column) &&
		path(b.Source) == path(c.Source) && b.InstructionReference == c.InstructionReference
}

// breakpointsBody is the answer to all requests that set breakpoints.
type breakpointsBody struct {
	Breakpoints []breakpointBody `json:"breakpoints"`
}

// replace makes list the breakpoints of a group. Those that were there before
// stay as they are, with their numbers and counts.
func (s *server) replace(g group, list []wanted) breakpointsBody {
	t := &s.breakpoints
	old := map[breakpointKey][]*clientBreakpoint{}
	for _, b := range t.groups[g] {
		old[b.key] = append(old[b.key], b)
	}
	kept := make([]*clientBreakpoint, len(list))
	for i, w := range list {
		if same := old[keyOf(w.spec)]; w.err == nil && len(same) > 0 {
			kept[i], old[keyOf(w.spec)] = same[0], same[1:]
		}
	}
	for _, gone := range old {
		for _, b := range gone {
			delete(t.byID, b.id)
			if err := s.sess.DeleteBreakpoint(b.id); err != nil {
				s.logf("deleting a breakpoint: %v", err)
			}
		}
	}
	now := s.present()
	body := breakpointsBody{Breakpoints: make([]breakpointBody, len(list))}
	var all []*clientBreakpoint
	for i, w := range list {
		b := kept[i]
		if b == nil {
			made, err := s.setBreakpoint(w)
			if err != nil {
				body.Breakpoints[i] = s.refused(g, w, err)
				continue
			}
			now[made.ID] = made
			b = &clientBreakpoint{id: made.ID, group: g, key: keyOf(w.spec)}
			t.byID[b.id] = b
		}
		b.sent = s.describeBreakpoint(b, now[b.id])
		body.Breakpoints[i] = b.sent
		all = append(all, b)
	}
	t.groups[g] = all
	if len(all) == 0 {
		delete(t.groups, g)
	}
	return body
}

// setBreakpoint sets one, pending if it has no place yet.
func (s *server) setBreakpoint(w wanted) (session.Breakpoint, error) {
	if w.err != nil {
		return session.Breakpoint{}, w.err
	}
	if s.start.NoDebug {
		return session.Breakpoint{}, &requestError{id: codeFailed, text: "the program runs without debugging"}
	}
	for _, spec := range w.others {
		if _, err := s.sess.FindLocation(w.spec.LocationSpec); err == nil {
			break
		}
		if _, err := s.sess.FindLocation(spec.LocationSpec); err == nil {
			w.spec = spec
			break
		}
	}
	return s.sess.SetBreakpoint(w.spec, true)
}

// refused is the answer for a breakpoint that can't be.
func (s *server) refused(g group, w wanted, err error) breakpointBody {
	b := breakpointBody{Message: err.Error(), Reason: "failed"}
	if w.line > 0 {
		b.Line = new(s.client.line(w.line))
	}
	return b
}

// present is all breakpoints of the session by number.
func (s *server) present() map[int]session.Breakpoint {
	out := map[int]session.Breakpoint{}
	for _, b := range s.sess.Breakpoints() {
		out[b.ID] = b
	}
	return out
}

// describeBreakpoint says how a breakpoint stands.
func (s *server) describeBreakpoint(b *clientBreakpoint, now session.Breakpoint) breakpointBody {
	body := breakpointBody{ID: b.id, Verified: len(now.Places) > 0 && now.Problem == ""}
	if s.phase.get() == phaseLoaded && s.sess.State() == session.IsCore {
		body.Verified, now.Problem = false, errCore.text
	}
	if !body.Verified {
		body.Message, body.Reason = now.Problem, "pending"
		if body.Message == "" {
			body.Message = "no code there yet"
		}
	}
	if line := now.Spec.Line; line > 0 {
		body.Line = new(s.client.line(line))
	}
	if b.group.kind == sourceGroup {
		body.Source = s.sourceOf(s.sess.LocalSource(now.Spec.File))
	}
	if len(now.Places) > 0 {
		p := now.Places[0]
		body.InstructionReference = memoryReference(p.Addr)
		if p.Position.Line > 0 {
			body.Line = new(s.client.line(p.Position.Line))
			body.Source = s.sourceOf(p.Position.File)
			// An editor moves the mark to a column that it did not ask for.
			if now.Spec.Column > 0 && p.Position.Column > 0 {
				body.Column = new(s.client.column(p.Position.Column))
			}
		}
	}
	return body
}

// breakpointChanged tells the client what is new about one of its breakpoints,
// if anything is. The event may be older than what was said since, so that the present
// state counts.
func (s *server) breakpointChanged(ev session.BreakpointChanged) {
	b := s.breakpoints.byID[ev.Breakpoint.ID]
	if b == nil || s.phase.get() == phaseEnded {
		return
	}
	now, ok := s.present()[b.id]
	if !ok {
		return
	}
	body := s.describeBreakpoint(b, now)
	if body.same(&b.sent) {
		return
	}
	b.sent = body
	s.event("breakpoint", struct {
		Reason     string         `json:"reason"`
		Breakpoint breakpointBody `json:"breakpoint"`
	}{"changed", body})
}

// dropBreakpoints removes all, for a program that runs without debugging.
func (s *server) dropBreakpoints() {
	for id := range s.breakpoints.byID {
		s.sess.DeleteBreakpoint(id)
	}
	s.breakpoints = newBreakpointTable()
}
