package session_test

import (
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestExceptionsLand: at each throw of a program, the tables say in which frames the exception lands, up to the one
// that catches it. Control arrives there, in this order and nowhere else.
func TestExceptionsLand(t *testing.T) {
	for _, c := range []struct{ tool, level string }{{"g++", "-O0"}, {"g++", "-O2"}, {"clang++-19", "-O1"}} {
		t.Run(c.tool+c.level, func(t *testing.T) {
			fixture.Need(t, c.tool)
			exe := fixture.Build(t, "check/throws.cc", "cc="+c.tool, "-g", c.level)
			s, events := loadCatches(t, exe, session.CatchThrow, session.CatchRethrow)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			set := map[target.Addr]bool{}
			var want []landed
			var last target.Addr // the CFA of the frame in which the exception landed last
			throws, times := 0, 0
			for {
				stop, ok := next(t, events).(session.Stopped)
				if !ok {
					break
				}
				if stop.Reason == session.StopCatch {
					if len(want) > 0 {
						t.Fatalf("an exception did not land at %v", want)
					}
					throws++
					want = landings(t, s, stop.Thread)
					for _, l := range want {
						if pad := l.pad; !set[pad] {
							set[pad] = true
							if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: pad, HasAddr: true}}, false); err != nil {
								t.Fatal(err)
							}
						}
					}
				} else {
					f, err := s.Frame(stop.Thread, 0)
					switch {
					case err != nil:
						t.Fatal(err)
					case len(want) > 0 && want[0] == landed{f.PC, f.Machine.CFA}:
						last, want = f.Machine.CFA, want[1:]
						times++
					case f.Machine.CFA != last: // else one landing pad jumps to another
						t.Fatalf("control is at %s, frame %s; expected %v", f.PC, f.Machine.CFA, want)
					}
				}
				if err := s.Continue(-1); err != nil {
					t.Fatal(err)
				}
			}
			if throws != 9 || times < 60 || len(want) > 0 {
				t.Errorf("%d throws, which landed %d times", throws, times)
			}
		})
	}
}

// landed is a landing pad, and the CFA of its frame.
type landed struct{ pad, cfa target.Addr }

// landings are the landing pads of a thread's frames, from the innermost to the first that catches.
func landings(t *testing.T, s *session.Session, thread target.ThreadID) (list []landed) {
	t.Helper()
	for level := 1; ; level++ {
		f, err := s.Frame(thread, level)
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.ExceptionsOf(&f)
		switch {
		case err != nil:
			t.Fatal(err)
		case x == nil || !x.Known || x.Pad == 0:
			continue
		case x.Personality != "__gxx_personality_v0":
			t.Errorf("the personality routine is %q", x.Personality)
		}
		list = append(list, landed{x.Pad, f.Machine.CFA})
		if slices.ContainsFunc(x.Actions, func(a string) bool { return strings.HasPrefix(a, "catch") }) {
			if !slices.Contains(x.Actions, "catch std::exception") {
				t.Errorf("%q", x.Actions)
			}
			return list
		}
	}
}
