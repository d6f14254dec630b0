package session_test

import (
	"fmt"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// launchAt runs a program to a function.
func launchAt(t *testing.T, exe, args, function string) (*session.Session, <-chan session.Event) {
	t.Helper()
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{args}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	spec, err := s.ParseBreakpoint(function)
	if err != nil {
		t.Fatal(err)
	}
	spec.Temporary = true
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	until[session.Stopped](t, events)
	return s, events
}

// goTo steps, and expects to stop at a place.
func goTo(t *testing.T, s *session.Session, events <-chan session.Event, word, want string) {
	t.Helper()
	if err := stepBy(s, word); err != nil {
		t.Fatal(err)
	}
	if got := placeAfter(t, s, events); got != want {
		t.Fatalf("%s: at %s, want %s", word, got, want)
	}
}

// TestLandingStorm: four threads throw as fast as they can. The thread that steps lands in its own
// handler each time.
func TestLandingStorm(t *testing.T) {
	t.Parallel()
	s, events := launchAt(t, fixture.Build(t, "c/landing.cc", "-g", "-O0"), "storm", "storm")
	if err := s.Advance(mustLocation(t, s, "157")); err != nil {
		t.Fatal(err)
	}
	if got := placeAfter(t, s, events); got != "storm:157" {
		t.Fatalf("at %s", got)
	}
	for range amount(2000, 50) {
		goTo(t, s, events, "next", "storm:158")
		goTo(t, s, events, "next", "storm:159")
		goTo(t, s, events, "next", "storm:160")
		goTo(t, s, events, "next", "storm:155")
		goTo(t, s, events, "next", "storm:157")
	}
}

func mustLocation(t *testing.T, s *session.Session, text string) session.LocationSpec {
	t.Helper()
	spec, err := s.ParseBreakpoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return spec.LocationSpec
}

// TestLandingFromHandler: a signal handler leaves with siglongjmp, and nobody stops for the signal.
func TestLandingFromHandler(t *testing.T) {
	t.Parallel()
	s, events := launchAt(t, fixture.Build(t, "c/stepcases.c", "-g", "-O0"), "jump_signal", "jump_signal")
	if err := s.SetSignal(10, session.SignalSetting{SignalPolicy: target.SignalPolicy{Pass: true}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"jump_signal:68", "jump_signal:69", "jump_signal:70", "jump_signal:68", "jump_signal:73"} {
		goTo(t, s, events, "next", want)
	}
}

// TestLandingWithBreakpoint: a breakpoint inside the call stops first, and a step from there lands.
func TestLandingWithBreakpoint(t *testing.T) {
	t.Parallel()
	s, events := launchAt(t, fixture.Build(t, "c/landing.cc", "-g", "-O0"), "same", "same")
	spec, err := s.ParseBreakpoint("thrower")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	goTo(t, s, events, "next", "thrower:12")
	goTo(t, s, events, "finish", "same:26")
}

// TestStepTargets lists the calls of a line, and steps into each.
func TestStepTargets(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/stepcases.c", "-g", "-O0")
	for id, want := range map[int]string{1: "factorial:138", 2: "add:187", 3: "add:187"} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			t.Parallel()
			s, events := launchAt(t, exe, "nested", "nested")
			thread, _ := s.Selected()
			list, err := s.StepTargets(thread)
			if err != nil {
				t.Fatal(err)
			}
			names := ""
			for _, k := range list {
				names += fmt.Sprint(k.ID, k.Name, " ")
			}
			if names != "1factorial 2add 3add " {
				t.Errorf("targets %s", names)
			}
			if err := s.StepIntoTarget(thread, id); err != nil {
				t.Fatal(err)
			}
			if got := placeAfter(t, s, events); got != want {
				t.Errorf("at %s, want %s", got, want)
			}
			if args, err := s.Evaluate(thread, 0, "$rdi"); err == nil && id == 2 {
				if got := s.Format(args, session.DefaultFormat()); got != "1" {
					t.Errorf("the first argument is %s", got)
				}
			}
			goTo(t, s, events, "finish", "nested:190")
			goTo(t, s, events, "next", "nested:191")
		})
	}
	s, events := launchAt(t, exe, "indirect", "indirect")
	thread, _ := s.Selected()
	if err := s.StepIntoTarget(thread, 1); err != nil {
		t.Fatal(err)
	}
	if got := placeAfter(t, s, events); got != "factorial:138" {
		t.Errorf("through a pointer: at %s", got)
	}
	if err := s.StepIntoTarget(thread, 9); err == nil {
		t.Error("a call that is not there was taken")
	}
}

// TestStepMode: with set step-mode on, step enters functions without lines.
func TestStepMode(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/stepcases.c", "-g", "-O0")
	s := session.New(session.Config{DebugDirs: []string{}})
	events, cancel := s.Subscribe()
	t.Cleanup(func() { s.Close(); cancel() })
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{"library"}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	spec, err := s.ParseBreakpoint("library")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	until[session.Stopped](t, events)
	goTo(t, s, events, "next", "library:163")
	s.SetStepMode(true)
	if err := s.Step(session.StepInto, 1); err != nil {
		t.Fatal(err)
	}
	stop := until[session.Stopped](t, events)
	if f, err := s.Frame(stop.Thread, 0); err != nil || f.FunctionName != "atoi" {
		t.Errorf("in %s, %v", f.FunctionName, err)
	}
	goTo(t, s, events, "finish", "library:163")
	s.SetStepMode(false)
	goTo(t, s, events, "step", "library:164")
}
