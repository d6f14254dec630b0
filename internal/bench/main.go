// Command bench holds dbg against gdb, lldb and eu-stack at what users wait for:
// launch to main to backtrace, core to backtrace, attach to backtrace to
// detach. Wall time and peak memory are medians of alternating runs; the ratio to
// dbg is the figure.
//
//	go run ./internal/bench [-n RUNS]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// peer is a debugger with its command line for each task; nil where it can't.
type peer struct {
	name  string
	needs string
	args  []string
}

// task is something that users wait for.
type task struct {
	name  string
	want  string // must be in the output, so that a failure is no record
	peers []peer
}

// result is the medians of one peer's runs.
type result struct {
	wall time.Duration
	rss  int64 // KiB
}

func main() {
	runs := flag.Int("n", 9, "runs of each")
	flag.Parse()
	if err := bench(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(runs int) error {
	dir, err := os.MkdirTemp("", "dbg-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	dbg := filepath.Join(dir, "dbg")
	if err := command(".", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", dbg, "./cmd/dbg"); err != nil {
		return err
	}
	abort, waiter := filepath.Join(dir, "abort3"), filepath.Join(dir, "waiter")
	threads := filepath.Join(dir, "threads8")
	for src, exe := range map[string]string{"abort3.c": abort, "waiter.c": waiter, "threads8.c": threads} {
		if err := command(".", "gcc", "-g", "-O1", "-pthread", "-o", exe, filepath.Join("testdata/c", src)); err != nil {
			return err
		}
	}
	exec.Command("sh", "-c", fmt.Sprintf("cd %s && ulimit -c unlimited && %s", dir, abort)).Run()
	cores, _ := filepath.Glob(filepath.Join(dir, "core*"))
	if len(cores) != 1 {
		return fmt.Errorf("no core file was written (core_pattern?)")
	}
	core := cores[0]

	wait := exec.Command(waiter)
	in, _ := wait.StdinPipe()
	out, err := wait.StdoutPipe()
	if err != nil {
		return err
	}
	if err := wait.Start(); err != nil {
		return err
	}
	defer func() { in.Close(); wait.Wait() }()
	bufio.NewReader(out).ReadString('\n')
	pid := fmt.Sprint(wait.Process.Pid)

	py, err := pythonWaiter()
	if err != nil {
		return err
	}
	defer py.stop()

	tasks := []task{
		{"launch to main to backtrace (C, 20 lines)", "main", []peer{
			{"dbg", dbg, []string{"exec", "--batch", "--ex", "break main", "--ex", "run", "--ex", "bt", abort}},
			{"gdb", "gdb", []string{"-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "break main", "-ex", "run", "-ex", "bt", abort}},
			{"lldb", "lldb-19", []string{"--no-lldbinit", "--batch", "-o", "breakpoint set -n main", "-o", "run", "-o", "bt", "-o", "kill", abort}},
		}},
		{"core to backtrace", "baz", []peer{
			{"dbg", dbg, []string{"core", "--batch", "--ex", "bt", core}},
			{"dbg bt", dbg, []string{"bt", core}},
			{"gdb", "gdb", []string{"-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "bt", abort, core}},
			{"lldb", "lldb-19", []string{"--no-lldbinit", "--batch", "-o", "bt", "-c", core, abort}},
			{"eu-stack", "eu-stack", []string{"-s", "-e", abort, "--core", core}},
		}},
		{"attach to backtrace to detach", "inner", []peer{
			{"dbg", dbg, []string{"attach", "--batch", "--ex", "bt", "--ex", "detach", pid}},
			{"dbg bt", dbg, []string{"bt", pid}},
			{"gdb", "gdb", []string{"-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "bt", "-ex", "detach", "-p", pid}},
			{"lldb", "lldb-19", []string{"--no-lldbinit", "--batch", "-o", "bt", "-o", "detach", "-p", pid}},
			{"eu-stack", "eu-stack", []string{"-s", "-p", pid}},
		}},
		{"attach to python3 to backtrace to detach", "", []peer{
			{"dbg", dbg, []string{"attach", "--batch", "--ex", "bt", "--ex", "detach", py.pid}},
			{"dbg bt", dbg, []string{"bt", py.pid}},
			{"gdb", "gdb", []string{"-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "bt", "-ex", "detach", "-p", py.pid}},
			{"lldb", "lldb-19", []string{"--no-lldbinit", "--batch", "-o", "bt", "-o", "detach", "-p", py.pid}},
			{"eu-stack", "eu-stack", []string{"-s", "-p", py.pid}},
		}},
	}
	fmt.Printf("%-44s %-9s %10s %10s %8s %8s\n", "task", "who", "wall", "memory", "time/dbg", "mem/dbg")
	for _, t := range tasks {
		t.run(runs)
	}
	return nil
}

// run measures the peers in turn, so that a noisy moment hits all.
func (t *task) run(runs int) {
	walls := make([][]time.Duration, len(t.peers))
	mems := make([][]int64, len(t.peers))
	errs := make([]error, len(t.peers))
	for n := -1; n < runs; n++ { // the first round warms caches and is not counted
		for i, p := range t.peers {
			if errs[i] != nil {
				continue
			}
			wall, rss, err := measure(p, t.want)
			if err != nil {
				errs[i] = err
				continue
			}
			if n >= 0 {
				walls[i], mems[i] = append(walls[i], wall), append(mems[i], rss)
			}
		}
	}
	var base result
	for i, p := range t.peers {
		if errs[i] != nil {
			fmt.Printf("%-44s %-9s %v\n", t.name, p.name, errs[i])
			continue
		}
		sort.Slice(walls[i], func(a, b int) bool { return walls[i][a] < walls[i][b] })
		sort.Slice(mems[i], func(a, b int) bool { return mems[i][a] < mems[i][b] })
		r := result{wall: walls[i][len(walls[i])/2], rss: mems[i][len(mems[i])/2]}
		if i == 0 {
			base = r
		}
		fmt.Printf("%-44s %-9s %7.1f ms %7.1f MB %8.1f %8.1f\n", t.name, p.name,
			float64(r.wall.Microseconds())/1000, float64(r.rss)/1024,
			float64(r.wall)/float64(base.wall), float64(r.rss)/float64(base.rss))
	}
}

func measure(p peer, want string) (time.Duration, int64, error) {
	path, err := exec.LookPath(p.needs)
	if err != nil {
		return 0, 0, fmt.Errorf("not installed")
	}
	cmd := exec.Command(path, p.args...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(start)
	if cmd.ProcessState == nil {
		return 0, 0, err
	}
	if !strings.Contains(string(out), want) {
		return 0, 0, fmt.Errorf("no %q in what it printed: %.200s", want, out)
	}
	return wall, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, nil
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// python is a process with many libraries that waits.
type python struct {
	pid  string
	stop func()
}

func pythonWaiter() (*python, error) {
	cmd := exec.Command("python3", "-c", "import sys, json, ssl, sqlite3, ctypes\nprint('ready', flush=True)\nsys.stdin.readline()")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	bufio.NewReader(out).ReadString('\n')
	return &python{fmt.Sprint(cmd.Process.Pid), func() { in.Close(); cmd.Wait() }}, nil
}
