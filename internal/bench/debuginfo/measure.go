package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"debug/elf"
)

// question is something that debuggers are asked about a program; words must be in the answer, so that a failure is no record.
type question struct {
	name  string
	words string
	args  map[string][]string // by debugger; EXE is the program
}

// made is how many units have been generated at most; larger programs are those, linked with copies of theirs under other names, so that a
// question about a name has the same answer. gdb would take minutes for the second question there and is not asked it.
const made = 200

func questions(units int) []question {
	list := []question{
		{"`break main`, `run`, `bt`", "main", map[string][]string{
			"dbg":     {"exec", "--batch", "--ex", "break main", "--ex", "run", "--ex", "bt", "EXE"},
			"gdb":     {"-ex", "break main", "-ex", "run", "-ex", "bt", "EXE"},
			"lldb-19": {"-o", "breakpoint set -n main", "-o", "run", "-o", "bt", "EXE"},
		}},
		{"`break ns::spot`", fmt.Sprintf("%d locations", 4*min(units, made)), map[string][]string{
			"dbg":       {"exec", "--batch", "--ex", "break ns::spot", "EXE"},
			"dbg index": {"exec", "--batch", "--ex", "break ns::spot", "EXE"},
			"gdb":       {"-ex", "break ns::spot", "EXE"},
			"lldb-19":   {"-o", "breakpoint set -n ns::spot", "EXE"},
		}},
	}
	if units > made {
		delete(list[1].args, "gdb")
	}
	return list
}

var kernelQuestion = question{"one symbol of the kernel image", "start_kernel", map[string][]string{
	"dbg":     {"lookup", "EXE", "start_kernel"},
	"gdb":     {"-ex", "info line start_kernel", "EXE"},
	"lldb-19": {"-o", "image lookup -v -F start_kernel", "EXE"},
}}

// debuggers in the order of the table; the last has an index on disk.
var debuggers = []string{"dbg", "dbg index", "gdb", "lldb-19"}

// cost is what a question has cost.
type cost struct {
	wall time.Duration
	rss  int64 // KiB
}

// measured is one line of the table.
type measured struct {
	size  int64 // bytes of debug sections
	name  string
	costs map[string]cost
}

// measure asks each program, and the kernel image if there is one, and writes a table, and a plot of the programs' figures to a file.
func measure(w io.Writer, dir string, units []int, kernel, small, plot string, runs int) error {
	tmp, err := os.MkdirTemp("", "dbg-debuginfo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dbg := filepath.Join(tmp, "dbg")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dbg, "./cmd/dbg").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var all []measured
	ask := func(exe string, q question) error {
		m, err := askAll(dbg, tmp, exe, q, runs)
		if err == nil {
			all = append(all, m)
			fmt.Fprintln(w, m)
		}
		return err
	}
	fmt.Fprintln(w, "| debug information | question | dbg | dbg, index on disk | gdb | lldb |\n|---|---|---|---|---|---|")
	if small != "" {
		if err := ask(small, questions(0)[0]); err != nil {
			return err
		}
	}
	for _, n := range units {
		exe := filepath.Join(dir, fmt.Sprintf("big%d", n))
		// Files that nobody has read yet measure the disk.
		if err := exec.Command("cat", exe).Run(); err != nil {
			return fmt.Errorf("%s: %w", exe, err)
		}
		for _, q := range questions(n) {
			if err := ask(exe, q); err != nil {
				return err
			}
		}
	}
	if kernel != "" {
		if err := ask(kernel, kernelQuestion); err != nil {
			return err
		}
	}
	if plot != "" {
		return os.WriteFile(plot, []byte(drawing(all)), 0o644)
	}
	return nil
}

// askAll asks all debuggers in turn, several times, and takes medians.
func askAll(dbg, tmp, exe string, q question, runs int) (measured, error) {
	m := measured{size: debugSize(exe), name: q.name, costs: map[string]cost{}}
	got := map[string][]cost{}
	index := filepath.Join(tmp, "names")
	if _, ok := q.args["dbg index"]; ok {
		cmd := exec.Command(dbg, "index", exe)
		cmd.Env = append(os.Environ(), "DBG_INDEX_DIR="+index)
		if out, err := cmd.CombinedOutput(); err != nil {
			return m, fmt.Errorf("index: %w: %s", err, out)
		}
	}
	for run := range runs {
		for _, d := range debuggers {
			args, ok := q.args[d]
			if !ok || run > 0 && len(got[d]) > 0 && got[d][0].wall > 20*time.Second {
				continue
			}
			program, words := dbg, q.words
			env := append(os.Environ(), "DBG_INDEX_DIR=none", "DEBUGINFOD_URLS=")
			switch d {
			case "dbg index":
				env = append(os.Environ(), "DBG_INDEX_DIR="+index, "DEBUGINFOD_URLS=")
			case "gdb":
				program, args = "gdb", append([]string{"-nx", "-batch", "-iex", "set index-cache enabled off"}, args...)
			case "lldb-19":
				program, args = "lldb-19", append([]string{"--batch", "-x"}, args...)
			}
			c, err := once(program, exe, words, args, env)
			if err != nil {
				return m, err
			}
			got[d] = append(got[d], c)
		}
	}
	for d, list := range got {
		slices.SortFunc(list, func(a, b cost) int { return cmp.Compare(a.wall, b.wall) })
		m.costs[d] = list[len(list)/2]
	}
	return m, nil
}

func once(program, exe, words string, args, env []string) (cost, error) {
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "EXE", exe)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start)}
	if !bytes.Contains(out.Bytes(), []byte(words)) {
		return c, fmt.Errorf("%s %q: no %q: %v\n%.2000s", program, args, words, err, out.Bytes())
	}
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.rss = use.Maxrss
	}
	return c, nil
}

// debugSize is how many bytes of debug sections a file has.
func debugSize(path string) (n int64) {
	f, err := elf.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			n += int64(s.Size)
		}
	}
	return n
}

func (m measured) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %.1f MB | %s |", float64(m.size)/1e6, m.name)
	for _, d := range debuggers {
		c, ok := m.costs[d]
		if !ok {
			b.WriteString(" |")
			continue
		}
		fmt.Fprintf(&b, " %.3f s, %d MB |", c.wall.Seconds(), c.rss*1024/1e6)
	}
	return b.String()
}
