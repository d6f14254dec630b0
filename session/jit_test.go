package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// jitFlags compile code whose frames cannot be found by frame pointers.
var jitFlags = []string{"-g", "-O1", "-fomit-frame-pointer", "-fno-stack-protector", "-fcf-protection=none", "-fno-ipa-sra", "-fno-ipa-cp"}

// jitObject compiles an object file that the fixture loads.
func jitObject(t *testing.T, source string, flags ...string) string {
	return fixture.Build(t, "jit/"+source, slices.Concat(jitFlags, flags)...)
}

func jitHost(t *testing.T) string { return fixture.Build(t, "jit/host.c", "-g", "-O1", "-w") }

// startJIT runs the fixture to its first stop at a function; "" lets it run without a breakpoint.
func startJIT(t *testing.T, function string, args ...string) (*session.Session, <-chan session.Event) {
	t.Helper()
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: jitHost(t), Args: args, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: function}}
	if _, err := s.SetBreakpoint(spec, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if ev, ok := next(t, events).(session.Stopped); !ok || ev.Reason != session.StopBreakpoint {
		t.Fatalf("the program did not stop at %s: %+v", function, ev)
	}
	return s, events
}

// describeFrames writes frames as "function strategy line".
func describeFrames(bt session.Backtrace) (out []string) {
	for _, f := range bt.Frames {
		out = append(out, fmt.Sprintf("%s %s %s:%d", f.FunctionName, f.Strategy, filepath.Base(f.Position.File), f.Position.Line))
	}
	return out
}

// wantJIT expects the two frames of code.c (or a copy with other names), found by the tables in memory, and main outside of them.
func wantJIT(t *testing.T, s *session.Session, name, source string) {
	t.Helper()
	bt := walkOf(t, s, 0)
	got := describeFrames(bt)
	// A frame's strategy is how it was found: with the table of the code that it called.
	want := []string{name + "_inner cfi " + source + ":7", name + "_outer jit " + source + ":14"}
	i := slices.IndexFunc(got, func(f string) bool { return strings.HasPrefix(f, name+"_inner ") })
	if i < 0 || i+3 > len(got) || !slices.Equal(got[i:i+2], want) || !strings.HasPrefix(got[i+2], "main jit host.c:") {
		t.Fatalf("the frames are\n\t%s\nwant\n\t%s\n\tmain", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if !bt.End.Outermost {
		t.Errorf("the walk ends with %+v", *bt.End)
	}
	bt.Frames = bt.Frames[i:]
	if bt.Frames[0].Trust != "exact" && bt.Frames[0].Trust != "table" {
		t.Errorf("frame %d has trust %s", bt.Frames[0].Level, bt.Frames[0].Trust)
	}
	why, err := s.Why(func() target.ThreadID { id, _ := s.Selected(); return id }(), bt.Frames[1].Level)
	if err != nil {
		t.Fatal(err)
	}
	tries := why.Evidence.Tries
	if last := tries[len(tries)-1]; !last.HasRow || last.Origin.Table != ".eh_frame" && last.Origin.Table != ".debug_frame" || last.Strategy.String() != "jit" {
		t.Errorf("the evidence of frame %d is %+v", bt.Frames[1].Level, last)
	}
}

// noJIT expects that nothing is known of the code.
func noJIT(t *testing.T, s *session.Session) {
	t.Helper()
	for _, f := range walkOf(t, s, 0).Frames {
		if f.Strategy == "jit" || strings.HasSuffix(f.FunctionName, "_inner") || strings.HasSuffix(f.FunctionName, "_outer") {
			t.Errorf("frame %d is %s, found by %s", f.Level, f.FunctionName, f.Strategy)
		}
	}
}

// TestJIT looks at code that a program made and told of through the GDB JIT interface, in all kinds of files.
func TestJIT(t *testing.T) {
	for name, flags := range map[string][]string{
		"relocatable": {"-c"},
		"debug_frame": {"-c", "-fno-asynchronous-unwind-tables"},
		"compressed":  {"-c", "-gz=zlib"},
		"DWARF 4":     {"-c", "-gdwarf-4"},
		"clang":       nil,
		"executable":  {"-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x10000400", "-Wl,-e,made_outer", "-Wl,-z,norelro"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var object string
			switch name {
			case "clang":
				fixture.Need(t, "clang-19")
				object = fixture.Build(t, "jit/code.c", "cc=clang-19", "-c", "-g", "-O1", "-fomit-frame-pointer", "-fcf-protection=none")
			default:
				object = jitObject(t, "code.c", flags...)
			}
			s, _ := startJIT(t, "stop_here", "call", object)
			wantJIT(t, s, "made", "code.c")
		})
	}
}

// TestJITCore looks at such code in a core.
func TestJITCore(t *testing.T) {
	core := fixture.Core(t, jitHost(t), "core", jitObject(t, "code.c", "-c"))
	wantJIT(t, openCore(t, core, ""), "made", "code.c")
}

// TestJITFollowed follows code that comes and goes.
func TestJITFollowed(t *testing.T) {
	object, other := jitObject(t, "code.c", "-c"), jitObject(t, "other.c", "-c")
	t.Run("removed", func(t *testing.T) {
		s, events := startJIT(t, "stop_here", "call", object)
		wantJIT(t, s, "made", "code.c")
		s.Continue(0)
		next(t, events)
		noJIT(t, s)
	})
	t.Run("nobody asked before", func(t *testing.T) {
		s, events := startJIT(t, "stop_here", "call", object)
		s.Continue(0)
		next(t, events)
		noJIT(t, s)
	})
	t.Run("replaced", func(t *testing.T) {
		s, events := startJIT(t, "stop_here", "again", object, other)
		wantJIT(t, s, "made", "code.c")
		s.Continue(0)
		next(t, events)
		wantJIT(t, s, "other", "other.c")
	})
	t.Run("attached", func(t *testing.T) {
		s, events := startJIT(t, "main", "call", object)
		id := s.Breakpoints()[0].ID
		if err := s.DeleteBreakpoint(id); err != nil { // nobody waits for new code
			t.Fatal(err)
		}
		place, err := s.FindLocation(session.LocationSpec{Function: "stop_here"})
		if err != nil {
			t.Fatal(err)
		}
		spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: place[0].Addr, HasAddr: true}}
		if _, err := s.SetBreakpoint(spec, false); err != nil {
			t.Fatal(err)
		}
		s.Continue(0)
		next(t, events)
		wantJIT(t, s, "made", "code.c")
		s.Continue(0)
		next(t, events)
		noJIT(t, s)
	})
}

