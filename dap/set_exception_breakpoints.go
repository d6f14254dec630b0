package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// exceptionKinds are the filters for exceptions. Signals need none: they stop the program by their
// own rules.
var exceptionKinds = []struct {
	filter, label, about string
	kind                 session.CatchKind
	typed                bool // a condition can select by type
}{
	{"throw", "C++: throw", "Stop when a C++ exception is thrown.", session.CatchThrow, true},
	{"catch", "C++: catch", "Stop when a C++ exception is caught.", session.CatchCatch, true},
	{"rethrow", "C++: rethrow", "Stop when a C++ exception is thrown again.", session.CatchRethrow, true},
	{"panic", "Go, Rust: panic", "Stop when a panic begins.", session.CatchPanic, true},
}

// exceptionFilters lists the filters for the client.
func exceptionFilters() []godap.ExceptionBreakpointsFilter {
	var out []godap.ExceptionBreakpointsFilter
	for _, k := range exceptionKinds {
		out = append(out, godap.ExceptionBreakpointsFilter{Filter: k.filter, Label: k.label, Description: k.about,
			SupportsCondition: k.typed, ConditionDescription: "A regular expression for the type"})
	}
	return out
}

// setExceptionBreakpoints replaces the catchpoints for exceptions. A filter's condition is a
// regular expression for the type.
func (s *server) setExceptionBreakpoints(_ context.Context, args godap.SetExceptionBreakpointsArguments) (any, error) {
	var wishes []wanted
	add := func(filter, match string) {
		var w wanted
		w.err = badArguments("there is no filter %q", cut(filter))
		for _, k := range exceptionKinds {
			if k.filter == filter {
				w.err = nil
				w.Spec.Catch = &session.CatchSpec{Kind: k.kind, Match: match}
				w.Spec.Text = k.label
			}
		}
		wishes = append(wishes, w)
	}
	for _, f := range args.Filters {
		add(f, "")
	}
	for _, f := range args.FilterOptions {
		add(f.FilterId, f.Condition)
	}
	return s.replace(group{kind: exceptionGroup}, wishes), nil
}
