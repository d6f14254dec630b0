// Command unwind holds dbg's unwinder against others on the same stacks: libunwind and libgcc in their own process,
// libunwind-ptrace, eu-stack and gdb on another one.
//
//	go run ./internal/bench/unwind [-deep FRAMES]
//
// It needs gcc, libunwind-dev, elfutils and gdb; what is missing is left out, and said.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	deep := flag.Int("deep", 1_000_000, "frames of the deep stack")
	gdbDeep := flag.Int("gdb", 100_000, "frames of the deep stack for gdb, which needs 10 KB for each")
	flag.Parse()
	if err := bench(*deep, *gdbDeep); err != nil {
		fmt.Fprintln(os.Stderr, "unwind:", err)
		os.Exit(1)
	}
}

func bench(deep, gdbDeep int) error {
	dir, err := os.MkdirTemp("", "dbg-unwind")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	dbg, prog, remote := filepath.Join(dir, "dbg"), filepath.Join(dir, "deep"), filepath.Join(dir, "remote")
	for _, c := range [][]string{
		{"go", "build", "-trimpath", "-ldflags=-s -w", "-o", dbg, "./cmd/dbg"},
		{"gcc", "-O2", "-g", "-pthread", "-o", prog, "internal/bench/unwind/c/deep.c", "-lunwind"},
		{"gcc", "-O2", "-o", remote, "internal/bench/unwind/c/remote.c", "-lunwind-ptrace", "-lunwind-x86_64", "-lunwind"},
	} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %v\n%s", strings.Join(c, " "), err, out)
		}
	}
	fmt.Println("In one's own process, ns a frame with all callee-saved registers:")
	goBench("  dbg, ", "./row", "Warm$|ColdRows$")
	goBench("  dbg, the whole walk, ", "./frames", "BenchmarkFrame$")
	out, err := exec.Command(prog, "108", "self").Output()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		fmt.Printf("  %s", strings.ReplaceAll(line, "\t", ": "))
	}
	fmt.Println("Compiling rows, one core:")
	goBench("  dbg, ", "./frames/module", "Compile$")
	fmt.Println("Another process, a stack of 1,000 frames, ns a frame:")
	goBench("  dbg, ", "./session", "OtherProcess/.*/1000$")
	if err := withStack(prog, 1000, func(pid, tid int) error {
		out, err := exec.Command(remote, strconv.Itoa(tid), "20").CombinedOutput()
		fmt.Printf("  libunwind-ptrace: %s", out)
		return err
	}); err != nil {
		return err
	}
	fmt.Printf("Another process, %d frames:\n", deep)
	goBench("  dbg, the walk alone, ", "./session", "Million$")
	err = withStack(prog, deep, func(pid, tid int) error {
		measure("dbg bt", dbg, "bt", strconv.Itoa(pid))
		measure("eu-stack (no lines, no arguments)", "eu-stack", "-n", "0", "-p", strconv.Itoa(pid))
		measure("eu-stack -v (lines)", "eu-stack", "-v", "-n", "0", "-p", strconv.Itoa(pid))
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("Another process, %d frames:\n", gdbDeep)
	return withStack(prog, gdbDeep, func(pid, tid int) error {
		measure("dbg bt", dbg, "bt", strconv.Itoa(pid))
		measure("gdb bt", "gdb", "-nx", "-batch", "-p", strconv.Itoa(pid), "-ex", "thread 2", "-ex", "bt")
		return nil
	})
}

// withStack runs f on a process whose second thread has that many frames.
func withStack(prog string, depth int, f func(pid, tid int) error) error {
	cmd := exec.Command(prog, strconv.Itoa(depth))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		return fmt.Errorf("%q, %v", line, err)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", cmd.Process.Pid))
	if err != nil || len(tasks) != 2 {
		return fmt.Errorf("%d threads, %v", len(tasks), err)
	}
	tid, err := strconv.Atoi(tasks[1].Name())
	if err != nil {
		return err
	}
	return f(cmd.Process.Pid, tid)
}

// measure prints the median time of three runs of a command, and its memory.
func measure(name string, args ...string) {
	if _, err := exec.LookPath(args[0]); err != nil {
		fmt.Printf("  %s: not installed\n", name)
		return
	}
	best, rss, lines := time.Duration(0), int64(0), 0
	for range 3 {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
		var out lineCounter
		cmd.Stdout = &out
		start := time.Now()
		cmd.Run()
		if d := time.Since(start); best == 0 || d < best {
			best = d
		}
		if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			rss = max(rss, use.Maxrss)
		}
		lines = int(out)
	}
	fmt.Printf("  %s: %.2f s, %d MB, %d lines\n", name, best.Seconds(), rss>>10, lines)
}

// lineCounter counts lines and keeps nothing: what this program has in memory would count as the peer's.
type lineCounter int

func (l *lineCounter) Write(p []byte) (int, error) {
	*l += lineCounter(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

var benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// goBench runs Go benchmarks and prints their lines.
func goBench(prefix, pkg, pattern string) {
	out, err := exec.Command("go", "test", "-run", "xxx", "-bench", pattern, "-count", "3", pkg).CombinedOutput()
	if err != nil {
		fmt.Printf("%s%v\n%s", prefix, err, out)
		return
	}
	for _, m := range benchLine.FindAllStringSubmatch(string(out), -1) {
		fmt.Printf("%s%s: %s\n", prefix, m[1], strings.Join(strings.Fields(m[2]), " "))
	}
}
