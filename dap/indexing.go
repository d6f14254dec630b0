package dap

import (
	"fmt"
	"path/filepath"
	"sync"

	"dbg/symbols/names"

	godap "github.com/google/go-dap"
)

// worthTelling is how many bytes of debug information an index takes long to be made of.
const worthTelling = 4 << 20

// indexing makes what tells the client how far an index of names is. The session's goroutine is busy with it then, and so is ours with the
// request that needs it: the events are sent at once, and not as the session's are.
func (s *server) indexing(also func(names.Progress)) func(names.Progress) {
	from := s.opts.progressFrom
	if from == 0 {
		from = worthTelling
	}
	var mu sync.Mutex // of the rest
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
