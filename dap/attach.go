package dap

import (
	"context"

	"dbg/target"
)

// attach stops a running process, or opens a core file.
func (s *server) attach(_ context.Context, args launchOptions) (any, error) {
	if err := s.mayLoad(); err != nil {
		return nil, err
	}
	if args.core() != "" {
		return nil, s.openCore(args)
	}
	pid := args.PID
	if pid == 0 {
		pid = args.ProcessID
	}
	if pid == 0 {
		return nil, badArguments("attach needs the id of a process, \"pid\", or a core file, \"core\"")
	}
	args.NoDebug = false // there is no other reason to attach to a running process
	if err := s.use(args); err != nil {
		return nil, err
	}
	if err := s.query.Attach(int(pid)); err != nil {
		return nil, err
	}
	s.loaded(target.Attached)
	return nil, nil
}
