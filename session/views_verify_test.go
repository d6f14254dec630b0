package session_test

import (
	"testing"

	"dbg/eval/view"
	"dbg/internal/fixture"
)

// TestCompiledViews evaluates each expression of a view twice, compiled and by its tree, and fails if the
// results differ. With DBG_ALL it does so in all builds.
func TestCompiledViews(t *testing.T) {
	view.Verify.Store(true)
	defer view.Verify.Store(false)
	before := view.Compiled.Load()
	for i, b := range viewBuilds {
		if i > 0 && !fixture.All() {
			break
		}
		t.Run(b.name, func(t *testing.T) {
			standardViews(t, "std.cc", 4, b.name, b.flags)
			standardViews(t, "early.cc", 1, b.name, b.flags)
		})
	}
	if n := view.Compiled.Load() - before; n < 5_000 {
		t.Errorf("only %d results of compiled expressions were compared", n)
	} else {
		t.Logf("%d results of compiled expressions are those of the tree", n)
	}
}
