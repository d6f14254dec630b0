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

// soon is the time after which the progress of an index is shown.
const soon = 500 * time.Millisecond

// indexing returns a function that shows the progress of an index of names on the terminal. It is
// nil if standard error is not a terminal.
func indexing() func(names.Progress) {
	if !isTerminal(os.Stderr) {
		return nil
	}
	return showIndexing(os.Stderr, time.Now)
}

// showIndexing returns a function that writes a line, overwrites it, and clears it at the end.
func showIndexing(w io.Writer, now func() time.Time) func(names.Progress) {
	var mu sync.Mutex // guards begun and shown
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
