package dap

import (
	"os"
	"strings"
	"testing"

	"dbg/internal/fixture"

	godap "github.com/google/go-dap"
)

// The answer to a breakpoint has a column only if the client asked for one: an editor moves its mark there. A column that was
// asked for is where the program stops.
func TestColumns(t *testing.T) {
	t.Parallel()
	exe, source := fixture.Build(t, "../symbols/testdata/columns.c", "-g", "-O0"), fixture.Root()+"/symbols/testdata/columns.c"
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	const busy = 4
	code := strings.Split(string(text), "\n")[busy-1]
	multiply := strings.Index(code, "x *=") + 1
	c := connect(t, Options{})
	c.start("launch", object{"program": exe})
	var b breakpointsBody
	set := func(wish object) breakpointBody {
		t.Helper()
		c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{wish}}, &b)
		if len(b.Breakpoints) != 1 || !b.Breakpoints[0].Verified {
			c.fail("%v: %+v", wish, b)
		}
		return b.Breakpoints[0]
	}
	if got := set(object{"line": busy}); got.Column != nil {
		c.fail("the column %d was not asked for", *got.Column)
	}
	got := set(object{"line": busy, "column": multiply})
	if got.Column == nil || *got.Column < multiply || *got.Column >= strings.Index(code, "for")+1 {
		c.fail("%+v", got)
	}
	if got := set(object{"line": busy, "column": 1}); got.Column == nil || *got.Column >= multiply {
		c.fail("%+v", got)
	}
	var locations godap.BreakpointLocationsResponseBody
	c.ok("breakpointLocations", object{"source": object{"path": source}, "line": busy}, &locations)
	found := false
	for i, l := range locations.Breakpoints {
		found = found || l.Column == *got.Column
		if l.Line != busy || i > 0 && l.Column <= locations.Breakpoints[i-1].Column {
			c.fail("%+v", locations)
		}
	}
	if !found || len(locations.Breakpoints) < 4 {
		c.fail("%+v", locations)
	}
	set(object{"line": busy, "column": multiply})
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	frame := c.frames(st.ThreadID)[0]
	if x := c.evaluate(frame.Id, "x"); frame.Line != busy || frame.Column != *got.Column || x != "1" {
		c.fail("x is %s in %+v", x, frame)
	}
}
