package session_test

import (
	"strings"
	"testing"
)

// TestSystemViews is TestStandardViews for error codes, string streams, and iterators at the ends.
func TestSystemViews(t *testing.T) {
	for _, b := range viewBuilds {
		if !strings.Contains(b.name, "oldabi") {
			t.Run(b.name, func(t *testing.T) { standardViews(t, "system.cc", 1, b.name, b.flags) })
		}
	}
}
