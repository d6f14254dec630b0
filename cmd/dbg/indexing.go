package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"dbg/internal/plain"
	"dbg/symbols/names"
)

// soon is how long an index may take without a word.
const soon = 500 * time.Millisecond

// indexing tells on a terminal how far an index of names is; it is nil where standard error is none.
func indexing() func(names.Progress) {
	if !isTerminal(os.Stderr) {
		return nil
	}
	return showIndexing(os.Stderr, time.Now)
}

// showIndexing writes a line that is written over, and away at the end.
func showIndexing(w io.Writer, now func() time.Time) func(names.Progress) {
	var mu sync.Mutex // of the rest
	var begun time.Time
	shown := false
	return func(p names.Progress) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case p.End:
			if shown {
				fmt.Fprint(w, "\r\x1b[K")
			}
			begun, shown = time.Time{}, false
		case begun.IsZero():
			begun = now()
		case shown || now().Sub(begun) >= soon:
			shown = true
			fmt.Fprintf(w, "\rReading the names of %s: %d%%\x1b[K", plain.Line(filepath.Base(p.Path)), p.Done*100/max(1, p.Total))
		}
	}
}
