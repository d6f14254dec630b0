package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
)

// terminal is dbg on a pseudo-terminal, with a user who types and reads.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	seen   string // all output that no expect has taken
	chunks chan string
	exited chan error
}

// deadline is how long an answer may take on a machine that is busy.
const deadline = 60 * time.Second

// openTerminal starts dbg on a new terminal.
func openTerminal(t *testing.T, home string, args ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = "dbg"
	cmd.Env = append(os.Environ(), "DBG_TEST_RUN=1", "TERM=xterm", "NO_COLOR=1", "XDG_STATE_HOME="+home)
	master := startOnTerminal(t, cmd)
	term := &terminal{t: t, master: master, cmd: cmd, chunks: make(chan string), exited: make(chan error, 1)}
	go func() {
		defer close(term.chunks)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if n > 0 {
				term.chunks <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		master.Close()
		for range term.chunks {
		}
		cmd.Wait()
	})
	return term
}

// startOnTerminal starts a command whose controlling terminal is a new one, and returns the user's side of that.
func startOnTerminal(t *testing.T, cmd *exec.Cmd) (master *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	return master
}

// ready is a new prompt. The editor repeats the prompt whenever it draws a line
// again, but then not after a new line.
const ready = `\n\(dbg\) $`

// escapes are what a line editor sends to place the cursor.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]|\r")

// expect waits for text that matches and returns what came before and with it.
func (term *terminal) expect(pattern string) string {
	term.t.Helper()
	re := regexp.MustCompile(pattern)
	timeout := time.NewTimer(deadline)
	defer timeout.Stop()
	for {
		clean := escapes.ReplaceAllString(term.seen, "")
		if loc := re.FindStringIndex(clean); loc != nil {
			term.seen = clean[loc[1]:]
			return clean[:loc[1]]
		}
		select {
		case c, ok := <-term.chunks:
			if !ok {
				term.t.Fatalf("dbg is gone; waiting for %q after:\n%s", pattern, clean)
			}
			term.seen += c
		case <-timeout.C:
			term.t.Fatalf("waited for %q, got:\n%s", pattern, clean)
		}
	}
}

func (term *terminal) typeText(s string) {
	term.t.Helper()
	if _, err := term.master.WriteString(s); err != nil {
		term.t.Fatal(err)
	}
}

// command types a line when the prompt is there, and gives what is printed up to
// the next prompt.
func (term *terminal) command(line string) string {
	term.t.Helper()
	term.typeText(line + "\r")
	out := term.expect(ready)
	// The editor redraws the line as it is typed: only what follows is the answer.
	if _, after, ok := strings.Cut(out, "\n"); ok {
		out = after
	}
	return strings.TrimSuffix(out, "(dbg) ")
}

// end waits for dbg to leave.
func (term *terminal) end(status int) {
	term.t.Helper()
	go func() {
		for range term.chunks {
		}
	}()
	done := make(chan error, 1)
	go func() { done <- term.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		got := 0
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		if got != status {
			term.t.Fatalf("exit status %d, want %d", got, status)
		}
	case <-time.After(deadline):
		term.t.Fatal("dbg does not end")
	}
}

const spinSource = `#include <stdio.h>
volatile int going = 1;
int spin(void) {
	int n = 0;
	while (going) n++;
	return n;
}
int main(void) {
	puts("spinning");
	fflush(stdout);
	spin();
	char line[80];
	puts("line?");
	fflush(stdout);
	if (fgets(line, sizeof line, stdin)) printf("got %s", line);
	return 0;
}
`

func buildSpin(t *testing.T) string {
	fixture.Need(t, "gcc")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spin.c"), []byte(spinSource), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-g", "-O0", "-o", "spin", "spin.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "spin")
}

func wantMatch(t *testing.T, what, got, pattern string) {
	t.Helper()
	if !regexp.MustCompile("(?m)" + pattern).MatchString(got) {
		t.Errorf("%s: want %q in:\n%s", what, pattern, got)
	}
}

