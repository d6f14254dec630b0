package dap

import (
	"context"
	"strings"

	godap "github.com/google/go-dap"
)

// setFunctionBreakpoints makes the list the breakpoints on functions. A name is what
// the break command of the terminal takes: f, ns::f, file.c:f.
func (s *server) setFunctionBreakpoints(_ context.Context, args godap.SetFunctionBreakpointsArguments) (any, error) {
	wishes := make([]wanted, len(args.Breakpoints))
	for i, b := range args.Breakpoints {
		var w wanted
		w.Spec.Condition, w.Spec.HitCondition = b.Condition, b.HitCondition
		name := strings.TrimSpace(b.Name)
		switch {
		case name == "":
			w.err = badArguments("a function breakpoint without a name")
		case strings.Contains(strings.ReplaceAll(name, "::", ""), ":"):
			w.Spec.LocationSpec, w.err = s.query.ParseLocation(name)
		default:
			w.Spec.Function = name
		}
		wishes[i] = w
	}
	return s.replace(group{kind: functionGroup}, wishes), nil
}
