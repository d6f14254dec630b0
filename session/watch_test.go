package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// startWatches runs testdata/c/watches.c to a line, and returns the file of its output.
func startWatches(t *testing.T, marker string, args ...string) (s *session.Session, events <-chan session.Event, output string) {
	t.Helper()
	exe := fixture.Build(t, "c/watches.c", "-g", "-O0", "-pthread")
	s, events = newSession(t)
	output = filepath.Join(t.TempDir(), "output")
	out, err := os.Create(output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	if err := s.Load(session.Program{Path: exe, Args: args, Stdin: null(t), Stdout: out, Stderr: out}); err != nil {
		t.Fatal(err)
	}
	spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{File: "watches.c", Line: watchLine(t, marker)}, Temporary: true}
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	until[session.Stopped](t, events)
	return s, events, output
}

// watchLine returns the line of watches.c that ends with a comment.
func watchLine(t *testing.T, marker string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", "c", "watches.c"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// "+marker) {
			return i + 1
		}
	}
	t.Fatalf("no line %q", marker)
	return 0
}

func setWatch(t *testing.T, s *session.Session, w session.WatchSpec, condition string) session.Breakpoint {
	t.Helper()
	b, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &w, Condition: condition}, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// goOn continues and returns the next stop, or the end.
func goOn(t *testing.T, s *session.Session, events <-chan session.Event) (st session.Stop, ended bool) {
	t.Helper()
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	for {
		switch ev := next(t, events).(type) {
		case session.Stopped:
			return ev.Stop, false
		case session.Ended:
			if !ev.Exited || ev.ExitCode != 0 {
				t.Fatalf("%+v", ev)
			}
			return st, true
		}
	}
}

