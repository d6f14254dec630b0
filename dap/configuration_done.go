package dap

import (
	"context"
	"fmt"

	"dbg/target"
)

// configurationDone lets the program run, now or as soon as it is loaded.
func (s *server) configurationDone(context.Context, struct{}) (any, error) {
	if s.configured {
		return nil, nil
	}
	s.configured = true
	if s.phase.get() == phaseLoaded {
		s.then(s.begin)
	}
	return nil, nil
}

// begin runs a program that was launched or attached to. If the client wants to see the program
// first, begin runs it only to main. It shows a core.
func (s *server) begin() {
	if s.started {
		return
	}
	s.started = true
	switch {
	case s.kind.get() == target.Core:
		s.showCore()
		return
	case s.start.stop() && s.kind.get() == target.Attached:
		s.showEntry()
		return
	case s.start.stop():
		if _, err := s.query.StopInMain(); err != nil {
			// No main: the first instruction is the entry.
			s.showEntry()
			return
		}
	}
	if err := s.resume(func() error { return s.query.Continue(0) }); err != nil {
		s.console("important", fmt.Sprintf("Can't run the program: %v\n", err))
	}
}

// showEntry tells the client that the program is stopped where it was found.
func (s *server) showEntry() {
	thread, _ := s.query.Selected()
	s.event("stopped", stoppedBody{Reason: "entry", Description: "Paused on entry", ThreadID: int(thread), AllThreadsStopped: true})
}

// showCore sends the stopped event of a core, with the signal that killed the process.
func (s *server) showCore() {
	threads, err := s.query.Threads()
	if err != nil || len(threads) == 0 {
		s.console("important", "The core has no threads.\n")
		return
	}
	body := stoppedBody{Reason: "entry", Description: "Core file", ThreadID: int(threads[0].ID), AllThreadsStopped: true}
	for _, t := range threads {
		if t.Signal != nil {
			body.Reason, body.ThreadID = "exception", int(t.ID)
			body.Description, body.Text = signalWords(t.Signal)
			break
		}
	}
	s.event("stopped", body)
}
