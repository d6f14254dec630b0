package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// physical is a thread's return addresses, and the functions of its frames, inlined ones included.
type physical struct {
	id        int
	pcs       []string
	functions []string
}

// ownFrames returns the threads of a dump as dbg bt shows them.
func ownFrames(t *testing.T, args ...string) (out []physical, exception string) {
	t.Helper()
	text, errs, status := dbg(t, append([]string{"bt", "--format", "json"}, args...)...)
	var v struct {
		Target struct {
			Signal struct{ Name, Address, Exception string }
		}
		Threads []struct {
			ID     int
			Frames []struct {
				PC, Function string
				Inlined      bool
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s", status, err, errs)
	}
	for _, th := range v.Threads {
		p := physical{id: th.ID}
		for _, f := range th.Frames {
			p.functions = append(p.functions, f.Function)
			if !f.Inlined {
				p.pcs = append(p.pcs, f.PC)
			}
		}
		out = append(out, p)
	}
	s := v.Target.Signal
	return out, strings.TrimSpace(s.Exception + s.Name + " " + s.Address)
}

// TestMinidumpWriter: a program in Rust crashes, and the crate minidump-writer writes its dump. dbg shows
// the functions that were called, in all threads. The frames that minidump-stackwalk finds, which has the
// symbols, begin with dbg's.
func TestMinidumpWriter(t *testing.T) {
	fixture.Sweep(t)
	exe := fixture.Crate(t, "target/minidump/testdata/crasher")
	walker := fixture.Installed(t, "minidump-stackwalk", "0.27.0")
	dumper := filepath.Join(fixture.NPM(t, "minidump", "0.26.0"), "bin/linux-x64/dump_syms")
	path := filepath.Join(t.TempDir(), "crash.dmp")
	_ = exec.Command(exe, path).Run() // it dies of the signal
	own, signal := ownFrames(t, path)
	// The crash was at 0x18, but crash-handler leaves the address of the signal 0: the file contains no other.
	if signal != "SIGSEGV 0x0" || len(own) != 3 {
		t.Fatalf("%s in %d threads", signal, len(own))
	}
	for i, want := range [][]string{{"crash_leaf", "crash_middle", "crash_outer", "main", "_start"}, {"wait_inner",
		"wait_outer", "start_thread"}, {"wait_inner", "wait_outer", "start_thread"}} {
		rest := own[i].functions
		for _, name := range want {
			at := slices.IndexFunc(rest, func(f string) bool { return strings.HasSuffix(f, name) })
			if at < 0 {
				t.Errorf("thread %d has no %s in %q", i, name, own[i].functions)
				break
			}
			rest = rest[at+1:]
		}
	}

	syms := t.TempDir()
	for _, file := range []string{exe, "/lib/x86_64-linux-gnu/libc.so.6"} {
		breakpadSymbols(t, dumper, syms, file)
	}
	right, theirs, ours := 0, 0, 0
	for i, other := range walkedBy(t, walker, "--json", "--symbols-path", syms, path) {
		mine := own[i].pcs
		n := 0
		for n < min(len(mine), len(other)) && mine[n] == other[n] {
			n++
		}
		right, theirs, ours = right+n, theirs+len(other), ours+len(mine)
		if n < len(mine) {
			t.Errorf("thread %d: frame %d of dbg %q, of minidump-stackwalk %q", i, n, mine, other)
		}
	}
	t.Logf("dbg has %d frames, minidump-stackwalk has the same %d, and %d after the end", ours, right, theirs-right)
}

// TestBreakpadDumps: the dumps that Breakpad's own tests have, of Windows and Linux, written by Microsoft's
// library and by Breakpad. No file of their modules is here. Each frame of the crashed thread that
// minidump-stackwalk finds by a frame pointer is among dbg's, in the same order.
func TestBreakpadDumps(t *testing.T) {
	fixture.Sweep(t)
	folder := filepath.Join(fixture.NPM(t, "minidump", "0.9.0"), "deps/breakpad/src/processor/testdata")
	walker := fixture.Installed(t, "minidump-stackwalk", "0.27.0")
	signals := map[string]string{
		"null_read_av": "access violation reading 0x0 (0xc0000005)SIGSEGV 0x0", "linux_overflow": "SIGABRT",
		"linux_null_read_av": "SIGSEGV",
		"exec_av_on_stack":   "access violation executing 0x3df944 (0xc0000005)SIGSEGV 0x3df944",
		"stack_exhaustion":   "stack overflow at 0xdea637 (0xc00000fd)SIGSEGV",
	}
	// In these the function of the innermost frame has not set up its frame pointer: minidump-stackwalk misses its caller.
	more := map[string]bool{"exec_av_on_stack": true, "stack_exhaustion": true}
	all, _ := filepath.Glob(filepath.Join(folder, "*.dmp"))
	dumps, frames := 0, 0
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".dmp")
		if strings.HasPrefix(name, "microdump") {
			continue
		}
		dumps++
		own, signal := ownFrames(t, path)
		if want := signals[name]; want != "" && signal != want {
			t.Errorf("%s: %q, want %q", name, signal, want)
		}
		list := walkedBy(t, walker, "--json", path)
		if len(own) != len(list) || len(own) == 0 {
			t.Errorf("%s: %d threads, minidump-stackwalk has %d", name, len(own), len(list))
			continue
		}
		mine, other := own[0].pcs, list[0]
		rest := mine
		for i, pc := range other {
			if strings.HasPrefix(name, "linux") && i > 0 {
				break // found by a search of the stack
			}
			at := slices.Index(rest, pc)
			if at < 0 || at > 0 && !more[name] {
				t.Errorf("%s: frame %d is %s, dbg has %q", name, i, pc, mine)
				break
			}
			frames, rest = frames+1, rest[at+1:]
		}
		if !strings.HasPrefix(name, "linux") && (len(mine) > len(other)) != more[name] {
			t.Errorf("%s: dbg has %d frames, minidump-stackwalk %d", name, len(mine), len(other))
		}
	}
	t.Logf("%d dumps, %d frames", dumps, frames)
	if dumps != 20 {
		t.Errorf("%d dumps, want 20", dumps)
	}
}

