package repl

import (
	"fmt"

	"dbg/session"
)

// fetching prints that debug information is being downloaded, or was downloaded.
func (sh *shell) fetching(ev session.Fetching) {
	name := ev.Path
	if name == "" {
		name = "build id " + ev.BuildID
	}
	switch {
	case ev.End && ev.Err != nil:
		sh.out.Flush()
		fmt.Fprintf(sh.err, "warning: can't download debug information for %s from %s: %v\n", name, ev.URL, ev.Err)
	case ev.End:
		fmt.Fprintf(sh.out, "[Downloaded %s of debug information for %s]\n", bytesText(ev.Done), name)
	case ev.Done == 0 && !sh.opts.Batch:
		size := ""
		if ev.Total > 0 {
			size = bytesText(ev.Total) + " of "
		}
		fmt.Fprintf(sh.out, "[Downloading %sdebug information for %s from %s]\n", size, name, ev.URL)
	}
}

func bytesText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
