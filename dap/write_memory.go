package dap

import (
	"context"
	"encoding/base64"

	godap "github.com/google/go-dap"
)

// writeMemory changes bytes.
func (s *server) writeMemory(_ context.Context, args godap.WriteMemoryArguments) (any, error) {
	a, err := parseMemoryReference(args.MemoryReference, args.Offset)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(args.Data)
	if err != nil {
		return nil, badArguments("the data is not valid base64: %v", err)
	}
	if len(data) == 0 {
		return godap.WriteMemoryResponseBody{}, nil
	}
	if !args.AllowPartial {
		// All or nothing: unreadable memory is not writable either.
		if n, err := s.query.ReadMemory(a, make([]byte, len(data))); n < len(data) {
			return nil, err
		}
	}
	n, err := s.query.WriteMemory(a, data)
	if err != nil && (n == 0 || !args.AllowPartial) {
		return nil, err
	}
	if s.client.invalidated {
		s.then(func() {
			s.event("invalidated", godap.InvalidatedEventBody{Areas: []godap.InvalidatedAreas{"variables"}})
		})
	}
	return godap.WriteMemoryResponseBody{BytesWritten: n}, nil
}
