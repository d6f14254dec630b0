package session_test

import (
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
)

// A user's own views: every kind of element on a program's values.
func TestNatvis(t *testing.T) {
	c := stopIn(t, "view/shapes.cc", "-g", "-O0")
	problems, err := c.AddViews(filepath.Join(fixture.Root(), "testdata/view/shapes.natvis"))
	c.must(err)
	for _, p := range problems {
		t.Error(p)
	}
	for _, x := range [][2]string{
		{"point", "(3, -4) |25| {hex 0x3} = {[x] = 3, [below] = true, [sum] = sum -1}"},
		{"named", `"a name" at (1, 2) |5| {hex 0x1} = {[x] = 1, [above] = true, [sum] = sum 3} a name`},
		{"stack", "3 of 4, 4 bytes each = {[room] = 4, [0] = 1, [1] = 2, [2] = 3}"},
		{"empty", "empty = {[room] = 4}"},
		{"points", "points of 1 = {(3, -4) |25| {hex 0x3} = {[x] = 3, [below] = true, [sum] = sum -1}}"},
		{"chain", "{ count=3 } = {10, 20, 30}"},
		{"none", "{ count=0 }"},
		{"tree", "{key 1 = 10, key 2 = 20, key 3 = 30}"},
		{"nothing", "null"},
		{"matrix", "2 x 3 = {1, 2, 3, 4, 5, 6}"},
		{"circle", "circle 7 of 1.5"},
		{"flags", "101 = {true, false, true}"},
		{"sparse", "{slot 1 = 11, slot 4 = 14, found = 2}"},
		{"derived", "2 of 4, 4 bytes each = {[room] = 4, [0] = 1, [1] = 2}"},
		{"red", "Red = {code = 0x11}"},
		{"green", "Green = {shade = 0.5}"},
		{"old", "old 8"},
		// Methods, operators and the memory.
		{"stack.top()", "3"},
		{"point.norm()", "25"},
		{"owner->x", "3"},
		{"owner[0].y", "-4"},
		{"(*owner).x + 1", "4"},
		{"derived.more", "9"},
	} {
		c.expect(x[0], x[1])
	}
	v, err := c.Evaluate(c.thread, 0, "point")
	c.must(err)
	if got := c.FormatIn(c.thread, 0, v, eval.Options{Raw: true}); got != "{x = 3, y = -4}" {
		t.Errorf("the memory is %s", got)
	}
	// A view that refers to itself ends.
	if got := c.value("loop"); len(got) > 10_000 || strings.Contains(got, "error") {
		t.Errorf("loop: %.200s", got)
	}
	names := ""
	v, err = c.Evaluate(c.thread, 0, "matrix")
	c.must(err)
	list, err := c.Children(c.thread, 0, v, 0, 0)
	c.must(err)
	for _, item := range list {
		names += item.Name
	}
	if want := "[0,0][0,1][0,2][1,0][1,1][1,2][Raw View]"; names != want {
		t.Errorf("children %s, want %s", names, want)
	}
}
