// Command control holds dbg's control of a live program against gdb's, lldb's and a bare ptrace loop in C: conditional
// breakpoints whose condition is false, log points, steps, attaching. What a hit costs is told by the program
// itself, which counts how often it passes the breakpoint. Figures are medians of alternating runs.
//
//	go run ./internal/bench/control [-n RUNS] [-only TEXT]
package main

import (
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/session"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "logpoint" {
		logpoint(os.Args[2], os.Args[3])
		return
	}
	runs := flag.Int("n", 5, "runs of each")
	only := flag.String("only", "", "only tasks whose name contains this")
	flag.Parse()
	b := bench{runs: *runs, only: *only}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "control:", err)
		os.Exit(1)
	}
}

// bench has what all measurements share.
type bench struct {
	runs               int
	only               string
	dir, dbg           string
	target, bare, file string
	counters           *[512]int64
	self               string
}

// way is one debugger's command line.
type way struct {
	name string
	args []string
}

func (b *bench) run() error {
	var err error
	if b.dir, err = os.MkdirTemp("", "dbg-control"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.dbg, b.target, b.bare, b.file = filepath.Join(b.dir, "dbg"), filepath.Join(b.dir, "target"), filepath.Join(b.dir, "bare"), filepath.Join(b.dir, "counters")
	src := "internal/bench/control/c/"
	for _, c := range [][]string{
		{"go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.dbg, "./cmd/dbg"},
		{"gcc", "-g", "-O0", "-no-pie", "-pthread", "-o", b.target, src + "target.c"},
		{"gcc", "-O2", "-o", b.bare, src + "bare.c"},
	} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", c, err, out)
		}
	}
	if err := os.WriteFile(b.file, make([]byte, 4096), 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(b.file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	b.counters = (*[512]int64)(unsafe.Pointer(&m[0]))
	fmt.Printf("%-44s %12s %12s %12s %12s\n", "", "dbg", "bare loop", "gdb", "lldb")
	at, err := placeOf(b.target)
	if err != nil {
		return err
	}
	program := func(args ...string) []string { return append([]string{b.target}, args...) }
	conditional := func(args ...string) []way {
		p := program(args...)
		return []way{
			{"dbg", append([]string{b.dbg, "exec", "--batch", "--ex", "break place if n == -5", "--ex", "run"}, p...)},
			{"bare loop", append([]string{b.bare, fmt.Sprintf("%x", at)}, p...)},
			{"gdb", append([]string{"gdb", "-nx", "-batch", "-ex", "break place if n == -5", "-ex", "run", "--args"}, p...)},
			{"lldb", append([]string{"lldb-19", "-x", "-b", "-o", "breakpoint set -n place -c 'n == -5'", "-o", "run", "--"}, p...)},
		}
	}
	b.rate("a false conditional hit", conditional("hits", b.file))
	b.rate("the same beside 1000 idle threads", without(conditional("idle", b.file, "1000"), "bare loop"))
	b.rate("the same in 8 threads that all hit", without(conditional("busy", b.file, "8"), "bare loop"))
	p := program("hits", b.file)
	b.rate("a log point", []way{
		{"dbg", append([]string{b.self, "logpoint"}, p[0], b.file)},
		{"gdb", append([]string{"gdb", "-nx", "-batch", "-ex", `dprintf place,"at %ld\n",n`, "-ex", "run", "--args"}, p...)},
	})
	steps := program("steps", b.file)
	b.steps("next over a line with a loop of 400 rounds", "next", "loops", 1, steps)
	b.steps("step over the same", "step", "loops", 1, steps)
	b.steps("next on plain lines", "next", "lines", 300, steps)
	if err := b.attach("attach and detach, 1000 threads", []string{"wait", b.file, "1000"}, nil); err != nil {
		return err
	}
	if err := b.attach("thread apply all bt, 1000 threads", []string{"wait", b.file, "1000"}, []string{"thread apply all bt"}); err != nil {
		return err
	}
	libs, err := b.libraries(500)
	if err != nil {
		return err
	}
	return b.attach("attach and bt, 500 libraries", []string{"libraries", b.file, "500", libs}, []string{"bt"})
}

func without(ways []way, name string) []way {
	return slices.DeleteFunc(ways, func(w way) bool { return w.name == name })
}

// placeOf returns the address of the function place; the program is not position-independent.
func placeOf(exe string) (uint64, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		return 0, err
	}
	for _, s := range syms {
		if s.Name == "place" {
			return s.Value, nil
		}
	}
	return 0, fmt.Errorf("%s has no function place", exe)
}

// skip reports whether a task is not wanted.
func (b *bench) skip(task string) bool { return b.only != "" && !strings.Contains(task, b.only) }

// rate prints what one round of the program costs under each debugger: the time from one count to the next.
func (b *bench) rate(task string, ways []way) {
	if b.skip(task) {
		return
	}
	got := map[string][]time.Duration{}
	for range b.runs {
		for _, w := range ways {
			if d, err := b.rateOf(w); err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %v\n", task, w.name, err)
			} else {
				got[w.name] = append(got[w.name], d)
			}
		}
	}
	show(task, got)
}

// rateOf runs a debugger for a while.
func (b *bench) rateOf(w way) (time.Duration, error) {
	const warm, window = 50, 700 * time.Millisecond
	atomic.StoreInt64(&b.counters[0], 0)
	cmd := exec.Command(w.args[0], w.args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		timer := time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		timer.Stop()
		_ = exec.Command("pkill", "-9", "-f", b.target).Run()
	}()
	count := func() int64 { return atomic.LoadInt64(&b.counters[0]) }
	for deadline := time.Now().Add(30 * time.Second); count() < warm; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("it does not begin")
		}
	}
	from, begin := count(), time.Now()
	time.Sleep(window)
	n := count() - from
	if n == 0 {
		return 0, fmt.Errorf("no hit in %v", window)
	}
	return time.Since(begin) / time.Duration(n), nil
}