// TestWatchEveryChange: four threads write random values to a word each. Every change is reported once, with the line
// that wrote and both values; a write of the same value is not.
func TestWatchEveryChange(t *testing.T) {
	t.Parallel()
	writes := 300
	if testing.Short() {
		writes = 60
	}
	if os.Getenv("DBG_ALL") != "" {
		writes = 2500
	}
	s, events, output := startWatches(t, "moved", fmt.Sprint(writes))
	number := map[int]int{}
	for i := range 4 {
		number[setWatch(t, s, session.WatchSpec{Expr: fmt.Sprintf("word[%d]", i)}, "").ID] = i
	}
	lines := map[int]int{}
	first, second := watchLine(t, "first"), watchLine(t, "second")
	got := map[int][]string{}
	old := map[int]string{}
	for {
		st, ended := goOn(t, s, events)
		if ended {
			break
		}
		if st.Reason != session.StopWatch {
			t.Fatalf("%+v", st)
		}
		f, err := s.Frame(st.Thread, 0)
		if err != nil {
			t.Fatal(err)
		}
		line := f.Position.Line
		if line > second+1 || line < first { // the next line, if the write was the last of its own
			t.Fatalf("at line %d", line)
		}
		kind := 1
		if line >= second {
			kind = 2
		}
		lines[kind]++
		for _, h := range st.Watches {
			i, opt := number[h.ID], eval.DefaultOptions()
			was, now := s.Format(h.Old, opt), s.Format(h.New, opt)
			if want, ok := old[i]; !h.Changed || ok && was != want || was == now {
				t.Fatalf("word %d: %s -> %s after %s", i, was, now, want)
			}
			old[i] = now
			got[i] = append(got[i], fmt.Sprintf("%d %d %s", i, kind, now))
		}
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range 4 {
		all = append(all, got[i]...)
	}
	if want := strings.TrimSpace(string(text)); strings.Join(all, "\n") != want {
		t.Errorf("%d changes were reported, the program made %d", len(all), strings.Count(want, "\n")+1)
	}
	t.Logf("%d changes of %d writes; by line %v", len(all), 4*writes, lines)
}

// TestWatchPath: the value depends on a pointer, which moves.
func TestWatchPath(t *testing.T) {
	t.Parallel()
	s, events, _ := startWatches(t, "moved", "0")
	b := setWatch(t, s, session.WatchSpec{Expr: "p->value"}, "")
	loc := setWatch(t, s, session.WatchSpec{Expr: "p->value", Location: true}, "")
	st, _ := goOn(t, s, events) // p = &b
	opt := eval.DefaultOptions()
	if len(st.Watches) != 1 || st.Watches[0].ID != b.ID || s.Format(st.Watches[0].Old, opt) != "1" {
		t.Fatalf("%+v", st)
	}
	before := s.Format(st.Watches[0].New, opt)
	st, _ = goOn(t, s, events) // p->value = 100, which is b's
	if len(st.Watches) != 1 || st.Watches[0].ID != b.ID || s.Format(st.Watches[0].Old, opt) != before || s.Format(st.Watches[0].New, opt) != "100" {
		t.Fatalf("%+v", st)
	}
	st, _ = goOn(t, s, events) // main returns
	if st.Reason != session.StopWatchScope || len(st.EndedWatches) != 1 || st.EndedWatches[0].ID != b.ID {
		t.Fatalf("%+v", st)
	}
	list := s.Breakpoints()
	if len(list) != 1 || list[0].ID != loc.ID {
		t.Errorf("%+v", list)
	}
	if err := s.DeleteBreakpoint(loc.ID); err != nil {
		t.Fatal(err)
	}
	if _, ended := goOn(t, s, events); !ended {
		t.Error("it has not ended")
	}
}

// TestWatchRecursion: a local variable is watched in one activation, not in deeper ones; the watchpoint
// ends when that activation does.
func TestWatchRecursion(t *testing.T) {
	t.Parallel()
	s, events, _ := startWatches(t, "deep", "0")
	b := setWatch(t, s, session.WatchSpec{Expr: "own"}, "")
	var seen []string
	opt := eval.DefaultOptions()
	for {
		st, ended := goOn(t, s, events)
		if ended {
			t.Fatal("it has ended")
		}
		if st.Reason == session.StopWatchScope {
			if f, err := s.Frame(st.Thread, 0); err != nil || f.FunctionName != "main" {
				t.Errorf("the scope ends in %s, %v", f.FunctionName, err)
			}
			break
		}
		if len(st.Watches) != 1 || st.Watches[0].ID != b.ID {
			t.Fatalf("%+v", st)
		}
		if f, err := s.Frame(st.Thread, 1); err != nil || f.FunctionName != "main" {
			t.Errorf("a write in a frame that %s called, %v", f.FunctionName, err)
		}
		seen = append(seen, s.Format(st.Watches[0].New, opt))
	}
	// The initialiser writes the value that the stack may have by chance.
	if n := len(seen); n < 2 || seen[n-2] != "9" || seen[n-1] != "10" {
		t.Errorf("the values are %v", seen)
	}
	if len(s.Breakpoints()) != 0 {
		t.Errorf("%+v", s.Breakpoints())
	}
}

// TestWatchRefused: a watch that is impossible is refused, and no trace of it remains.
func TestWatchRefused(t *testing.T) {
	t.Parallel()
	s, events, _ := startWatches(t, "moved", "0")
	for expr, want := range map[string]string{
		"5": "constant", "no_such": "No symbol", "p = 0": "changes the program", "&word": "constant", "1 +": "",
	} {
		_, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: expr}}, false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, err, want)
		}
	}
	var ids []int
	for i := range 4 {
		ids = append(ids, setWatch(t, s, session.WatchSpec{Expr: fmt.Sprintf("word[%d]", i)}, "").ID)
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: "b.value", Kind: session.WatchAccess}}, false); err == nil {
		t.Error("a fifth access watchpoint")
	}
	if err := s.EnableBreakpoint(ids[0], false); err != nil {
		t.Fatal(err)
	}
	fifth := setWatch(t, s, session.WatchSpec{Expr: "b.value"}, "b.value == 100")
	if err := s.EnableBreakpoint(ids[0], true); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Breakpoints() {
		if b.Software != (b.ID == ids[0]) { // there is no register for it any more
			t.Errorf("watchpoint %d is stepped: %v", b.ID, b.Software)
		}
	}
	st, _ := goOn(t, s, events)
	if len(st.Watches) != 1 || st.Watches[0].ID != fifth.ID {
		t.Errorf("%+v", st)
	}
}
