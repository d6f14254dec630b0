package dap

import (
	"path/filepath"

	godap "github.com/google/go-dap"
)

// sourceOf returns the client's form of a file in the debug information, or nil for "".
func (s *server) sourceOf(file string) *godap.Source {
	if file == "" {
		return nil
	}
	local := s.query.LocalSource(file)
	src := &godap.Source{Name: filepath.Base(local), Path: s.client.path(local)}
	if !s.query.HasSource(local) {
		src.PresentationHint = "deemphasize"
		src.Origin = "not found on this machine"
	}
	return src
}