// steps prints what a step over lines costs: the time of a run with some more of them less that of a run with one, by their number.
func (b *bench) steps(task, next, function string, more int, program []string) {
	if b.skip(task) {
		return
	}
	script := func(n int) []way {
		count := strconv.Itoa(n)
		ways := []way{
			{"dbg", []string{b.dbg, "exec", "--batch", "--ex", "break " + function, "--ex", "run", "--ex", "delete", "--ex", next + " " + count}},
			{"gdb", []string{"gdb", "-nx", "-batch", "-ex", "break " + function, "-ex", "run", "-ex", "delete", "-ex", next + " " + count, "--args"}},
			{"lldb", append([]string{"lldb-19", "-x", "-b", "-o", "breakpoint set -n " + function, "-o", "run", "-o", "breakpoint disable"}, lldbSteps(next, n)...)},
		}
		for i := range ways {
			ways[i].args = append(ways[i].args, program...)
		}
		return ways
	}
	got := map[string][]time.Duration{}
	few, many := script(1), script(1+more)
	for range b.runs {
		for i := range few {
			base, err := wall(few[i].args)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %v\n", task, few[i].name, err)
				continue
			}
			all, err := wall(many[i].args)
			if err != nil {
				continue
			}
			got[few[i].name] = append(got[few[i].name], max(all-base, time.Microsecond)/time.Duration(more))
		}
	}
	show(task, got)
}

// lldbSteps makes lldb's commands for n steps: it has no count.
func lldbSteps(next string, n int) []string {
	var out []string
	for range n {
		out = append(out, "-o", next)
	}
	return append(out, "--")
}

// wall runs a command to its end.
func wall(args []string) (time.Duration, error) {
	cmd := exec.Command(args[0], args[1:]...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %.200s", err, out)
	}
	return time.Since(begin), nil
}

// attach prints how long it takes to attach to a program, do something and let it go.
func (b *bench) attach(task string, args, commands []string) error {
	if b.skip(task) {
		return nil
	}
	b.counters[1] = 0
	prog := exec.Command(b.target, args...)
	if err := prog.Start(); err != nil {
		return err
	}
	defer func() { _ = prog.Process.Kill(); _ = prog.Wait() }()
	for deadline := time.Now().Add(30 * time.Second); atomic.LoadInt64(&b.counters[1]) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%v does not begin", args)
		}
	}
	pid := strconv.Itoa(prog.Process.Pid)
	dbg, gdb, lldb := []string{b.dbg, "attach", "--batch"}, []string{"gdb", "-nx", "-batch", "-p", pid}, []string{"lldb-19", "-x", "-b", "-p", pid}
	for _, c := range commands {
		dbg, gdb = append(dbg, "--ex", c), append(gdb, "-ex", c)
		if strings.HasPrefix(c, "thread apply all") {
			c = "thread backtrace all"
		}
		lldb = append(lldb, "-o", c)
	}
	dbg = append(dbg, "--ex", "detach", pid)
	lldb = append(lldb, "-o", "detach")
	got := map[string][]time.Duration{}
	for range b.runs {
		for _, w := range []way{{"dbg", dbg}, {"gdb", gdb}, {"lldb", lldb}} {
			if d, err := wall(w.args); err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %v\n", task, w.name, err)
			} else {
				got[w.name] = append(got[w.name], d)
			}
		}
	}
	show(task, got)
	return nil
}

// libraries makes shared libraries.
func (b *bench) libraries(n int) (string, error) {
	if b.skip("attach and bt, 500 libraries") {
		return "", nil
	}
	src := filepath.Join(b.dir, "lib.c")
	if err := os.WriteFile(src, []byte("int library(int n) { return n + NUMBER; }\n"), 0o600); err != nil {
		return "", err
	}
	for i := range n {
		out := filepath.Join(b.dir, fmt.Sprintf("lib%d.so", i))
		if msg, err := exec.Command("gcc", "-g", "-shared", "-fPIC", fmt.Sprintf("-DNUMBER=%d", i), "-o", out, src).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, msg)
		}
	}
	return b.dir, nil
}

// show prints one row: the median of each debugger, with the ratio to dbg's.
func show(task string, got map[string][]time.Duration) {
	median := func(name string) time.Duration {
		d := got[name]
		if len(d) == 0 {
			return 0
		}
		slices.Sort(d)
		return d[len(d)/2]
	}
	mine := median("dbg")
	fmt.Printf("%-44s %12s", task, brief(mine))
	for _, name := range []string{"bare loop", "gdb", "lldb"} {
		if d := median(name); d == 0 || mine == 0 {
			fmt.Printf(" %12s", "")
		} else {
			fmt.Printf(" %12s", fmt.Sprintf("%s %.1fx", brief(d), float64(d)/float64(mine)))
		}
	}
	fmt.Println()
}

func brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1fµs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2fs", d.Seconds())
}

// logpoint runs the program with a log point, as an editor would have it, for as long as it is let.
func logpoint(exe, file string) {
	s := session.New(session.Config{})
	events, _ := s.Subscribe()
	err := s.Load(session.Program{Path: exe, Args: []string{"hits", file}})
	if err == nil {
		_, err = s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "place"}, LogMessage: "at {n}"}, false)
	}
	if err == nil {
		err = s.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for ev := range events {
		if m, ok := ev.(session.LogMessage); ok {
			fmt.Println(m.Text)
		}
	}
}
