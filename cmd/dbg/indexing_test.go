package main

import (
	"strings"
	"testing"
	"time"

	"dbg/symbols/names"
)

// TestShowIndexing: nothing is said of what is done soon; else there is one line, which is gone at the end.
func TestShowIndexing(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(1, 0)
	show := showIndexing(&out, func() time.Time { return clock })
	run := func(each time.Duration) string {
		out.Reset()
		for i := range uint64(5) {
			show(names.Progress{Path: "/bin/prog", Done: i, Total: 4})
			clock = clock.Add(each)
		}
		show(names.Progress{Path: "/bin/prog", Done: 4, Total: 4, End: true})
		return out.String()
	}
	if got := run(soon/4 - 1); got != "" {
		t.Errorf("an index that is made soon: %q", got)
	}
	want := "\rReading the names of prog: 50%\x1b[K\rReading the names of prog: 75%\x1b[K\rReading the names of prog: 100%\x1b[K\r\x1b[K"
	for range 2 {
		if got := run(soon / 2); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
