package dap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	godap "github.com/google/go-dap"

	"dbg/internal/fixture"
)

// TestDynamicTypes: an editor shows objects of C++ with the members of their own classes, whatever the
// pointer's type is. The expressions that it gets for these members evaluate to them.
func TestDynamicTypes(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "types/objects.cc", "-g", "-O0")
	source := filepath.Join(fixture.Root(), "testdata/types/objects.cc")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "    new Whole;")
	c := connect(t, Options{})
	c.start("launch", object{"program": exe})
	c.breakAt(source, strings.Count(before, "\n")+1)
	c.ok("configurationDone", nil, nil)
	frame := c.frames(c.stop("breakpoint").ThreadID)[0].Id
	for _, x := range []struct{ expr, class, member, want string }{
		{"square", "shapes::Square", "side", "3"},
		{"label", "shapes::Label", "text", "4"},
		{"second", "shapes::Label", "text", "4"},
		{"top", "Bottom", "b", "13"},
		{"*square", "shapes::Square", "side", "3"},
	} {
		var r godap.EvaluateResponseBody
		c.ok("evaluate", object{"expression": x.expr, "frameId": frame, "context": "watch"}, &r)
		if !strings.Contains(r.Result, x.class) {
			c.fail("%s: %q, want one of %s", x.expr, r.Result, x.class)
		}
		m, ok := c.vars(r.VariablesReference)[x.member]
		if !ok || m.Value != x.want {
			c.fail("%s: member %s is %q, want %s", x.expr, x.member, m.Value, x.want)
			continue
		}
		var again godap.EvaluateResponseBody
		c.ok("evaluate", object{"expression": m.EvaluateName, "frameId": frame, "context": "watch"}, &again)
		if again.Result != x.want {
			c.fail("%s: %q, want %s", m.EvaluateName, again.Result, x.want)
		}
	}
	// A base is shown as a base: not as the object again, without an end.
	var r godap.EvaluateResponseBody
	c.ok("evaluate", object{"expression": "label", "frameId": frame, "context": "watch"}, &r)
	for name, v := range c.vars(r.VariablesReference) {
		if strings.HasPrefix(name, "<") || v.Name != name {
			if _, again := c.vars(v.VariablesReference)["text"]; again {
				c.fail("the base %s has the members of the object", name)
			}
		}
	}
}