// TestJITBreakpoint waits for functions and lines that do not exist yet.
func TestJITBreakpoint(t *testing.T) {
	object, other := jitObject(t, "code.c", "-c"), jitObject(t, "other.c", "-c")
	for _, text := range []string{"made_inner", "code.c:7"} {
		t.Run(text, func(t *testing.T) {
			s, events := newSession(t)
			dev := null(t)
			if err := s.Load(session.Program{Path: jitHost(t), Args: []string{"again", object, other}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{text, "other_inner"} {
				spec, err := s.ParseBreakpoint(text)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.SetBreakpoint(spec, true); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for i, name := range []string{"made", "other"} {
				ev, ok := next(t, events).(session.Stopped)
				if !ok || ev.Reason != session.StopBreakpoint || !slices.Equal(ev.Breakpoints, []int{i + 1}) {
					t.Fatalf("%+v is not a stop at breakpoint %d", ev, i+1)
				}
				bt := walkOf(t, s, 0)
				if f := bt.Frames[0]; f.FunctionName != name+"_inner" || f.Position.Line == 0 {
					t.Errorf("the stop is in %s", describeFrames(bt)[0])
				}
				if list := s.Breakpoints(); len(list[1-i].Places) != 0 {
					t.Errorf("breakpoint %d has places in code that is not there", 2-i)
				}
				s.Continue(0)
			}
			if ev, ok := next(t, events).(session.Ended); !ok {
				t.Errorf("%+v is not the end", ev)
			}
		})
	}
}

// TestJITDamaged reads lists that are damaged after a good entry.
func TestJITDamaged(t *testing.T) {
	object := jitObject(t, "code.c", "-c")
	for mode, warning := range map[string]string{
		"quiet":    "",
		"circular": "circular",
		"unmapped": "0x123456789000",
		"huge":     "invalid size",
		"notelf":   "[jit 0x",
		"many":     "too many",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			s, _ := startJIT(t, "stop_here", mode, object)
			wantJIT(t, s, "made", "code.c")
			if d := time.Since(began); d > 30*time.Second {
				t.Errorf("that took %v", d)
			}
			if warning == "" {
				return
			}
			if got := strings.Join(s.Warnings(), "\n"); !strings.Contains(got, warning) {
				t.Errorf("the warnings are %q", got)
			}
		})
	}
	t.Run("version", func(t *testing.T) {
		s, _ := startJIT(t, "stop_here", "version", object)
		noJIT(t, s)
	})
}

// TestPerfMap names code that only a perf map knows.
func TestPerfMap(t *testing.T) {
	s, events := startJIT(t, "stop_here", "perf", jitObject(t, "code.c", "-c"))
	t.Cleanup(func() {
		if info, ok := s.Target(); ok {
			os.Remove(fmt.Sprintf("/tmp/perf-%d.map", info.PID))
		}
	})
	bt := walkOf(t, s, 0)
	names := []string{}
	for _, f := range bt.Frames {
		names = append(names, f.FunctionName)
		if f.Strategy == "jit" || strings.HasPrefix(f.FunctionName, "Outer") && f.Function != nil {
			t.Errorf("a perf map gives more than names: %+v", f)
		}
	}
	if len(names) < 4 || names[1] != "Inner" || names[2] != "Outer:~made \x1b[31m.js:1" || names[3] != "main" {
		t.Errorf("the functions are %q", names)
	}
	s.Continue(0)
	if ev, ok := next(t, events).(session.Ended); !ok {
		t.Errorf("%+v is not the end", ev)
	}
}
