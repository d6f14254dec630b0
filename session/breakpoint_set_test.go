package session

import (
	"slices"
	"testing"
)

// A set that is replaced keeps the breakpoints that are wished for again, and leaves other sets and the user's own alone.
func TestReplaceBreakpoints(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	wish := func(function, condition string) BreakpointWish {
		return BreakpointWish{Spec: BreakpointSpec{LocationSpec: LocationSpec{Function: function}, Condition: condition}}
	}
	ids := func(out []BreakpointOutcome) []int {
		var list []int
		for _, o := range out {
			list = append(list, o.Breakpoint.ID) // 0: there is none
		}
		return list
	}
	own, err := s.SetBreakpoint(BreakpointSpec{LocationSpec: LocationSpec{Function: "own"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	other := ids(s.ReplaceBreakpoints("other", []BreakpointWish{wish("f", "")}))
	first := s.ReplaceBreakpoints("set", []BreakpointWish{wish("f", ""), wish("g", "x > 1"), wish("g", "x >"), wish("f", "")})
	a := ids(first)
	if a[0] == 0 || a[1] == 0 || a[2] != 0 || a[3] == 0 || a[0] == a[3] || first[2].Err == nil {
		t.Fatalf("%+v", first)
	}
	if err := s.SetIgnore(a[1], 5); err != nil { // what has changed since stays
		t.Fatal(err)
	}
	second := s.ReplaceBreakpoints("set", []BreakpointWish{wish("g", "x > 1"), wish("h", ""), wish("f", "")})
	b := ids(second)
	if b[0] != a[1] || b[2] != a[0] || slices.Contains(a, b[1]) || second[0].Breakpoint.Spec.Ignore != 5 {
		t.Errorf("%v was replaced by %v: %+v", a, b, second)
	}
	var now []int
	for _, x := range s.Breakpoints() {
		now = append(now, x.ID)
	}
	want := append([]int{own.ID, other[0]}, b...)
	if slices.Sort(want); !slices.Equal(now, want) {
		t.Errorf("breakpoints %v, want %v", now, want)
	}

	// One that somebody else has deleted is set again.
	if err := s.DeleteBreakpoint(b[1]); err != nil {
		t.Fatal(err)
	}
	c := ids(s.ReplaceBreakpoints("set", []BreakpointWish{wish("h", "")}))
	if c[0] == 0 || c[0] == b[1] {
		t.Errorf("%v after %v", c, b)
	}
	s.DropBreakpointSets()
	if list := s.Breakpoints(); len(list) != 1 || list[0].ID != own.ID {
		t.Errorf("%+v are left", list)
	}
}
