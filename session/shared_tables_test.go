package session

import (
	"testing"

	"dbg/internal/fixture"
)

// TestTablesAreShared opens the cores of two runs of a program in two sessions of a group: the modules of
// each file share its tables, those of another group do not.
func TestTablesAreShared(t *testing.T) {
	exe := fixture.Build(t, "torture/chain.c", "-O0")
	one := New(Config{})
	defer one.CloseGroup()
	two, err := one.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	other := New(Config{})
	defer other.Close()
	for _, s := range []*Session{one, two, other} {
		if err := s.OpenCore(fixture.Core(t, exe), ""); err != nil {
			t.Fatal(err)
		}
	}
	// count returns the number of files that both have, and of those that share tables.
	count := func(a, b *Session) (files, shared int) {
		for _, m := range a.modules.all {
			for _, n := range b.modules.all {
				if m.Path != n.Path || m.unwind == nil || n.unwind == nil || m.Path == "[vdso]" {
					continue
				}
				files++
				if m.unwind == n.unwind || m.unwind.Bias() != m.Bias || n.unwind.Bias() != n.Bias {
					t.Errorf("%s: modules %p and %p, biases %#x and %#x", m.Path, m.unwind, n.unwind, m.unwind.Bias(), n.unwind.Bias())
				}
				if m.unwind.SharesTables(n.unwind) {
					shared++
				}
			}
		}
		return files, shared
	}
	if files, shared := count(one, two); files < 3 || shared != files {
		t.Errorf("of one group: %d files, %d share tables", files, shared)
	}
	if files, shared := count(one, other); files < 3 || shared != 0 {
		t.Errorf("of two groups: %d files, %d share tables", files, shared)
	}
}
