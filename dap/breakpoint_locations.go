package dap

import (
	"context"
	"slices"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// Limits for one request.
const (
	maxLocationLines   = 2000
	maxLocationColumns = 200
)

// breakpointLocations lists the lines with code in a range. For a single line it lists all columns
// with code.
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
		return nil, badArguments("invalid range of lines: %d to %d", args.Line, args.EndLine)
	}
	list := []godap.BreakpointLocation{}
	for line := first; line <= last && ctx.Err() == nil; line++ {
		for _, name := range s.query.RecordedSources(file) {
			places, err := s.query.FindLocation(session.LocationSpec{File: name, Line: line})
			if err != nil {
				continue
			}
			columns := columnsOf(places, line)
			if first == last {
				columns = s.allColumns(ctx, name, line, columns)
			}
			for _, column := range columns {
				loc := godap.BreakpointLocation{Line: s.client.line(line)}
				if column > 0 {
					loc.Column = s.client.column(column)
				}
				list = append(list, loc)
			}
			break
		}
	}
	return godap.BreakpointLocationsResponseBody{Breakpoints: list}, ctx.Err()
}

// columnsOf lists the columns of places without duplicates. For a line without code, places are on
// a later line, and the result is empty.
func columnsOf(places []session.BreakpointPlace, line int) []int {
	var columns []int
	for _, p := range places {
		if p.Position.Line == line && !slices.Contains(columns, p.Position.Column) {
			columns = append(columns, p.Position.Column)
		}
	}
	return columns
}

// allColumns finds the columns of a line one after the other. columns are those where a breakpoint
// on the line stops.
func (s *server) allColumns(ctx context.Context, file string, line int, columns []int) []int {
	if len(columns) == 0 || columns[0] == 0 {
		return columns
	}
	for next := 1; ctx.Err() == nil && len(columns) < maxLocationColumns; {
		places, err := s.query.FindLocation(session.LocationSpec{File: file, Line: line, Column: next})
		if err != nil {
			break
		}
		found := 0
		for _, column := range columnsOf(places, line) {
			found = max(found, column)
		}
		if found < next {
			break // there is none after the last one
		}
		if !slices.Contains(columns, found) {
			columns = append(columns, found)
		}
		next = found + 1
	}
	slices.Sort(columns)
	return columns
}
