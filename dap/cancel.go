package dap

import (
	"context"

	godap "github.com/google/go-dap"
)

// cancel only answers: what it asks for was done when it was read (see inbox.go).
// A request that has been answered by then can't be cancelled, which is no error.
func (s *server) cancel(_ context.Context, _ godap.CancelArguments) (any, error) { return nil, nil }
