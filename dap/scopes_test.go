package dap

import (
	"testing"

	godap "github.com/google/go-dap"
)

// One scope has the arguments and then the locals; both can be assigned to. A scope that would be empty is not sent.
func TestScopes(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"loop"}})
	c.breakAt(source, line(t, "add-body"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	frames := c.frames(st.ThreadID)
	var b godap.ScopesResponseBody
	c.ok("scopes", object{"frameId": frames[0].Id}, &b)
	if len(b.Scopes) != 2 || b.Scopes[0].Name != "Locals" || b.Scopes[0].PresentationHint != "locals" || b.Scopes[0].Expensive || b.Scopes[1].Name != "Registers" || !b.Scopes[1].Expensive {
		c.fail("%+v", b)
	}
	locals := b.Scopes[0].VariablesReference
	var v godap.VariablesResponseBody
	c.ok("variables", object{"variablesReference": locals}, &v)
	if len(v.Variables) != 3 || v.Variables[0].Name != "a" || v.Variables[1].Name != "b" || v.Variables[2].Name != "sum" {
		c.fail("%+v", v)
	}
	for name, want := range map[string]string{"a": "20", "sum": "30"} {
		var set godap.SetVariableResponseBody
		c.ok("setVariable", object{"variablesReference": locals, "name": name, "value": want}, &set)
		if set.Value != want || c.evaluate(frames[0].Id, name) != want || c.vars(locals)[name].Value != want {
			c.fail("%s: %+v", name, set)
		}
	}

	// The C library's code that calls main has no variables.
	c.ok("scopes", object{"frameId": frames[len(frames)-1].Id}, &b)
	if len(b.Scopes) != 1 || b.Scopes[0].Name != "Registers" {
		c.fail("a frame without variables: %+v", b)
	}
}
