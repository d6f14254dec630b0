package dap

import (
	"fmt"
	"path/filepath"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// progress holds the downloads that the client knows.
type progress struct {
	last    int
	ids     map[string]string // by build id and server
	percent map[string]int    // the last percentage sent, by progress id
}

// fetching tells the client the progress of a download of debug information, if it supports that.
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
		// Send an update only if the percentage has changed.
		if n := int(min(ev.Done, ev.Total) * 100 / ev.Total); n > p.percent[id] {
			p.percent[id] = n
			s.event("progressUpdate", godap.ProgressUpdateEventBody{ProgressId: id, Percentage: n})
		}
	}
}

// debugInfoArrived tells the client that more is known about a module.
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
