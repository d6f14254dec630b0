package dap

import (
	"os"
	"path/filepath"
	"strings"

	godap "github.com/google/go-dap"
)

// pathMapping says that what the debug information has under From is under To
// here.
type pathMapping struct{ From, To string }

// sourceHints turns paths of the debug information to the client's and back. Its
// memory of which files exist is for one stop's thousand frames of the same file.
type sourceHints struct {
	mappings []pathMapping
	missing  map[string]bool
}

// local is where a file of the debug information is here.
func (h *sourceHints) local(file string) string {
	for _, m := range h.mappings {
		if rest, ok := under(file, m.From); ok {
			return filepath.Join(m.To, rest)
		}
	}
	return file
}

// recorded is what the debug information may call a file that is here: the
// mapped name first, then the name itself, then the name without symbolic links.
func (h *sourceHints) recorded(file string) []string {
	var out []string
	for _, m := range h.mappings {
		if rest, ok := under(file, m.To); ok {
			out = append(out, filepath.Join(m.From, rest))
		}
	}
	out = append(out, file)
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		out = append(out, real)
	}
	return out
}

// under returns what is left of file below dir.
func under(file, dir string) (string, bool) {
	dir = filepath.Clean(dir)
	if file == dir {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}

// exists reports whether a file is here.
func (h *sourceHints) exists(file string) bool {
	gone, known := h.missing[file]
	if !known {
		st, err := os.Stat(file)
		gone = err != nil || !st.Mode().IsRegular()
		if h.missing == nil {
			h.missing = map[string]bool{}
		}
		h.missing[file] = gone
	}
	return !gone
}

// sourceOf is a file of the debug information as the client sees it; nil if
// there is none.
func (s *server) sourceOf(file string) *godap.Source {
	if file == "" {
		return nil
	}
	local := s.sources.local(file)
	src := &godap.Source{Name: filepath.Base(local), Path: s.client.path(local)}
	if !s.sources.exists(local) {
		src.PresentationHint = "deemphasize"
		src.Origin = "not found on this machine"
	}
	return src
}
