package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dbg/target/ptrace/guardian"
)

func TestMain(m *testing.M) {
	guardian.Main()
	if os.Getenv("DBG_TEST_RUN") != "" { // dbg on a terminal: see terminal_test.go
		os.Exit(run(os.Args[1:]))
	}
	testscript.Main(tidied{m}, map[string]func(){"dbg": func() { os.Exit(run(os.Args[1:])) }})
}

// TestScript runs the scripts of testdata/script: each is a page with what is typed
// and what is to be printed.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(4 * time.Minute),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TERM", "dumb")
			env.Values[processKey{}] = map[string]*process{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cc": compile, "makecore": makeCore, "start": startProcess, "alive": alive, "tell": tell,
			"fakearch": fakeArch, "cut": cut, "count": countLines,
		},
		Condition: func(cond string) (bool, error) {
			if tool, ok := strings.CutPrefix(cond, "tool:"); ok {
				_, err := exec.LookPath(tool)
				if err != nil && os.Getenv("CI") != "" {
					return false, fmt.Errorf("%s is not installed", tool)
				}
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// compile is "cc ARGS...": gcc, or a skipped script where there is none.
func compile(ts *testscript.TestScript, neg bool, args []string) {
	if _, err := exec.LookPath("gcc"); err != nil {
		if os.Getenv("CI") != "" {
			ts.Fatalf("gcc is not installed")
		}
		ts.Fatalf("gcc is not installed: begin the script with [!tool:gcc] skip")
	}
	ts.Check(ts.Exec("gcc", args...))
}

// makeCore is "makecore OUT PROG ARGS...": runs a program that dies, and makes
// its core OUT.
func makeCore(ts *testscript.TestScript, neg bool, args []string) {
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	out := ts.MkAbs(args[0])
	if strings.ContainsAny(string(pattern), "|/%") {
		words := []string{"-q", "-nx", "-batch", "-ex", "run", "-ex", "gcore " + out, "--args"}
		ts.Check(ts.Exec("gdb", append(words, args[1:]...)...))
		return
	}
	dir := ts.MkAbs("core.dir")
	ts.Check(os.MkdirAll(dir, 0o755))
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited && exec "$0" "$@"`, ts.MkAbs(args[1]))
	cmd.Args = append(cmd.Args, args[2:]...)
	cmd.Dir = dir
	cmd.Run()
	found, err := filepath.Glob(filepath.Join(dir, strings.TrimSpace(string(pattern))+"*"))
	if err != nil || len(found) != 1 {
		ts.Fatalf("no core in %s", dir)
	}
	ts.Check(os.Rename(found[0], out))
}

type processKey struct{}

// process is a program that runs beside the script.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func processes(ts *testscript.TestScript) map[string]*process {
	return ts.Value(processKey{}).(map[string]*process)
}

// startProcess is "start NAME PROG ARGS...": starts a program, waits for its first line, and
// sets NAME to its process id.
func startProcess(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, ts.MkAbs(args[1]), args[2:]...)
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	p := &process{cmd, in, bufio.NewReader(out)}
	ts.Defer(func() {
		cmd.Process.Kill()
		cmd.Wait()
		cancel()
	})
	_, err = p.out.ReadString('\n')
	ts.Check(err)
	processes(ts)[args[0]] = p
	ts.Setenv(args[0], strconv.Itoa(cmd.Process.Pid))
}

// alive is "alive NAME": the program is there, and nobody traces it.
func alive(ts *testscript.TestScript, neg bool, args []string) {
	p := processes(ts)[args[0]]
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	ts.Check(err)
	if !strings.Contains(string(status), "TracerPid:\t0\n") {
		ts.Fatalf("somebody traces it:\n%s", status)
	}
}

// tell is "tell NAME TEXT ANSWER": gives the program a line and expects one.
func tell(ts *testscript.TestScript, neg bool, args []string) {
	p := processes(ts)[args[0]]
	_, err := fmt.Fprintln(p.in, args[1])
	ts.Check(err)
	line, err := p.out.ReadString('\n')
	ts.Check(err)
	if strings.TrimSpace(line) != args[2] {
		ts.Fatalf("got %q, want %q", line, args[2])
	}
}

// fakeArch is "fakearch FILE": the smallest ELF program for AArch64.
func fakeArch(ts *testscript.TestScript, neg bool, args []string) {
	h := make([]byte, 64+56)
	copy(h, "\x7fELF\x02\x01\x01")
	h[16], h[18], h[20] = 2, 183, 1 // ET_EXEC, EM_AARCH64, EV_CURRENT
	h[32], h[52], h[54], h[56], h[58] = 64, 64, 56, 1, 64
	h[64] = 1                                 // PT_LOAD
	h[64+4], h[64+32], h[64+40] = 5, 120, 120 // R+X, sizes
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), h, 0o755))
}

// cut is "cut FILE OUT PERCENT": the first part of a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data[:len(data)*n/100], 0o644))
}

// countLines is "count stderr N": the last command printed N lines there.
func countLines(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, "\n"); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, not %s:\n%s", args[0], n, args[1], text)
	}
}

// TestNothingLeft: no child of the tests outlives them.
func TestNothingLeft(t *testing.T) {
	var ws syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
	if err == nil && pid == 0 {
		t.Log("children are running beside (parallel tests)")
	} else if err != nil && !errors.Is(err, syscall.ECHILD) {
		t.Error(err)
	}
}