// breakpadSymbols writes the symbols of a file in the layout of a Breakpad symbol store.
func breakpadSymbols(t *testing.T, dumper, dir, file string) {
	t.Helper()
	if err := os.Chmod(dumper, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(dumper, file).Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("dump_syms %s: %v", file, err)
	}
	first := strings.Fields(strings.SplitN(string(out), "\n", 2)[0])
	if len(first) < 5 {
		t.Fatalf("dump_syms %s begins with %q", file, first)
	}
	folder := filepath.Join(dir, first[4], first[3])
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, first[4]+".sym"), out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// walkedBy returns the frames of each thread that minidump-stackwalk prints as JSON: the crashed thread
// first. It gives the address of the call for a return address, one byte less.
func walkedBy(t *testing.T, walker string, args ...string) (out [][]string) {
	t.Helper()
	text, err := exec.Command(walker, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		CrashInfo struct {
			Thread int `json:"crashing_thread"`
		} `json:"crash_info"`
		Threads []struct {
			Frames []struct{ Offset string }
		}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	for _, th := range v.Threads {
		var pcs []string
		for i, f := range th.Frames {
			var pc uint64
			fmt.Sscanf(f.Offset, "0x%x", &pc)
			if i > 0 {
				pc++
			}
			pcs = append(pcs, fmt.Sprintf("0x%x", pc))
		}
		out = append(out, pcs)
	}
	if n := v.CrashInfo.Thread; n > 0 && n < len(out) {
		crashed := out[n]
		out = append([][]string{crashed}, slices.Delete(out, n, n+1)...)
	}
	return out
}
