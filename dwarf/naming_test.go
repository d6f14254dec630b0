package dwarf

import (
	"slices"
	"testing"
)

// TestUnitsNaming checks that the result includes every unit that has an entry with the name.
func TestUnitsNaming(t *testing.T) {
	anyTag := func(t Tag) bool { return t != TagCompileUnit && t != TagTypeUnit && t != TagSkeletonUnit }
	for _, p := range fuzzSections() {
		d := New(p, false)
		units, _ := d.Units()
		all := map[string][]*Unit{}
		for _, u := range units {
			e, err := u.Entry(u.First)
			if err != nil {
				t.Fatal(err)
			}
			e.Walk(func(c *Entry, _ int) bool {
				if name := string(c.Bytes(AttrName)); name != "" && anyTag(c.Tag) {
					all[name] = append(all[name], u)
				}
				return true
			}, nil)
		}
		if len(all) < 5 && !d.HasSkeletons() {
			t.Errorf("%d names", len(all))
		}
		for name, want := range all {
			got, ok := d.UnitsNaming(name, false, anyTag)
			if !ok {
				t.Errorf("%s: not known", name)
			}
			for _, u := range want {
				if !slices.Contains(got, u) {
					t.Errorf("%s: the unit at 0x%x is missing", name, u.Offset)
				}
			}
		}
		if got, ok := d.UnitsNaming("no such name", true, anyTag); !ok || len(got) != 0 {
			t.Errorf("%d units have a name that is not there, %v", len(got), ok)
		}
	}
}
