package dap

import (
	"strings"
	"testing"

	godap "github.com/google/go-dap"

	"dbg/internal/fixture"
)

// A variable without a value has the reason in its type, which editors show as a tooltip; a hover has it
// in its result.
func TestExplain(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "types/why.c", "-g", "-O2")
	c := connect(t, Options{})
	c.start("launch", object{"program": exe})
	c.ok("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "stop"}}}, nil)
	c.ok("configurationDone", nil, nil)
	frame := c.frames(c.stop("function breakpoint").ThreadID)[1].Id
	vars := c.vars(c.scope(frame, "Locals"))
	if v := vars["after"]; v.Value != "<optimized out>" || !strings.HasPrefix(v.Type, "int\nThe 3 entries of its location list do not cover the PC") {
		c.fail("after is %q, type %q", v.Value, v.Type)
	}
	if v := vars["twice"]; v.Value != "2" || v.Type != "int" {
		c.fail("twice is %q, type %q", v.Value, v.Type)
	}
	for context, want := range map[string]string{"hover": "<optimized out>: The 3 entries", "watch": "<optimized out>"} {
		var r godap.EvaluateResponseBody
		c.ok("evaluate", object{"expression": "after", "frameId": frame, "context": context}, &r)
		if !strings.HasPrefix(r.Result, want) || context == "watch" && r.Result != want {
			c.fail("%s: after is %q", context, r.Result)
		}
	}
}
