package dap

import (
	"context"
	"sort"

	godap "github.com/google/go-dap"
)

// loadedSources lists the source files in the debug information.
func (s *server) loadedSources(context.Context, struct{}) (any, error) {
	files := s.query.SourceFiles()
	sort.Strings(files)
	body := godap.LoadedSourcesResponseBody{Sources: []godap.Source{}}
	for i, f := range files {
		if src := s.sourceOf(f); src != nil && (i == 0 || f != files[i-1]) {
			body.Sources = append(body.Sources, *src)
		}
	}
	return body, nil
}
