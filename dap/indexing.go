package dap

import (
	"fmt"
	"path/filepath"
	"sync"

	"dbg/symbols/names"

	godap "github.com/google/go-dap"
)

// worthTelling is the size of debug information, in bytes, from which the progress of its index is
// shown.
const worthTelling = 4 << 20

// indexing returns a function that tells the client the progress of an index of names. The lane and
// the server are busy with the query that needs the index, so these events are sent at once, not
// through the session's events.
func (s *server) indexing(also func(names.Progress)) func(names.Progress) {
	from := s.opts.progressFrom
	if from == 0 {
		from = worthTelling
	}
	var mu sync.Mutex // guards last, under and percent
	last, under, percent := 0, "", 0
	return func(p names.Progress) {
		if also != nil {
			also(p)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case !s.client.progress || p.Total < from:
		case p.End && under != "":
			s.event("progressEnd", godap.ProgressEndEventBody{ProgressId: under, Message: "done"})
			under = ""
		case p.End:
		case under == "":
			last++
			under, percent = fmt.Sprintf("index-%d", last), 0
			s.event("progressStart", godap.ProgressStartEventBody{ProgressId: under, Title: "Names of " + filepath.Base(p.Path)})
		default:
			if n := int(p.Done * 100 / max(1, p.Total)); n > percent {
				percent = n
				s.event("progressUpdate", godap.ProgressUpdateEventBody{ProgressId: under, Percentage: n})
			}
		}
	}
}
