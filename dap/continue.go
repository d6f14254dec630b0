package dap

import (
	"context"

	godap "github.com/google/go-dap"
)

// cont continues all threads.
func (s *server) cont(context.Context, godap.ContinueArguments) (any, error) {
	if err := s.resume(func() error { return s.query.Continue(0) }); err != nil {
		return nil, err
	}
	return godap.ContinueResponseBody{AllThreadsContinued: true}, nil
}
