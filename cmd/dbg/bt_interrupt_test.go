package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
)

// dbg bt writes nothing into a process, also if it is interrupted at any moment, and leaves it running.
func TestBacktraceLeavesMemoryAlone(t *testing.T) {
	prog := exec.Command(fixture.Build(t, "c/waiter.c", "-g", "-O1"))
	in, err := prog.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := prog.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := prog.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = prog.Process.Kill(); _ = prog.Wait() }()
	pid := prog.Process.Pid
	var ready [6]byte // "ready": all is mapped
	if _, err := io.ReadFull(out, ready[:]); err != nil {
		t.Fatal(err)
	}
	before := code(t, pid)
	tries := 8
	if fixture.All() {
		tries = 50
	}
	for i := range tries {
		cmd := exec.Command(os.Args[0], "bt", fmt.Sprint(pid))
		cmd.Env = append(os.Environ(), "DBG_TEST_RUN=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(60000)) * time.Microsecond) // a random moment is what is tested
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		after := code(t, pid)
		if len(before) != len(after) {
			t.Fatalf("try %d: %d mappings, %d before", i, len(after), len(before))
		}
		for name, text := range before {
			if !bytes.Equal(text, after[name]) {
				t.Fatalf("try %d: %s has changed", i, name)
			}
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for _, line := range strings.Split(string(status), "\n") {
			if state, is := strings.CutPrefix(line, "State:\t"); is && strings.ContainsAny(state[:1], "Tt") { // stopped, or traced
				t.Fatalf("try %d: %s", i, line)
			}
			if strings.HasPrefix(line, "TracerPid:") && !strings.HasSuffix(line, "\t0") {
				t.Fatalf("try %d: %s", i, line)
			}
		}
		if err := unix.Kill(pid, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// code reads what a process has mapped for execution.
func code(t *testing.T, pid int) map[string][]byte {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	out := map[string][]byte{}
	for _, line := range strings.Split(string(maps), "\n") {
		var lo, hi int64
		var perms string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &lo, &hi, &perms); n < 3 || !strings.Contains(perms, "x") || strings.Contains(line, "[vsyscall]") {
			continue
		}
		text := make([]byte, hi-lo)
		if _, err := mem.ReadAt(text, lo); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		out[line] = text
	}
	return out
}
