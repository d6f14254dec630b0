package ptrace

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"dbg/target"
)

// watchProgram compiles testdata/watch.c for one test.
func watchProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "watch")
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-no-pie", "-o", path, "testdata/watch.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func launchWatch(t *testing.T, mode string) (d *debuggee, path string) {
	path = watchProgram(t)
	return launchWith(t, LaunchOptions{Path: path, Args: []string{mode}}), path
}

func (d *debuggee) go1(r target.Resume) target.Event {
	d.t.Helper()
	if err := d.Resume(r); err != nil {
		d.t.Fatal(err)
	}
	return d.next()
}

// TestWatchPlain: each write stops after it, each read for WatchAccess only, and bytes beside the watched
// ones never.
func TestWatchPlain(t *testing.T) {
	d, path := launchWatch(t, "plain")
	word, bytes := symbolIn(t, path, "word"), symbolIn(t, path, "bytes")
	w := target.Watch{Addr: word, Len: 8, Kind: target.WatchWrite}
	if err := d.InsertWatch(w); err != nil {
		t.Fatal(err)
	}
	store := symbolIn(t, path, "store")
	for _, want := range []int64{1, 1, 2} {
		e := d.go1(target.Resume{})
		if e.Reason != target.Watched || len(e.Watches) != 1 || e.Watches[0] != w || d.word(word) != want || e.Addr < store || e.Addr > store+16 {
			t.Fatalf("%+v, the word is %d, want %d", e, d.word(word), want)
		}
	}
	if err := d.RemoveWatch(w); err != nil {
		t.Fatal(err)
	}
	access := target.Watch{Addr: word, Len: 8, Kind: target.WatchAccess}
	one := target.Watch{Addr: bytes + 9, Len: 1, Kind: target.WatchWrite}
	for _, x := range []target.Watch{access, one} {
		if err := d.InsertWatch(x); err != nil {
			t.Fatal(err)
		}
	}
	load := symbolIn(t, path, "load")
	if e := d.go1(target.Resume{}); e.Reason != target.Watched || e.Watches[0] != access || e.Addr < load || e.Addr > load+16 {
		t.Fatalf("%+v", e)
	}
	if e := d.go1(target.Resume{}); e.Reason != target.Watched || len(e.Watches) != 1 || e.Watches[0] != one {
		t.Fatalf("%+v", e)
	}
	if e := d.go1(target.Resume{}); e.Kind != target.Exited || e.ExitCode != 0 {
		t.Fatalf("%+v", e)
	}
}

