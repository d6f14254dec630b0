package dap

import (
	"context"
	"strings"

	godap "github.com/google/go-dap"
)

// source returns the text of a file by its path. No source has a reference, because all of them are
// files.
func (s *server) source(_ context.Context, args godap.SourceArguments) (any, error) {
	if args.Source == nil || args.Source.Path == "" {
		return nil, badArguments("there is no source with the reference %d", args.SourceReference)
	}
	lines, err := s.query.Source(s.client.ourPath(args.Source.Path))
	if err != nil {
		return nil, err
	}
	return godap.SourceResponseBody{Content: strings.ToValidUTF8(strings.Join(lines, "\n")+"\n", "\uFFFD")}, nil
}
