package session

import (
	"slices"
	"testing"

	"dbg/target"
)

// What faces share: names of source files, signals, the stop in main.

func TestSourceNames(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	s.MapSources([]SourceMapping{{"/build", "/home"}, {"/build/lib", "/opt/lib"}})
	for file, want := range map[string]string{"/build/a.c": "/home/a.c", "/build/lib/b.c": "/opt/lib/b.c", "/builder/c.c": "/builder/c.c"} {
		if got := s.LocalSource(file); got != want {
			t.Errorf("%s is %s here, want %s", file, got, want)
		}
		if names := s.RecordedSources(want); !slices.Contains(names, file) {
			t.Errorf("%s may be recorded as %q, want %s among them", want, names, file)
		}
	}
	if s.HasSource("/no/such/file.c") {
		t.Error("a file that is not there is")
	}
}

func TestHandleSignals(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	for _, text := range []string{"", "stop", "SIGNOTHING stop"} {
		if _, err := s.HandleSignals(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	usr1 := target.SignalByName("SIGUSR1")
	for _, tc := range []struct {
		text              string
		stop, print, pass bool
	}{
		{"SIGUSR1 nostop", false, true, true},
		{"sigusr1 noprint nopass", false, false, false},
		{"SIGUSR1 stop", true, true, false},
		{"all noprint pass", false, false, true},
	} {
		if list, err := s.HandleSignals(tc.text); err != nil || !slices.Contains(list, usr1) {
			t.Errorf("%q: %v, %v", tc.text, list, err)
		}
		if set := s.Signal(usr1); set.Stop != tc.stop || set.Print != tc.print || set.Pass != tc.pass {
			t.Errorf("%q: %+v", tc.text, set)
		}
	}
	s.PassAllSignals()
	if set := s.Signal(target.SignalByName("SIGSEGV")); set.Stop || set.Print || !set.Pass {
		t.Errorf("%+v", set)
	}
}

func TestStopInMainNeedsOne(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	if _, err := s.StopInMain(); err == nil {
		t.Error("a breakpoint on main of nothing")
	}
	if s.ForgetEntry(); s.AtEntry(&Stop{Reason: StopBreakpoint, Breakpoints: []int{1}}) {
		t.Error("at an entry that was not asked for")
	}
}
