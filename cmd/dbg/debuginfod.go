package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"dbg/image/debuginfod"
	"dbg/internal/plain"
)

// The time that a session waits for debug information in total. Information that arrives later is
// used from then on. A batch waits longer, since nobody will look again.
const (
	patience      = time.Second
	batchPatience = 10 * time.Second
)

// debuginfodConfig returns the configuration for debuginfod servers, from the environment.
func debuginfodConfig(batch bool) debuginfod.Config {
	c := debuginfod.FromEnvironment(os.Getenv)
	c.Agent = "dbg/" + version()
	c.Patience = patience
	if batch {
		c.Patience = batchPatience
	}
	if os.Getenv("DEBUGINFOD_PROGRESS") != "" {
		c.Progress = showProgress()
	}
	return c
}

// showProgress returns a function that writes the progress of downloads to standard error, as
// elfutils' client does if DEBUGINFOD_PROGRESS is set.
func showProgress() func(debuginfod.Progress) {
	var mu sync.Mutex // several downloads may run at once
	return func(p debuginfod.Progress) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case p.End && p.Err != nil:
			fmt.Fprintf(os.Stderr, "\rDownloading from %s: %v\n", plain.Line(p.URL), p.Err)
		case p.End:
			fmt.Fprintf(os.Stderr, "\rDownloading from %s %d/%d\n", plain.Line(p.URL), p.Done, p.Done)
		case p.Total > 0:
			fmt.Fprintf(os.Stderr, "\rDownloading from %s %d/%d", plain.Line(p.URL), p.Done, p.Total)
		}
	}
}
