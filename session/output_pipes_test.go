package session

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// channels are the ways to a program's output: the second is taken where no terminal can be had.
var channels = map[string]opener{
	"terminal": openTerminal,
	"pipe":     func() (*os.File, *os.File, error) { return nil, nil, errors.New("no devpts") },
}

// captured runs a shell command under a capture as a session does, and returns what came of it. The capture is finished when the
// shell has ended, or when so many bytes of output have come, while all processes live on.
func captured(t *testing.T, terminal opener, command string, bytesEnough int) (stdout, stderr string) {
	t.Helper()
	s := New(Config{})
	defer s.Close()
	events, cancel := s.Subscribe()
	defer cancel()
	c, err := newCaptureWith(s, terminal)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.stdout, c.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	c.started(err == nil)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	ended, enough := make(chan error, 1), make(chan struct{}, 1)
	go func() { ended <- cmd.Wait() }()
	go func() {
		select {
		case <-ended:
		case <-enough:
		}
		c.finish()
		s.publish(Ended{})
	}()
	var out, errs bytes.Buffer
	late := time.After(time.Minute)
	for {
		select {
		case ev := <-events:
			switch ev := ev.(type) {
			case Output:
				if ev.Stderr {
					errs.Write(ev.Data)
				} else if out.Write(ev.Data); bytesEnough > 0 && out.Len() >= bytesEnough {
					select {
					case enough <- struct{}{}:
					default:
					}
				}
			case Ended:
				return out.String(), errs.String()
			}
		case <-late:
			t.Fatal("the capture does not end")
		}
	}
}

// TestCapture asserts of both ways that all output comes, each stream as itself.
func TestCapture(t *testing.T) {
	for name, open := range channels {
		t.Run(name, func(t *testing.T) {
			out, errs := captured(t, open, "head -c 3000000 /dev/zero; echo bad >&2; printf end", 0)
			if want := strings.Repeat("\x00", 3_000_000) + "end"; out != want {
				t.Errorf("%d bytes of output, want %d", len(out), len(want))
			}
			if errs != "bad\n" {
				t.Errorf("standard error is %q", errs)
			}
		})
	}
}

// TestCaptureEndsBeforeChildren asserts that a child that keeps the program's output open, or floods it, does not hold up
// the end.
func TestCaptureEndsBeforeChildren(t *testing.T) {
	for name, open := range channels {
		t.Run(name, func(t *testing.T) {
			if out, _ := captured(t, open, "sleep 1000 & echo last", 0); out != "last\n" {
				t.Errorf("the output is %q", out)
			}
			if out, _ := captured(t, open, "cat /dev/zero & cat /dev/zero", 1<<20); len(out) < 1<<20 {
				t.Errorf("%d bytes of a flood", len(out))
			}
		})
	}
}

// TestPipeBlocks: a program that inherits the pipe waits when it is full. It is not told EAGAIN.
func TestPipeBlocks(t *testing.T) {
	r, w, err := openPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for f, want := range map[*os.File]bool{r: true, w: false} {
		raw, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
			if got := flags&syscall.O_NONBLOCK != 0; got != want {
				t.Errorf("non-blocking is %v, want %v", got, want)
			}
		})
	}
}

// TestDrainIsBounded drains a channel that never becomes empty, as one is that a child of the program floods.
func TestDrainIsBounded(t *testing.T) {
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := &capture{owner: New(Config{})}
		c.drain(zero, false, make([]byte, 32<<10))
		c.owner.Close()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}
