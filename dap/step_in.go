package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// stepIn steps into calls, by a line or an instruction.
func (s *server) stepIn(_ context.Context, args godap.StepInArguments) (any, error) {
	return s.step(args.ThreadId, granular(args.Granularity, session.StepInto, session.StepInstruction))
}
