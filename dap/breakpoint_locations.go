package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// maxLocationLines bounds one request.
const maxLocationLines = 2000

// breakpointLocations lists the lines of a range that have code.
func (s *server) breakpointLocations(ctx context.Context, args godap.BreakpointLocationsArguments) (any, error) {
	file := s.client.ourPath(args.Source.Path)
	if file == "" {
		return nil, badArguments("the source has no path")
	}
	first := s.client.ourLine(args.Line)
	last := first
	if args.EndLine > args.Line {
		last = s.client.ourLine(args.EndLine)
	}
	if first < 1 || last-first > maxLocationLines {
		return nil, badArguments("a range of lines from %d to %d", args.Line, args.EndLine)
	}
	list := []godap.BreakpointLocation{}
	for line := first; line <= last && ctx.Err() == nil; line++ {
		columns := map[int]bool{}
		for _, name := range s.sources.recorded(file) {
			places, err := s.sess.FindLocation(session.LocationSpec{File: name, Line: line})
			if err != nil {
				continue
			}
			for _, p := range places {
				if p.Position.Line != line || columns[p.Position.Column] {
					continue // a line without code stands for a later one
				}
				columns[p.Position.Column] = true
				loc := godap.BreakpointLocation{Line: s.client.line(line)}
				if p.Position.Column > 0 {
					loc.Column = s.client.column(p.Position.Column)
				}
				list = append(list, loc)
			}
			break
		}
	}
	return godap.BreakpointLocationsResponseBody{Breakpoints: list}, ctx.Err()
}
