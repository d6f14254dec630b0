package eval

import "testing"

// TestNearest compares names by their edits.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name, want string
		candidates []string
	}{
		{"conut", "count", []string{"main", "count", "amount"}},
		{"Count", "count", []string{"counter", "count"}},
		{"lenght", "length", []string{"weight", "length"}},
		{"nosuch", "", []string{"main", "such_a_name", "no"}},
		{"x", "", []string{"y", "z", "xy"}},
		{"x", "X", []string{"y", "X"}},
		{"idx", "id", []string{"id", "size"}},
		{"buffersize", "buffer_size", []string{"buffer", "buffer_size"}},
		{"ab", "", []string{"_vptr", "cd", ""}},
	} {
		n := NewNearest(c.name)
		for _, x := range c.candidates {
			n.Add(x)
		}
		if n.Best() != c.want {
			t.Errorf("%s: %q, want %q", c.name, n.Best(), c.want)
		}
	}
	n := NewNearest("count")
	for i := 1; n.Add("other"); i++ {
		if i > maxCandidates {
			t.Fatal("the number of candidates has no limit")
		}
	}
}
