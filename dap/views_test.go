package dap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	godap "github.com/google/go-dap"

	"dbg/internal/fixture"
)

// An editor sees the items of containers, page by page, and the memory below [Raw View]. The expression
// that it gets for an item evaluates to that item.
func TestViews(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "view/paged.cc", "-g", "-O0")
	source := filepath.Join(fixture.Root(), "testdata/view/paged.cc")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "// stop")
	c := connect(t, Options{})
	c.start("launch", object{"program": exe})
	c.breakAt(source, strings.Count(before, "\n")+1)
	c.ok("configurationDone", nil, nil)
	frame := c.frames(c.stop("breakpoint").ThreadID)[0].Id
	vars := c.vars(c.scope(frame, "Locals"))
	for name, want := range map[string]struct {
		begin          string
		indexed, named int
	}{
		"many":    {"std::vector of length 100000, capacity 100000 = {0, 2, 4", 100000, 1},
		"points":  {`std::map with 2 elements = {["a"] = {x = 1, y = 2}, ["b"] = {x = 3, y = 4}}`, 2, 1},
		"squares": {"std::map with 1000 elements = {[0] = 0, [10] = 1, [20] = 4", 1000, 1},
		"owner":   {"std::unique_ptr<Point> = {get() = 0x", 1, 1},
		"text":    {`"text"`, 0, 1},
	} {
		v := vars[name]
		if !strings.HasPrefix(v.Value, want.begin) || v.IndexedVariables != want.indexed || v.NamedVariables != want.named {
			c.fail("%s: %q, %d indexed, %d named; want %+v", name, v.Value, v.IndexedVariables, v.NamedVariables, want)
		}
	}
	page := func(name, filter string, start, count int) []godap.Variable {
		var r godap.VariablesResponseBody
		c.ok("variables", object{"variablesReference": vars[name].VariablesReference, "filter": filter, "start": start, "count": count}, &r)
		return r.Variables
	}
	for _, x := range []struct {
		name, filter string
		start, count int
		want         []string // name = value
	}{
		{"many", "indexed", 50000, 2, []string{"[50000] = 100000", "[50001] = 100002"}},
		{"many", "indexed", 99999, 100, []string{"[99999] = 199998"}},
		{"many", "named", 0, 0, []string{"[Raw View] = "}},
		{"squares", "indexed", 500, 2, []string{"[5000] = 250000", "[5010] = 251001"}},
		{"points", "indexed", 1, 1, []string{`["b"] = {x = 3, y = 4}`}},
		{"points", "", 0, 0, []string{`["a"] = {x = 1, y = 2}`, `["b"] = {x = 3, y = 4}`, "[Raw View] = "}},
	} {
		list := page(x.name, x.filter, x.start, x.count)
		if len(list) != len(x.want) {
			c.fail("%+v: %d variables", x, len(list))
		}
		for i, v := range list {
			if got := v.Name + " = " + v.Value; !strings.HasPrefix(got, x.want[i]) {
				c.fail("%+v: %q", x, got)
			}
			if v.Name == "[Raw View]" {
				raw := c.vars(v.VariablesReference)
				for name, m := range raw {
					if m.EvaluateName != "" && !strings.HasPrefix(name, "<") && c.evaluate(frame, m.EvaluateName) != m.Value {
						c.fail("%s: %s is %q, want %q", x.name, m.EvaluateName, c.evaluate(frame, m.EvaluateName), m.Value)
					}
				}
				continue
			}
			if v.EvaluateName == "" || c.evaluate(frame, v.EvaluateName) != v.Value {
				c.fail("%s: %q does not evaluate to %q", x.name, v.EvaluateName, v.Value)
			}
		}
	}
	// A member of an item, and an assignment to an item.
	item := page("points", "indexed", 0, 1)[0]
	if y := c.vars(item.VariablesReference)["y"]; y.Value != "2" || c.evaluate(frame, y.EvaluateName) != "2" {
		c.fail("%+v", y)
	}
	var set godap.SetVariableResponseBody
	c.ok("setVariable", object{"variablesReference": vars["squares"].VariablesReference, "name": "[10]", "value": "77"}, &set)
	if set.Value != "77" || c.evaluate(frame, "squares[10]") != "77" {
		c.fail("the item is %s", c.evaluate(frame, "squares[10]"))
	}
}
