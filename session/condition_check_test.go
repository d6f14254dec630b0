package session

import (
	"os"
	"testing"

	"dbg/internal/fixture"
)

// TestCheckCondition refuses conditions that have no meaning at a breakpoint's places, before the
// program runs and while it is stopped, in gdb's words.
func TestCheckCondition(t *testing.T) {
	exe := fixture.Build(t, "c/vars.c", "cc=gcc", "-g", "-O0", "-w")
	s := New(Config{})
	events, cancel := s.Subscribe()
	defer cancel()
	defer s.Close()
	dev, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := s.Load(Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		b, err := s.SetBreakpoint(BreakpointSpec{LocationSpec: LocationSpec{Function: "by_value"}}, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ text, want string }{
			{"p.x == 1", ""},
			{"p.x == 1 && m.col == GREEN", ""},
			{"w.a > global_int", ""},
			{"tls_counter == 7", ""},
			{"$count++ == 3", ""},
			{"nosuch == 1", `No symbol "nosuch" in current context.`},
			{"p.x == nosuch", `No symbol "nosuch" in current context.`},
			{"tls_counter == nosuch", `No symbol "nosuch" in current context.`},
			{"p", "Structure has no component named operator!."},
			{"p.z", "There is no member named z."},
			{"p.x ==", "A syntax error in expression, near `'."},
			{"m.d & 1", "Integer-only operation on floating point number."},
		} {
			got := ""
			if err := s.try(func() error { return s.checkCondition(c.text, b.Places) }); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s, %s: got %q, want %q", when, c.text, got, c.want)
			}
		}
		if b, err = s.SetBreakpoint(BreakpointSpec{LocationSpec: LocationSpec{Function: "vla"}}, false); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"sizeof(rows) > 4", "rows + 1 != 0", "rows[0][0] == 'a'", "a[n] == 1", "a"} {
			if err := s.try(func() error { return s.checkCondition(text, b.Places) }); err != nil {
				t.Errorf("%s, %s: %v", when, text, err)
			}
		}
		if err := s.checkCondition("nosuch == 1", nil); err != nil {
			t.Errorf("%s: without places: %v", when, err)
		}
		if err := s.checkCondition("1 +", nil); err == nil {
			t.Errorf("%s: without places the syntax is not checked", when)
		}
	}
	check("before the program runs")
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for ev := range events {
		if _, ok := ev.(Stopped); ok {
			break
		}
	}
	check("at a stop")
}
