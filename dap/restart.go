package dap

import (
	"context"
	"encoding/json"
	"errors"

	"dbg/target"
)

// restartArguments may contain new arguments of the launch request.
type restartArguments struct {
	Arguments json.RawMessage `json:"arguments"`
}

// restart kills the launched program and launches it again with the same breakpoints.
func (s *server) restart(_ context.Context, args restartArguments) (any, error) {
	if s.kind.get() != target.Launched || s.opts.noProgram {
		return nil, &requestError{id: codeUnsupported, text: "only a program that was launched can be restarted"}
	}
	options := s.start
	if len(args.Arguments) > 0 {
		options = launchOptions{}
		if err := json.Unmarshal(args.Arguments, &options); err != nil {
			return nil, badArguments("wrong arguments: %v", err)
		}
		if options.Program == "" {
			options.Program, options.NoDebug = s.start.Program, s.start.NoDebug
		}
	}
	threads, _ := s.query.Threads()
	if s.phase.get() == phaseLoaded {
		// If it has just ended by itself, that event will still arrive, too.
		if err := s.query.Kill(); err != nil && !errors.Is(err, target.ErrNotRunning) {
			s.logf("restart: %v", err)
		}
		s.restarting++
	}
	s.refs.reset()
	s.query.ForgetEntry()
	for _, t := range threads {
		s.threadEvent("exited", t.ID)
	}
	if err := s.use(options); err != nil {
		return nil, err
	}
	if err := s.query.Load(programOf(options)); err != nil {
		return nil, s.gone(err)
	}
	if err := s.query.Start(); err != nil {
		return nil, s.gone(err)
	}
	s.phase.set(phaseLoaded)
	s.started = false
	if s.configured {
		s.then(s.begin)
	}
	return nil, nil
}

// gone ends the debug session after a program could not be started again.
func (s *server) gone(err error) error {
	s.then(s.terminated)
	return err
}
