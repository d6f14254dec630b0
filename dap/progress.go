package dap

import (
	"fmt"
	"path/filepath"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// progress has the downloads that the client has been told of.
type progress struct {
	last    int
	ids     map[string]string // by build id and server
	percent map[string]int    // what was said last, by progress id
}

// fetching tells a client that can show it how a download of debug information stands.
func (s *server) fetching(ev session.Fetching) {
	p := &s.progress
	key := ev.BuildID + " " + ev.URL
	id := p.ids[key]
	switch {
	case !s.client.progress:
	case ev.End:
		if id == "" {
			return
		}
		delete(p.ids, key)
		delete(p.percent, id)
		text := "done"
		if ev.Err != nil {
			text = ev.Err.Error()
		}
		s.event("progressEnd", godap.ProgressEndEventBody{ProgressId: id, Message: text})
	case id == "":
		if p.ids == nil {
			p.ids, p.percent = map[string]string{}, map[string]int{}
		}
		p.last++
		id = fmt.Sprintf("debuginfod-%d", p.last)
		p.ids[key] = id
		name := filepath.Base(ev.Path)
		if ev.Path == "" {
			name = ev.BuildID
		}
		s.event("progressStart", godap.ProgressStartEventBody{ProgressId: id, Title: "Debug information for " + name, Message: ev.URL})
	case ev.Total > 0:
		// No more often than there is something to see.
		if n := int(min(ev.Done, ev.Total) * 100 / ev.Total); n > p.percent[id] {
			p.percent[id] = n
			s.event("progressUpdate", godap.ProgressUpdateEventBody{ProgressId: id, Percentage: n})
		}
	}
}

// debugInfoArrived tells that more is known of a module than before.
func (s *server) debugInfoArrived(ev session.DebugInfoArrived) {
	for _, m := range s.query.DescribeModules() {
		if m.ID == ev.Module.ID {
			s.event("module", godap.ModuleEventBody{Reason: "changed", Module: moduleOf(m)})
		}
	}
	if s.client.invalidated {
		s.refs.reset() // there may be other inlined calls now
		s.event("invalidated", godap.InvalidatedEventBody{Areas: []godap.InvalidatedAreas{"all"}})
	}
}
