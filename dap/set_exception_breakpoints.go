package dap

import (
	"context"
	"fmt"

	godap "github.com/google/go-dap"
)

// setExceptionBreakpoints answers a request that clients send to every adapter. There are no
// filters: signals stop the program by their own rules.
func (s *server) setExceptionBreakpoints(_ context.Context, args godap.SetExceptionBreakpointsArguments) (any, error) {
	body := breakpointsBody{Breakpoints: []breakpointBody{}}
	for _, f := range args.Filters {
		body.Breakpoints = append(body.Breakpoints, breakpointBody{Message: fmt.Sprintf("there is no filter %q", cut(f)), Reason: "failed"})
	}
	for _, f := range args.FilterOptions {
		body.Breakpoints = append(body.Breakpoints, breakpointBody{Message: fmt.Sprintf("there is no filter %q", cut(f.FilterId)), Reason: "failed"})
	}
	return body, nil
}
