package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbg/internal/fixture"
)

// victim runs dbg on a program that prints its process id.
type victim struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	seen  []string
	pid   int
}

func newVictim(t *testing.T, args ...string) *victim {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{t: t, cmd: exec.Command(exe, args...), lines: make(chan string, 10_000)}
	v.cmd.Env = append(os.Environ(), "DBG_TEST_RUN=1", "NO_COLOR=1", "HOME="+t.TempDir())
	if v.in, err = v.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.cmd.Stderr = v.cmd.Stdout
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.cmd.Process.Kill(); v.cmd.Wait() })
	go func() {
		defer close(v.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			v.lines <- s.Text()
		}
	}()
	return v
}

// until reads up to a line that contains a text.
func (v *victim) until(text string) string {
	v.t.Helper()
	late := time.After(deadline)
	for {
		select {
		case l, ok := <-v.lines:
			if !ok {
				v.t.Fatalf("dbg ended before %q; it printed\n%s", text, strings.Join(v.seen, "\n"))
			}
			v.seen = append(v.seen, l)
			if strings.Contains(l, text) {
				return l
			}
		case <-late:
			v.t.Fatalf("no %q in time; dbg printed\n%s", text, strings.Join(v.seen, "\n"))
		}
	}
}

// ready reads the program's process id.
func (v *victim) ready() {
	v.t.Helper()
	_, id, _ := strings.Cut(v.until("pid "), "pid ")
	pid, err := strconv.Atoi(strings.TrimSpace(id))
	if err != nil {
		v.t.Fatal(err)
	}
	v.pid = pid
}

func (v *victim) kill() {
	v.t.Helper()
	if err := syscall.Kill(v.pid, syscall.SIGKILL); err != nil {
		v.t.Fatal(err)
	}
}

// end closes the input and returns all output and the exit status.
func (v *victim) end() (string, int) {
	v.t.Helper()
	v.in.Close()
	late := time.AfterFunc(deadline, func() { v.cmd.Process.Signal(syscall.SIGQUIT) })
	defer late.Stop()
	for l := range v.lines {
		v.seen = append(v.seen, l)
	}
	err := v.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		v.t.Fatal(err)
	}
	return strings.Join(v.seen, "\n"), v.cmd.ProcessState.ExitCode()
}

const killedLine = "Program terminated with signal SIGKILL, Killed."

// expectKilled checks that the end was told once, and as what it was.
func (v *victim) expectKilled(status int) {
	v.t.Helper()
	out, got := v.end()
	if n := strings.Count(out, killedLine); n != 1 || strings.Contains(out, "SIGINT") || strings.Contains(out, "detached") || got != status {
		v.t.Errorf("the end was told %d times, exit status %d, want %d:\n%s", n, got, status, out)
	}
}

// TestKilled kills the program from outside in everything that dbg may be doing.
func TestKilled(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "../cmd/dbg/testdata/victim.c", "-g", "-O0", "-pthread")

	// At a prompt: the next command comes long after the end, or at once.
	for _, command := range []string{"next", "continue", "step", "stepi", "finish", "print n", "info threads", "detach", "kill", "backtrace", ""} {
		for _, long := range []bool{false, true} {
			if (command == "detach" || command == "kill") && !long {
				continue // they may be faster than the signal
			}
			t.Run(fmt.Sprintf("prompt/%s/%v", command, long), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t, "exec", exe)
				io.WriteString(v.in, "set confirm off\nbreak work if n == 3\nrun\n")
				v.ready()
				v.until("int work(int i)")
				v.kill()
				if long {
					for alive := true; alive; {
						time.Sleep(time.Millisecond)
						alive = syscall.Kill(v.pid, 0) == nil
					}
				}
				io.WriteString(v.in, command+"\n")
				// What the command does may come before the end is known.
				for i := 1; !strings.Contains(strings.Join(v.seen, "\n"), killedLine); i++ {
					time.Sleep(10 * time.Millisecond)
					fmt.Fprintf(v.in, "echo %d answered\\n\n", i)
					v.until(fmt.Sprintf("%d answered", i))
				}
				v.expectKilled(0)
			})
		}
	}

	// While it runs, or steps.
	for _, work := range []string{
		"run", "break work if n < 0\nrun", "break work\nrun\ndelete\nnext 10000000", "break work\nrun\ndelete\nstep 10000000",
		"break work\nrun\ndelete\nstepi 1000000000", "break work\nrun\nignore 1 1000000000\ncontinue", "break work\nrun\ndelete\ncontinue",
	} {
		for i := range 2 {
			t.Run(fmt.Sprintf("work/%q/%d", work, i), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t, "exec", exe, "threads")
				io.WriteString(v.in, work+"\n")
				v.ready()
				time.Sleep(time.Duration(100+37*i) * time.Millisecond)
				v.kill()
				v.until(killedLine)
				v.expectKilled(0)
			})
		}
	}

	// A batch: the exit status is that of the commands.
	for _, tc := range []struct {
		commands []string
		status   int
	}{
		{[]string{"run"}, 0},
		{[]string{"break work if n < 0", "run"}, 0},
		{[]string{"run", "backtrace"}, 1},
		{[]string{"break work", "run", "delete", "next 10000000"}, 0},
	} {
		t.Run(fmt.Sprintf("batch/%v", tc.commands), func(t *testing.T) {
			t.Parallel()
			args := []string{"exec", "--batch"}
			for _, c := range tc.commands {
				args = append(args, "--ex", c)
			}
			v := newVictim(t, append(args, exe)...)
			v.ready()
			time.Sleep(200 * time.Millisecond)
			v.kill()
			v.expectKilled(tc.status)
		})
	}
}

// TestToldToEndAtPipe: dbg ends when it is told to, though the stream of its commands stays open.
func TestToldToEndAtPipe(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "../cmd/dbg/testdata/victim.c", "-g", "-O0", "-pthread")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		v := newVictim(t, "exec", exe)
		io.WriteString(v.in, "break work\nrun\n")
		v.ready()
		v.until("int work(int i)")
		if err := v.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(deadline, func() {
			t.Errorf("%v does not end dbg", sig)
			v.cmd.Process.Kill()
		})
		for range v.lines {
		}
		v.cmd.Wait()
		late.Stop()
		if syscall.Kill(v.pid, 0) == nil {
			t.Errorf("after %v the program is left", sig)
		}
	}
}