// TestWatchSlots: four registers, counted users, clear errors.
func TestWatchSlots(t *testing.T) {
	d, path := launchWatch(t, "plain")
	word := symbolIn(t, path, "word")
	if err := d.InsertWatch(target.Watch{Addr: word + 1, Len: 8}); err == nil {
		t.Error("an address that is not aligned")
	}
	if err := d.InsertWatch(target.Watch{Addr: 0xffff800000000000, Len: 8}); err == nil {
		t.Error("an address of the kernel")
	}
	for i := range 4 {
		for range 2 {
			if err := d.InsertWatch(target.Watch{Addr: word + target.Addr(8*i), Len: 8}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fifth := target.Watch{Addr: word + 64, Len: 8}
	if err := d.InsertWatch(fifth); err != target.ErrNoSlot {
		t.Errorf("a fifth watch: %v", err)
	}
	first := target.Watch{Addr: word, Len: 8}
	for i := range 2 {
		if err := d.InsertWatch(fifth); err != target.ErrNoSlot {
			t.Errorf("after %d removals: %v", i, err)
		}
		if err := d.RemoveWatch(first); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.InsertWatch(fifth); err != nil {
		t.Error(err)
	}
	if err := d.RemoveWatch(first); err == nil {
		t.Error("a watch that is not there was removed")
	}
	for i := 1; i < 4; i++ { // what nobody writes
		for range 2 {
			_ = d.RemoveWatch(target.Watch{Addr: word + target.Addr(8*i), Len: 8})
		}
	}
	_ = d.RemoveWatch(fifth)
	if e := d.go1(target.Resume{}); e.Kind != target.Exited || e.ExitCode != 0 {
		t.Errorf("%+v", e)
	}
}

// TestWatchThreads: threads that are made later inherit the watch, and each of their writes is judged.
func TestWatchThreads(t *testing.T) {
	d, path := launchWatch(t, "threads")
	word := symbolIn(t, path, "word")
	hits := map[target.ThreadID]int{}
	var other atomic.Int32
	d.SetJudge(func(h *target.Hit) target.Verdict {
		if h.Reason != target.Watched || len(h.Watches) != 1 {
			other.Add(1)
			return target.Halt
		}
		hits[h.Thread]++
		return target.Pass
	})
	// A breakpoint beside it, whose instruction writes to the stack, and is emulated elsewhere.
	if err := d.InsertBreakpoint(symbolIn(t, path, "load")); err != nil {
		t.Fatal(err)
	}
	if err := d.InsertWatch(target.Watch{Addr: word, Len: 8}); err != nil {
		t.Fatal(err)
	}
	if e := d.go1(target.Resume{}); e.Kind != target.Exited || e.ExitCode != 0 {
		t.Fatalf("%+v", e)
	}
	if got := d.output(); got != "1000 1000 1000 1000\n" {
		t.Errorf("the program counts %q", got)
	}
	if len(hits) != 4 || other.Load() != 0 {
		t.Errorf("hits of threads: %v, others %d", hits, other.Load())
	}
	for id, n := range hits {
		if n != 1000 {
			t.Errorf("thread %d: %d hits", id, n)
		}
	}
}

// TestWatchFork: children are not harmed by the watch, and do not report.
func TestWatchFork(t *testing.T) {
	d, path := launchWatch(t, "fork")
	word := symbolIn(t, path, "word")
	if err := d.InsertWatch(target.Watch{Addr: word, Len: 8}); err != nil {
		t.Fatal(err)
	}
	for {
		e := d.go1(target.Resume{})
		if e.Kind == target.Exited {
			break
		}
		if e.Reason != target.Watched || e.Thread != target.ThreadID(d.PID()) {
			t.Fatalf("%+v", e)
		}
	}
	if got := d.output(); got != "0 0 0 done\n" {
		t.Errorf("%q", got)
	}
}

// TestWatchExec: the watch is gone with the program.
func TestWatchExec(t *testing.T) {
	d, path := launchWatch(t, "exec")
	if err := d.InsertWatch(target.Watch{Addr: symbolIn(t, path, "word"), Len: 8}); err != nil {
		t.Fatal(err)
	}
	if e := d.go1(target.Resume{}); e.Reason != target.Watched {
		t.Fatalf("%+v", e)
	}
	if e := d.go1(target.Resume{}); e.Reason != target.Execed {
		t.Fatalf("%+v", e)
	}
	if e := d.go1(target.Resume{}); e.Kind != target.Exited || d.output() != "ended\n" {
		t.Fatalf("%+v %q", e, d.output())
	}
}

// TestWatchStep: a step over an instruction that writes ends with the watch, and stepping goes on after it.
func TestWatchStep(t *testing.T) {
	d, path := launchWatch(t, "plain")
	store, word := symbolIn(t, path, "store"), symbolIn(t, path, "word")
	if err := d.InsertBreakpoint(store); err != nil {
		t.Fatal(err)
	}
	if e := d.go1(target.Resume{}); e.Reason != target.Breakpoint {
		t.Fatalf("%+v", e)
	}
	if err := d.InsertWatch(target.Watch{Addr: word, Len: 8}); err != nil {
		t.Fatal(err)
	}
	id := target.ThreadID(d.PID())
	seen := false
	for range 10 {
		e := d.go1(target.Resume{Thread: id, Step: true})
		if e.Reason == target.Watched {
			seen = true
			break
		}
		if e.Reason != target.Stepped {
			t.Fatalf("%+v", e)
		}
	}
	if !seen || d.word(word) != 1 {
		t.Fatalf("no watch in ten steps; the word is %d", d.word(word))
	}
	if e := d.go1(target.Resume{Thread: id, Step: true}); e.Reason != target.Stepped {
		t.Fatalf("%+v", e)
	}
	// The same with a judge that passes: the step ends as a step.
	d.SetJudge(func(h *target.Hit) target.Verdict {
		if h.Reason == target.Watched {
			return target.Pass
		}
		return target.Halt
	})
	if e := d.go1(target.Resume{}); e.Reason != target.Breakpoint {
		t.Fatalf("%+v", e)
	}
	for range 10 {
		if err := d.Resume(target.Resume{Thread: id, Step: true}); err != nil {
			t.Fatal(err)
		}
		e := <-d.Events()
		if e.Kind == target.Parked { // a step over a site, which needs no judge
			if err := d.StopAll(e.Thread); err != nil {
				t.Fatal(err)
			}
			e = <-d.Events()
		}
		if e.Reason != target.Stepped {
			t.Fatalf("%+v", e)
		}
	}
}

// TestWatchDetach: a process that is let go has no registers left that would kill it.
func TestWatchDetach(t *testing.T) {
	path := watchProgram(t)
	v := startProgram(t, path, "forever")
	word := target.Watch{Addr: symbolIn(t, path, "word"), Len: 8}
	self, _ := os.Executable()
	for round := range 3 {
		p, err := AttachWith(v.pid, AttachOptions{Guardian: self})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		d := &debuggee{Process: p, t: t, counts: map[target.EventKind]int{}}
		if err := d.InsertWatch(word); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if e := d.go1(target.Resume{}); e.Reason != target.Watched {
				t.Fatalf("%+v", e)
			}
		}
		if round == 2 {
			_, _ = d.WriteMemory(symbolIn(t, path, "go_on"), []byte{1})
		}
		d.SetJudge(func(*target.Hit) target.Verdict { return target.Pass })
		if err := d.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
		if err := d.Detach(); err != nil && round < 2 { // in the last round it may have ended by itself
			t.Fatal(err)
		}
	}
	if s := v.line(); s != "status 0" {
		t.Error(s)
	}
}

// TestWatchThenBreakpoint: a breakpoint at the instruction after the one that wrote is hit, too, whether the watch stops
// the program or passes, or parks the thread.
func TestWatchThenBreakpoint(t *testing.T) {
	d, path := launchWatch(t, "plain")
	word := target.Watch{Addr: symbolIn(t, path, "word"), Len: 8}
	if err := d.InsertWatch(word); err != nil {
		t.Fatal(err)
	}
	after := d.go1(target.Resume{}).Addr
	for _, verdict := range []target.Verdict{target.Halt, target.Pass, target.Park} {
		d := launchWith(t, LaunchOptions{Path: path, Args: []string{"plain"}})
		d.SetJudge(func(h *target.Hit) target.Verdict {
			if h.Reason == target.Watched {
				return verdict
			}
			return target.Halt
		})
		if err := d.InsertWatch(word); err != nil {
			t.Fatal(err)
		}
		if err := d.InsertBreakpoint(after); err != nil {
			t.Fatal(err)
		}
		var got []target.StopReason
		for e := (target.Event{}); len(got) < 3; {
			if e.Kind == target.Parked {
				if err := d.Move(target.Resume{Thread: e.Thread}); err != nil {
					t.Fatal(err)
				}
			} else if err := d.Resume(target.Resume{}); err != nil {
				t.Fatal(err)
			}
			e = <-d.Events()
			if e.Kind == target.Exited {
				break
			}
			if e.Reason == target.Breakpoint && e.Addr != after {
				t.Fatalf("%+v", e)
			}
			if e.Kind == target.Stopped && e.Reason == target.Breakpoint {
				got = append(got, e.Reason)
			}
		}
		if len(got) != 3 {
			t.Errorf("verdict %v: %d hits of the breakpoint, want 3", verdict, len(got))
		}
	}
}
