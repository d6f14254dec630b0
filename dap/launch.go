package dap

import (
	"context"
	"path/filepath"
	"strings"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// launch starts a program and stops it at its first instruction. The program runs at
// configurationDone. If a core is given, launch opens that instead.
func (s *server) launch(_ context.Context, args launchOptions) (any, error) {
	if err := s.mayLoad(); err != nil {
		return nil, err
	}
	if args.core() != "" {
		return nil, s.openCore(args)
	}
	if args.Program == "" {
		return nil, badArguments("launch needs the path of a program, \"program\"")
	}
	if err := s.use(args); err != nil {
		return nil, err
	}
	if err := s.query.Load(programOf(args)); err != nil {
		return nil, err
	}
	if err := s.query.Start(); err != nil {
		return nil, err
	}
	s.loaded(target.Launched)
	return nil, nil
}

// programOf returns the program that the options describe. A relative path is relative to the
// program's working directory, if one is given.
func programOf(o launchOptions) session.Program {
	path := o.Program
	if !filepath.IsAbs(path) && o.Cwd != "" && strings.Contains(path, "/") {
		path = filepath.Join(o.Cwd, path)
	}
	return session.Program{Path: path, Args: o.Args, Dir: o.Cwd, Env: o.Env.apply(), Capture: true}
}

// mayLoad returns an error if no program can be loaded now.
func (s *server) mayLoad() error {
	switch {
	case s.phase.get() == phaseLoaded:
		return &requestError{id: codeOrder, text: "a program is already being debugged"}
	case s.phase.get() == phaseEnded:
		return &requestError{id: codeOrder, text: "the session has ended"}
	case s.opts.noProgram:
		return &requestError{id: codeFailed, text: "launch and attach are disabled"}
	}
	return nil
}

// use applies the options that must be set before a program is loaded.
func (s *server) use(o launchOptions) error {
	s.start = o
	problems, err := s.query.AddViews(o.VisualizerFile...)
	if err != nil {
		return err
	}
	for _, p := range problems {
		s.console("important", p.Error()+"\n")
	}
	s.query.MapSources(append(append([]session.SourceMapping(nil), o.SourceMap...), o.SourceFileMap...))
	if o.NoDebug {
		s.query.DropBreakpointSets()
		clear(s.breakpoints)
		s.query.PassAllSignals()
	}
	return nil
}

// openCore opens a core file.
func (s *server) openCore(o launchOptions) error {
	if err := s.use(o); err != nil {
		return err
	}
	if err := s.query.OpenCore(o.core(), o.Program); err != nil {
		return err
	}
	s.loaded(target.Core)
	return nil
}

// loaded tells the client, after the response, that a program is loaded, and asks for breakpoints.
func (s *server) loaded(kind target.Kind) {
	s.phase.set(phaseLoaded)
	s.kind.set(kind)
	s.then(func() {
		body := godap.ProcessEventBody{Name: s.start.Program, IsLocalProcess: kind != target.Core, StartMethod: "launch", PointerSize: 64}
		if ti, ok := s.query.Target(); ok {
			if ti.Exe != "" {
				body.Name = ti.Exe
			}
			if kind != target.Core {
				body.SystemProcessId = ti.PID
			}
			if ti.Arch != nil {
				body.PointerSize = 8 * ti.Arch.PtrSize
			}
		}
		if kind != target.Launched {
			body.StartMethod = "attach"
		}
		s.event("process", body)
		s.event("initialized", nil)
		if s.configured {
			s.begin()
		}
	})
}
