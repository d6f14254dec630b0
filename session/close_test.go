package session_test

import (
	"os"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestCloseUnmaps: a session that is closed leaves no file mapped, separate debug files among them.
func TestCloseUnmaps(t *testing.T) {
	core := fixture.Core(t, fixture.Build(t, "c/abort3.c", "-g"))
	mapped := func() int {
		data, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			fixture.Missing(t, err)
		}
		return strings.Count(string(data), ".debug\n") + strings.Count(string(data), ".so") + strings.Count(string(data), "abort3")
	}
	before := mapped()
	s := session.New(session.Config{})
	if err := s.OpenCore(core, ""); err != nil {
		t.Fatal(err)
	}
	list, _ := s.Threads()
	if bt, err := s.Backtrace(list[0].ID, 0, 0); err != nil || len(bt.Frames) < 5 || mapped() == before {
		t.Errorf("%d frames, %v, %d files mapped", len(bt.Frames), err, mapped()-before)
	}
	s.Close()
	if n := mapped(); n != before {
		t.Errorf("%d files are still mapped", n-before)
	}
}
