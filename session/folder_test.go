package session

import (
	"os"
	"path/filepath"
	"testing"
)

// A launch in a directory that cannot be used names it.
func TestLaunchFolder(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ dir, want string }{
		{filepath.Join(dir, "gone"), filepath.Join(dir, "gone") + ": no such directory"},
		{file, file + ": not a directory"},
		{filepath.Join(file, "below"), "stat " + filepath.Join(file, "below") + ": not a directory"},
	} {
		s := New(Config{})
		if err := s.Load(Program{Path: exe, Dir: tc.dir}); err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %q", tc.dir, err, tc.want)
		}
		if s.State() != NotStarted {
			t.Errorf("%s: state %v", tc.dir, s.State())
		}
		s.Close()
	}
}
