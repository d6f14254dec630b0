package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// setBreakpointsArguments holds the arguments of setBreakpoints.
type setBreakpointsArguments struct {
	Source      godap.Source             `json:"source"`
	Breakpoints []godap.SourceBreakpoint `json:"breakpoints"`
	Lines       []int                    `json:"lines"`
}

// setBreakpoints replaces the breakpoints of one file.
func (s *server) setBreakpoints(_ context.Context, args setBreakpointsArguments) (any, error) {
	name := args.Source.Path
	if name == "" {
		name = args.Source.Name
	}
	if name == "" {
		return nil, badArguments("the source has neither a path nor a name")
	}
	list := args.Breakpoints
	if list == nil {
		for _, line := range args.Lines { // the older form of the request
			list = append(list, godap.SourceBreakpoint{Line: line})
		}
	}
	file := s.client.ourPath(name)
	names := s.query.RecordedSources(file)
	wishes := make([]wanted, len(list))
	for i, b := range list {
		w := wanted{line: s.client.ourLine(b.Line)}
		w.Spec = session.BreakpointSpec{Condition: b.Condition, HitCondition: b.HitCondition, LogMessage: b.LogMessage}
		w.Spec.File, w.Spec.Line, w.Files = names[0], w.line, names[1:]
		if b.Column > 0 {
			w.Spec.Column = s.client.ourColumn(b.Column)
		}
		if w.line < 1 {
			w.err = badArguments("there is no line %d", b.Line)
		}
		wishes[i] = w
	}
	return s.replace(group{sourceGroup, file}, wishes), nil
}
