package dap

import (
	"context"

	godap "github.com/google/go-dap"
)

// cancel only answers: the request was already cancelled when this one was read (see inbox.go). A
// request that was answered by then can't be cancelled; that is not an error.
func (s *server) cancel(_ context.Context, _ godap.CancelArguments) (any, error) { return nil, nil }
