package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dbg/image"
)

func imageAddr(a uint64) image.Addr { return image.Addr(a) }

// sourceCache holds the lines of source files.
type sourceCache struct{ files map[string][]string }

// maxSource limits the size of a source file, in bytes.
const maxSource = 64 << 20

// Source returns the lines of a source file, line 1 first.
func (s *Session) Source(path string) ([]string, error) {
	return ask(s, func() ([]string, error) { return s.source(path) })
}

func (s *Session) source(path string) ([]string, error) {
	if l, ok := s.sources.files[path]; ok {
		return l, nil
	}
	for _, p := range []string{filepath.Join(s.cfg.Sysroot, path), path} {
		st, err := os.Stat(p)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		if st.Size() > maxSource {
			return nil, fmt.Errorf("%s: too large for a source file", p)
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		text := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
		lines := strings.Split(text, "\n")
		if s.sources.files == nil {
			s.sources.files = map[string][]string{}
		}
		s.sources.files[path] = lines
		return lines, nil
	}
	return nil, fmt.Errorf("%s: No such file or directory.", path) //lint:ignore ST1005 gdb's words
}

// ListPosition returns the file and line around which "list" shows source: those of the selected
// frame, else of main.
func (s *Session) ListPosition() (file string, line int, err error) {
	err = s.try(func() error {
		var ok bool
		if file, line, ok = s.defaultLine(); !ok {
			return errors.New("No symbol table is loaded.  Use the \"file\" command.") //lint:ignore ST1005 gdb's words
		}
		return nil
	})
	return file, line, err
}

// CompleteFunction returns at most max names of functions that start with prefix.
func (s *Session) CompleteFunction(prefix string, max int) []string {
	out, _ := ask(s, func() ([]string, error) {
		var out []string
		for _, f := range s.searchList() {
			out = append(out, f.sym.FunctionNames(prefix, max-len(out))...)
			if len(out) >= max || prefix == "" {
				break
			}
		}
		return out, nil
	})
	return out
}

// SourceFiles lists the source files of all loaded files with debug information.
func (s *Session) SourceFiles() []string {
	out, _ := ask(s, func() ([]string, error) {
		var out []string
		for _, f := range s.searchList() {
			if f.sym.HasDebugInfo() {
				out = append(out, f.sym.SourceFiles()...)
			}
		}
		return out, nil
	})
	return out
}