// TestTerminal: a session as a user has it.
func TestTerminal(t *testing.T) {
	prog := buildSpin(t)
	home := t.TempDir()
	term := openTerminal(t, home, "exec", prog)
	term.expect(`^\(dbg\) $`)

	// Ctrl-C at the prompt is no end.
	term.typeText("foo\x03")
	term.expect(`Quit\n\(dbg\) $`)
	wantMatch(t, "unknown command", term.command("foo"), `^Undefined command: "foo"\.  Try "help"\.$`)

	// Ctrl-C stops the program, not dbg.
	term.command("tbreak spin")
	wantMatch(t, "run", term.command("run"), `^Temporary breakpoint 1, spin \(\) at .*spin.c:4$`)
	term.typeText("continue\r")
	term.expect(`Continuing\.\n`)
	term.typeText("\x03")
	out := term.expect(ready)
	wantMatch(t, "Ctrl-C", out, `^Program received signal SIGINT, Interrupt\.$`)
	wantMatch(t, "Ctrl-C", out, `spin \(\) at .*spin.c:[45]$`)

	// An empty line repeats: list goes on.
	out = term.command("list 1")
	wantMatch(t, "list", out, `^1	#include <stdio.h>$`)
	out = term.command("")
	wantMatch(t, "list again", out, `^11	`)
	wantMatch(t, "print", term.command("print 1"), `^\$1 = 1$`)
	wantMatch(t, "print again", term.command(""), `^\$2 = 1$`)

	// Completion of commands and of functions; history.
	wantMatch(t, "completion", term.command("tbre\tspi\t"), `^Temporary breakpoint 2 at 0x[0-9a-f]+: file .*spin.c, line 4\.$`)
	wantMatch(t, "history", term.command("\x1b[A\x1b[Aprint 1\x01\x0bprint 40+2"), `^\$3 = 42$`)

	// The program has the terminal while it runs, and reads from it.
	term.command("set var going = 0")
	term.typeText("continue\r")
	term.expect(`line\?\n`)
	term.typeText("hello\n")
	out = term.expect(ready)
	wantMatch(t, "the program's input", out, `^got hello$`)
	wantMatch(t, "the end", out, `^\[Inferior 1 \(process [0-9]+\) exited normally\]$`)

	// Quit asks only if there is something to lose.
	term.typeText("start\r")
	term.expect(`Temporary breakpoint 3, main`)
	term.expect(ready)
	term.typeText("quit\r")
	term.expect(`Inferior 1 \[process [0-9]+\] will be killed\.\n\nQuit anyway\? \(y or n\) $`)
	term.typeText("n\r")
	term.expect(ready)
	term.typeText("\x04")
	term.expect(`Quit anyway\? \(y or n\) $`)
	term.typeText("y\r")
	term.end(0)

	history, err := os.ReadFile(filepath.Join(home, "dbg", "history"))
	if err != nil || !strings.Contains(string(history), "print 40+2") {
		t.Errorf("history: %q, %v", history, err)
	}
}

// TestTerminalAttach: Ctrl-C for a program that is not in our terminal, and the
// end by a signal, which leaves the program running.
func TestTerminalAttach(t *testing.T) {
	prog := buildSpin(t)
	cmd := exec.Command(prog)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	term := openTerminal(t, t.TempDir(), "attach", fmt.Sprint(cmd.Process.Pid))
	term.expect(`Attached to process [0-9]+`)
	term.expect(ready)
	term.command("break main")
	term.typeText("continue\r")
	term.expect(`Continuing\.\n`)
	term.typeText("\x03")
	wantMatch(t, "Ctrl-C", term.expect(ready), `^Program received signal SIGINT, Interrupt\.$`)
	if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.end(1)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil || !strings.Contains(string(status), "TracerPid:\t0\n") || !strings.Contains(string(status), "State:\tR") {
		t.Errorf("the program does not run on: %v\n%s", err, status)
	}
}

// TestTerminalDemo: the tour ends at the prompt, with suggestions.
func TestTerminalDemo(t *testing.T) {
	term := openTerminal(t, t.TempDir(), "demo")
	term.expect(`That was the tour(.|\n)*leaves\.\n\(dbg\) $`)
	wantMatch(t, "up", term.command("up"), `^#3  0x[0-9a-f]+ in main \(\) at demo.c:73$`)
	wantMatch(t, "disassemble", term.command("disassemble take"), `^Dump of assembler code for function take:$`)
	wantMatch(t, "break", term.command("break travel if here == &ghost"), `^Breakpoint 2 at `)
	term.typeText("run\r")
	term.expect(`Start it from the beginning\? \(y or n\) $`)
	term.typeText("y\r")
	wantMatch(t, "run", term.expect(ready), `^Breakpoint 2, travel \(train=0x[0-9a-f]+, here=0x[0-9a-f]+ <ghost>\)`)
	term.typeText("quit\r")
	term.expect(`Quit anyway\? \(y or n\) $`)
	term.typeText("y\r")
	term.end(0)
}
