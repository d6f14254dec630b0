package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// dbg runs dbg itself and gives what it printed and its exit status.
func dbg(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Args[0] = "dbg"
	cmd.Env = append(os.Environ(), "DBG_TEST_RUN=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), status
}

// TestCutCore: a core that was cut anywhere is read as far as it goes, or refused
// with one line. What comes as JSON is JSON.
func TestCutCore(t *testing.T) {
	prog := fixture.Build(t, "c/abort3.c", "-g", "-O0")
	core, err := os.ReadFile(fixture.Core(t, prog))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "core")
	sizes := []int{1, 3, 4, 15, 16, 40, 63, 64, 65, 100, 119, 120, 121, 500, 1000, 2000, 4000, 5000, 8000}
	for i := 1; i <= 20; i++ {
		sizes = append(sizes, len(core)*i/20)
	}
	for _, n := range sizes {
		if n > len(core) {
			continue
		}
		if err := os.WriteFile(path, core[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, status := dbg(t, "bt", "--format", "json", path)
		switch status {
		case 0:
			var v struct {
				Threads []struct {
					Frames []any
					End    struct{ Reason string }
				}
			}
			if err := json.Unmarshal([]byte(out), &v); err != nil {
				t.Errorf("cut at %d of %d: %v in:\n%s", n, len(core), err, out)
			} else if n == len(core) && (len(v.Threads) != 1 || len(v.Threads[0].Frames) < 5 || v.Threads[0].End.Reason == "") {
				t.Errorf("whole core: %s", out)
			}
		case 1:
			if strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "dbg: ") || out != "" {
				t.Errorf("cut at %d of %d: stdout %q, stderr %q", n, len(core), out, errs)
			}
		default:
			t.Errorf("cut at %d of %d: exit status %d, stderr:\n%s", n, len(core), status, errs)
		}
	}
}
