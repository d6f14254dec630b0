package ptrace

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/procfs"
)

// TestWatchKilled: when the debugger is killed, the guardian clears the registers, and the program lives.
// A hit in the moment between is the kernel's, and can't be helped: the program pauses between its writes.
func TestWatchKilled(t *testing.T) {
	path := watchProgram(t)
	for _, running := range []string{"", "1"} {
		v := startProgram(t, path, "slowly")
		cmd := role(t, "watch", "VICTIM="+strconv.Itoa(v.pid), "GUARDIAN=/proc/self/exe", "RUNNING="+running, "WORD="+strconv.FormatUint(uint64(symbolIn(t, path, "word")), 10))
		waitFor(t, cmd, "watching")
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s := v.line(); s != "status 0" {
			t.Errorf("running %q: %s", running, s)
		}
	}
}

// watcher is the debugger of TestWatchKilled.
func watcher() {
	pid, _ := strconv.Atoi(os.Getenv("VICTIM"))
	word, _ := strconv.ParseUint(os.Getenv("WORD"), 10, 64)
	running := os.Getenv("RUNNING") != ""
	hit := make(chan bool, 100)
	p, err := AttachWith(pid, AttachOptions{Guardian: os.Getenv("GUARDIAN")})
	if err == nil {
		p.SetJudge(func(*target.Hit) target.Verdict {
			hit <- true
			if running {
				return target.Pass
			}
			return target.Halt
		})
		if err = p.InsertWatch(target.Watch{Addr: target.Addr(word), Len: 8}); err == nil {
			err = p.Resume(target.Resume{})
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	<-hit
	if !running {
		<-p.Events()
	}
	_ = p.do(func() error { return nil }) // now the thread has left its stop for the hit
	fmt.Println("watching")
	select {}
}

// waitFor starts a command and waits for a line of its output.
func waitFor(t *testing.T, cmd *exec.Cmd, line string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		if s.Text() == line {
			return
		}
	}
	t.Fatalf("no line %q", line)
}

// TestWatchReleasedLate: the guardian is woken before the kernel releases the threads of a debugger
// that was killed. It waits for them.
func TestWatchReleasedLate(t *testing.T) {
	path := watchProgram(t)
	v := startProgram(t, path, "slowly")
	cmd := role(t, "watch", "VICTIM="+strconv.Itoa(v.pid), "RUNNING=1", "WORD="+strconv.FormatUint(uint64(symbolIn(t, path, "word")), 10))
	waitFor(t, cmd, "watching")
	asked := 0
	debugreg.ClearAll(v.pid, func() bool {
		if asked++; asked == 3 {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		return asked >= 3
	})
	if asked != 3 {
		t.Errorf("asked %d times whether the debugger is gone, want 3", asked)
	}
	if s := v.line(); s != "status 0" {
		t.Error(s)
	}
}

// TestForkedKilled: the debugger is killed when a child has just been forked and still has our bytes
// in its copy of the memory.
func TestForkedKilled(t *testing.T) {
	path := watchProgram(t)
	for range amount(20, 3) {
		v := startProgram(t, path, "forks")
		cmd := role(t, "forked", "VICTIM="+strconv.Itoa(v.pid), "PLACE="+strconv.FormatUint(uint64(symbolIn(t, path, "store")), 10),
			"GO="+strconv.FormatUint(uint64(symbolIn(t, path, "go_on")), 10))
		if err := cmd.Run(); err == nil || cmd.ProcessState.Sys().(interface{ Signaled() bool }).Signaled() == false {
			t.Fatalf("the debugger was not killed: %v", err)
		}
		if s := v.line(); s != "status 0" {
			t.Error(s)
		}
	}
}

// forkWatcher is the debugger of TestForkedKilled. It kills itself before it handles the fork.
func forkWatcher() {
	pid, _ := strconv.Atoi(os.Getenv("VICTIM"))
	place, _ := strconv.ParseUint(os.Getenv("PLACE"), 10, 64)
	flag, _ := strconv.ParseUint(os.Getenv("GO"), 10, 64)
	p, err := AttachWith(pid, AttachOptions{Guardian: "/proc/self/exe"})
	if err == nil {
		err = p.InsertBreakpoint(target.Addr(place))
	}
	if err == nil {
		err = p.Resume(target.Resume{})
	}
	if err == nil {
		err = p.do(func() error { // the tracer does nothing else meanwhile
			p.mem.WriteRaw(target.Addr(flag), []byte{1})
			for late := time.Now().Add(20 * time.Second); time.Now().Before(late); {
				if children := procfs.Children(pid); len(children) > 0 {
					return unix.Kill(os.Getpid(), unix.SIGKILL)
				}
			}
			return os.ErrDeadlineExceeded
		})
	}
	fmt.Println(err)
}
