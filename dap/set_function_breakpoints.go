package dap

import (
	"context"
	"strings"

	godap "github.com/google/go-dap"
)

// setFunctionBreakpoints replaces the breakpoints on functions. Names are as in the terminal's
// break command: f, ns::f, file.c:f.
func (s *server) setFunctionBreakpoints(_ context.Context, args godap.SetFunctionBreakpointsArguments) (any, error) {
	wishes := make([]wanted, len(args.Breakpoints))
	for i, b := range args.Breakpoints {
		var w wanted
		w.Spec.Condition, w.Spec.HitCondition = b.Condition, b.HitCondition
		name := strings.TrimSpace(b.Name)
		switch {
		case name == "":
			w.err = badArguments("the function breakpoint has no name")
		case strings.Contains(strings.ReplaceAll(name, "::", ""), ":"):
			w.Spec.LocationSpec, w.err = s.query.ParseLocation(name)
		default:
			w.Spec.Function = name
		}
		wishes[i] = w
	}
	return s.replace(group{kind: functionGroup}, wishes), nil
}
