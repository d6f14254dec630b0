package dap

import (
	"fmt"
	"maps"
	"slices"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// group identifies the request that set a breakpoint. That request replaces all breakpoints of its
// group.
type group struct {
	kind groupKind
	file string // for sourceGroup: the file's name that the client uses
}

type groupKind uint8

const (
	sourceGroup groupKind = iota
	functionGroup
	instructionGroup
	dataGroup
	exceptionGroup
)

// name returns the name of the group's breakpoint set in the session.
func (g group) name() string { return fmt.Sprintf("dap %d %s", g.kind, g.file) }

// wanted is one breakpoint of a request.
type wanted struct {
	session.BreakpointWish
	line int   // the requested line, or 0
	err  error // why it can't be set, or nil
}

// clientBreakpoint is a breakpoint that this client has set.
type clientBreakpoint struct {
	group group
	sent  breakpointBody // the state that the client knows
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

// same reports whether two bodies are equal for the client.
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

// replace replaces the breakpoints of a group by list.
func (s *server) replace(g group, list []wanted) breakpointsBody {
	var wishes []session.BreakpointWish
	for i := range list {
		if w := &list[i]; w.err == nil && s.start.NoDebug {
			w.err = &requestError{id: codeFailed, text: "the program was started without debugging"}
		} else if w.err == nil {
			wishes = append(wishes, w.BreakpointWish)
		}
	}
	outcomes := s.query.ReplaceBreakpoints(g.name(), wishes)
	maps.DeleteFunc(s.breakpoints, func(_ int, b *clientBreakpoint) bool { return b.group == g })
	body := breakpointsBody{Breakpoints: make([]breakpointBody, len(list))}
	for i, w := range list {
		if w.err == nil {
			out := outcomes[0]
			outcomes, w.err = outcomes[1:], out.Err
			if w.err == nil {
				sent := s.describeBreakpoint(g, out.Breakpoint)
				s.breakpoints[out.Breakpoint.ID] = &clientBreakpoint{g, sent}
				body.Breakpoints[i] = sent
				continue
			}
		}
		body.Breakpoints[i] = s.refused(w)
	}
	return body
}

// refused returns the answer for a breakpoint that can't be set.
func (s *server) refused(w wanted) breakpointBody {
	b := breakpointBody{Message: asRequestError(w.err).text, Reason: "failed"}
	if w.line > 0 {
		b.Line = new(s.client.line(w.line))
	}
	return b
}

// describeBreakpoint returns the current state of a breakpoint.
func (s *server) describeBreakpoint(g group, now session.Breakpoint) breakpointBody {
	body := breakpointBody{ID: now.ID, Verified: (len(now.Places) > 0 || now.Spec.Watch != nil || now.Spec.Catch != nil) && now.Problem == ""}
	if s.phase.get() == phaseLoaded && s.query.State() == session.IsCore {
		body.Verified, now.Problem = false, errCore.text
	}
	if !body.Verified {
		body.Message, body.Reason = now.Problem, "pending"
		if body.Message == "" {
			body.Message = "no code is loaded there yet"
		}
	}
	if line := now.Spec.Line; line > 0 {
		body.Line = new(s.client.line(line))
	}
	if g.kind == sourceGroup {
		body.Source = s.sourceOf(s.query.LocalSource(now.Spec.File))
	}
	if len(now.Places) > 0 {
		p := now.Places[0]
		body.InstructionReference = memoryReference(p.Addr)
		if p.Position.Line > 0 {
			body.Line = new(s.client.line(p.Position.Line))
			body.Source = s.sourceOf(p.Position.File)
			// An editor would move the mark to a column that it did not request.
			if now.Spec.Column > 0 && p.Position.Column > 0 {
				body.Column = new(s.client.column(p.Position.Column))
			}
		}
	}
	return body
}

// breakpointChanged tells the client about a change of one of its breakpoints, if there is one. The
// event may be older than the state that was last sent, so the current state is used.
func (s *server) breakpointChanged(ev session.BreakpointChanged) {
	b := s.breakpoints[ev.Breakpoint.ID]
	if b == nil || s.phase.get() == phaseEnded {
		return
	}
	all := s.query.Breakpoints()
	i := slices.IndexFunc(all, func(now session.Breakpoint) bool { return now.ID == ev.Breakpoint.ID })
	if i < 0 {
		return
	}
	body := s.describeBreakpoint(b.group, all[i])
	if body.same(&b.sent) {
		return
	}
	b.sent = body
	s.event("breakpoint", struct {
		Reason     string         `json:"reason"`
		Breakpoint breakpointBody `json:"breakpoint"`
	}{"changed", body})
}
