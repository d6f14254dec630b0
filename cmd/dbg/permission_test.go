package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNotPermitted: what another user owns is refused with one line. The tests
// run as root where they can; then dbg runs as nobody.
func TestNotPermitted(t *testing.T) {
	dir, err := os.MkdirTemp("", "dbg-permission-") // t.TempDir's parents are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "dbg")
	closed := filepath.Join(dir, "closed")
	for _, f := range []struct {
		path string
		mode os.FileMode
	}{{exe, 0o755}, {closed, 0o000}} {
		if err := os.WriteFile(f.path, data, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"attach", "1"}, {"bt", "1"}, {"exec", closed}, {"core", closed}, {"bt", closed}} {
		cmd := exec.Command(exe, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "DBG_TEST_RUN=1")
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.Run()
		if cmd.ProcessState.ExitCode() != 1 || out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "permission") {
			t.Errorf("dbg %s: exit status %d, stdout %q, stderr %q", strings.Join(args, " "), cmd.ProcessState.ExitCode(), out.String(), errs.String())
		}
	}
}
