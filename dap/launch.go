package dap

import (
	"context"
	"path/filepath"
	"strings"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// launch starts a program and leaves it at its first instruction; the program
// runs at configurationDone. With a core, that is opened instead.
func (s *server) launch(_ context.Context, args launchOptions) (any, error) {
	if err := s.mayLoad(); err != nil {
		return nil, err
	}
	if args.core() != "" {
		return nil, s.openCore(args)
	}
	if args.Program == "" {
		return nil, badArguments("launch needs the name of a program: \"program\"")
	}
	s.use(args)
	if err := s.query.Load(programOf(args)); err != nil {
		return nil, err
	}
	if err := s.query.Start(); err != nil {
		return nil, err
	}
	s.loaded(target.Launched)
	return nil, nil
}

// programOf is the program that the options mean. A relative name is looked up
// in the program's own folder if there is one.
func programOf(o launchOptions) session.Program {
	path := o.Program
	if !filepath.IsAbs(path) && o.Cwd != "" && strings.Contains(path, "/") {
		path = filepath.Join(o.Cwd, path)
	}
	return session.Program{Path: path, Args: o.Args, Dir: o.Cwd, Env: o.Env.apply(), Capture: true}
}

// mayLoad says why there can't be a program now.
func (s *server) mayLoad() error {
	switch {
	case s.phase.get() == phaseLoaded:
		return &requestError{id: codeOrder, text: "a program is being debugged already"}
	case s.phase.get() == phaseEnded:
		return &requestError{id: codeOrder, text: "the session is over"}
	case s.opts.noProgram:
		return &requestError{id: codeFailed, text: "no program can be debugged here"}
	}
	return nil
}

// use takes over the options that matter before a program is loaded.
func (s *server) use(o launchOptions) {
	s.start = o
	s.query.MapSources(append(append([]session.SourceMapping(nil), o.SourceMap...), o.SourceFileMap...))
	if o.NoDebug {
		s.query.DropBreakpointSets()
		clear(s.breakpoints)
		s.query.PassAllSignals()
	}
}

// openCore opens a core file; nothing runs then.
func (s *server) openCore(o launchOptions) error {
	s.use(o)
	if err := s.query.OpenCore(o.core(), o.Program); err != nil {
		return err
	}
	s.loaded(target.Core)
	return nil
}

// loaded tells the client, after the response, that there is a program, and asks it for
// its breakpoints.
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
