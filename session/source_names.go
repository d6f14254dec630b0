package session

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// SourceMapping maps files under the directory From in the debug information to the directory To on
// this machine.
type SourceMapping struct{ From, To string }

// sourceNames converts between paths in the debug information and paths on this machine. It caches
// which files exist, for a stack with a thousand frames in one file.
type sourceNames struct {
	mu       sync.Mutex // guards all fields below; held briefly, so that no query delays an answer
	mappings []SourceMapping
	missing  map[string]bool
}

// MapSources sets the mappings. If several match a file, the longest is used.
func (s *Session) MapSources(list []SourceMapping) {
	list = append([]SourceMapping(nil), list...)
	sort.SliceStable(list, func(i, j int) bool { return len(list[i].From) > len(list[j].From) })
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	s.names.mappings, s.names.missing = list, nil
}

// LocalSource returns the path on this machine of a file in the debug information.
func (s *Session) LocalSource(file string) string {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	for _, m := range s.names.mappings {
		if rest, ok := under(file, m.From); ok {
			return filepath.Join(m.To, rest)
		}
	}
	return file
}

// RecordedSources returns the names that the debug information may contain for a file on this
// machine: the mapped name first, then the name itself, then the name without symbolic links.
func (s *Session) RecordedSources(file string) []string {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	var out []string
	for _, m := range s.names.mappings {
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

// HasSource reports whether a file exists on this machine. The answer is cached until MapSources is
// called.
func (s *Session) HasSource(file string) bool {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	gone, known := s.names.missing[file]
	if !known {
		st, err := os.Stat(file)
		gone = err != nil || !st.Mode().IsRegular()
		if s.names.missing == nil {
			s.names.missing = map[string]bool{}
		}
		s.names.missing[file] = gone
	}
	return !gone
}

// under returns the part of file below dir.
func under(file, dir string) (string, bool) {
	dir = filepath.Clean(dir)
	if file == dir {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}
