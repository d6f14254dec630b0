package ptrace

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/ptrace/procfs"
)

// What concerns the debugger's own process is tested in a process of its own:
// this test binary, run with a role.
const roleVariable = "PTRACE_TEST_ROLE"

func TestRole(t *testing.T) {
	switch os.Getenv(roleVariable) {
	case "":
		t.Skip("only run by other tests")
	case "hold": // launches, tells the process's id, and waits to be killed
		p, err := Launch(LaunchOptions{Path: os.Getenv("PROGRAM"), Args: []string{"spin"}})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.PID())
		if os.Getenv("RUNNING") != "" {
			_ = p.Resume(target.Resume{})
		}
		select {}
	case "watch":
		watcher()
	case "forked":
		forkWatcher()
	case "guarded":
		guarded()
	case "terminal": // has a controlling terminal
		tty := os.NewFile(0, "tty")
		p, err := Launch(LaunchOptions{Path: os.Getenv("PROGRAM"), Args: []string{"read"}, Terminal: tty, Stdin: tty})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		group := func() int { g, _ := unix.IoctlGetInt(0, unix.TIOCGPGRP); return g }
		fmt.Println("launched", group() == unix.Getpgrp())
		_ = p.Resume(target.Resume{})
		fmt.Println("running", group() == p.PID())
		_ = p.Interrupt()
		e := <-p.Events()
		fmt.Println(e.Kind == target.Stopped, group() == unix.Getpgrp())
		_ = p.Resume(target.Resume{})
		fmt.Println("again", group() == p.PID())
		e = <-p.Events()
		fmt.Println("ended", e.Kind == target.Exited, e.ExitCode, group() == unix.Getpgrp())
		os.Exit(0)
	}
}

func role(t *testing.T, name string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRole$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, roleVariable+"="+name, "PROGRAM="+program(t))...)
	return cmd
}

func TestNothingStaysWhenTheDebuggerIsKilled(t *testing.T) {
	t.Parallel()
	for _, running := range []string{"", "1"} {
		cmd := role(t, "hold", "RUNNING="+running)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := 0
		for s := bufio.NewScanner(out); pid == 0 && s.Scan(); {
			pid, _ = strconv.Atoi(s.Text())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if pid == 0 {
			t.Fatal("no process")
		}
		for deadline := time.Now().Add(30 * time.Second); ; runtime.Gosched() {
			if s := procfs.StatusField(pid, "State"); s == "" || s[0] == 'Z' || s[0] == 'X' {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still there: %s", pid, procfs.StatusField(pid, "State"))
			}
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		fixture.Missing(t, err)
	}
	defer master.Close()
	var n, zero int32
	for req, arg := range map[uintptr]*int32{unix.TIOCGPTN: &n, unix.TIOCSPTLCK: &zero} {
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, master.Fd(), req, uintptr(unsafe.Pointer(arg))); e != 0 {
			fixture.Missing(t, e)
		}
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		fixture.Missing(t, err)
	}
	defer tty.Close()
	cmd := role(t, "terminal")
	cmd.Stdin = tty
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for s := bufio.NewScanner(out); s.Scan(); {
		if strings.HasPrefix(s.Text(), "=== ") {
			continue
		}
		got = append(got, s.Text())
		if strings.HasPrefix(s.Text(), "again") {
			_, _ = master.WriteString("A\n")
		}
	}
	_ = cmd.Wait()
	want := "launched true|running true|true true|again true|ended true 65 true"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// TestForeignChildren: the tracer must not take the status of commands that
// were started by the thread on which it runs.
func TestForeignChildren(t *testing.T) {
	t.Parallel()
	for range 20 {
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		d := launch(t, "exit", "1")
		d.wantExit(d.cont(), 1)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
