package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// next steps over calls, by a line or an instruction.
func (s *server) next(_ context.Context, args godap.NextArguments) (any, error) {
	return s.step(args.ThreadId, granular(args.Granularity, session.StepOver, session.NextInstruction))
}
