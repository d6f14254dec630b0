package dap

import (
	"strings"
	"testing"

	godap "github.com/google/go-dap"

	"dbg/internal/fixture"
)

// TestExceptionFilters: filters stop at exceptions, a condition selects by type, and exceptionInfo
// has the type and the message.
func TestExceptionFilters(t *testing.T) {
	t.Parallel()
	c := connect(t, Options{})
	c.start("launch", object{"program": fixture.Build(t, "c/exceptions.cc", "-g", "-O0")})
	var b breakpointsBody
	c.ok("setExceptionBreakpoints", object{"filters": []string{"rethrow", "none"}, "filterOptions": []object{
		{"filterId": "throw", "condition": "^std::runtime"}, {"filterId": "catch", "condition": "("}}}, &b)
	if len(b.Breakpoints) != 4 || !b.Breakpoints[0].Verified || b.Breakpoints[1].Verified || !b.Breakpoints[2].Verified || b.Breakpoints[3].Verified {
		c.fail("%+v", b)
	}
	if !strings.Contains(b.Breakpoints[1].Message, "no filter") || !strings.Contains(b.Breakpoints[3].Message, "regexp") {
		c.fail("%+v", b)
	}
	c.ok("configurationDone", nil, nil)
	for i, want := range []struct{ typ, message, description string }{
		{"std::runtime_error", "boom \x1b[31m", "exception thrown"},
		{"mine", "again", "exception rethrown"},
	} {
		st := c.stop("exception")
		if st.Description != want.description || st.Text != want.typ+": "+want.message || len(st.HitBreakpointIDs) != 1 || st.HitBreakpointIDs[0] != b.Breakpoints[2-2*i].ID {
			c.fail("%+v", st)
		}
		var info godap.ExceptionInfoResponseBody
		c.ok("exceptionInfo", object{"threadId": st.ThreadID}, &info)
		if info.ExceptionId != want.typ || info.Details == nil || info.Details.TypeName != want.typ || info.Details.Message != want.message {
			c.fail("%+v", info)
		}
		c.ok("continue", object{"threadId": st.ThreadID}, nil)
	}
	c.event("terminated", nil)
	c.ok("disconnect", nil, nil)
}
