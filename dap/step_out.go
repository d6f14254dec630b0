package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// stepOut runs until the function returns.
func (s *server) stepOut(_ context.Context, args godap.StepOutArguments) (any, error) {
	return s.step(args.ThreadId, session.StepOut)
}
