package session_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// goBuilds are the ways in which the programs of Go are compiled.
var goBuilds = []struct {
	name  string
	flags []string
}{
	{"optimised", []string{"-trimpath"}},
	{"plain", []string{"-trimpath", "-gcflags=all=-N -l"}},
}

// newGoCaller returns a session that stands in main.stop of testdata/call/go/calls.go.
func newGoCaller(t *testing.T, flags []string, args ...string) *caller {
	t.Helper()
	const file = "testdata/call/go/calls.go"
	exe := fixture.Build(t, strings.TrimPrefix(file, "testdata/"), flags...)
	source, err := os.ReadFile(filepath.Join(fixture.Root(), file))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), "// stop\n")
	s, events := newSession(t)
	dev := null(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Args: args, Stdin: dev, Stdout: dev, Stderr: dev}))
	c.breakAt(session.LocationSpec{File: "calls.go", Line: strings.Count(before, "\n") + 1})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	return c
}

// TestGoCalls makes the calls that the program makes itself when its argument is "say", and compares
// the results.
func TestGoCalls(t *testing.T) {
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			c := newGoCaller(t, b.flags)
			said, err := exec.Command(fixture.Build(t, "call/go/calls.go", b.flags...), "say").Output()
			c.must(err)
			before := c.state()
			stop := c.LastStop()
			calls := 0
			for _, line := range strings.Split(strings.TrimSpace(string(said)), "\n") {
				call, want, _ := strings.Cut(line, "\t")
				c.expect(call, want)
				calls++
			}
			if calls < 30 {
				t.Errorf("only %d calls", calls)
			}
			c.expect("main.nothing()", "void")
			if after := c.state(); after != before {
				t.Errorf("registers before\n%s\nafter\n%s", before, after)
			}
			if n := c.LastStop().Number; n != stop.Number {
				t.Errorf("stop %d became %d", stop.Number, n)
			}
			c.must(c.Continue(0))
			c.ends(0)
		})
	}
}

// ends waits for the program's end.
func (c *caller) ends(code int) {
	c.t.Helper()
	for {
		switch e := next(c.t, c.events).(type) {
		case session.Stopped:
			c.t.Fatalf("stopped: %+v", e)
		case session.Ended:
			if !e.Exited || e.ExitCode != code {
				c.t.Errorf("the program ended: %+v", e)
			}
			return
		}
	}
}

// TestGoCallErrors has calls that are refused before anything runs, or end with a panic.
func TestGoCallErrors(t *testing.T) {
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			c := newGoCaller(t, b.flags)
			before := c.state()
			for _, x := range []struct{ call, words string }{
				{"main.add(1)", "Too few arguments"},
				{"main.add(1, 2, 3)", "Too many arguments"},
				{"main.add(1.5, 2)", "argument 1 of main.add: int can't hold the value"},
				{"main.small(200, 1, true, 1)", "int8 can't hold the value"},
				{"main.small(1, -1, true, 1)", "uint16 can't hold the value"},
				{"main.small(1, 1, 1, 1)", "a value of type int is not of type bool"},
				{`main.add("a", 2)`, "is not of type int"},
				{"main.up(1)", "is not of type string"},
				{"main.nilDeref(s)", "is not of type *main.Pair"},
				{"main.name(nil).X", "panic: runtime error: invalid memory address or nil pointer dereference"},
				{"main.name(err)", "is not of type main.Namer"},
				{"main.name(s)", "is not of type main.Namer"},
				{"main.pick(1, 2)", "generic function"},
				{"p.None(1)", "main.Pair.None has no code of its own"},
				{`main.panics("x")`, "panic: oops x"},
				{"main.fails(7)", "panic: *fmt.wrapError(bad 7: EOF)"},
				{"main.bounds(s, 9)", "panic: runtime"},
			} {
				if strings.Contains(x.words, "nil pointer") { // the signal becomes a panic
					c.must(c.SetSignal(11, session.SignalSetting{SignalPolicy: target.SignalPolicy{Pass: true}}))
				}
				if got := c.value(x.call); !strings.Contains(got, x.words) {
					t.Errorf("%s\n gave %s\n want %s", x.call, got, x.words)
				}
				if after := c.state(); after != before {
					t.Fatalf("%s: registers before\n%s\nafter\n%s", x.call, before, after)
				}
			}
			c.must(c.Continue(0))
			c.ends(0)
		})
	}
}

func TestGoCallBreakpoint(t *testing.T) {
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			c := newGoCaller(t, b.flags)
			before := c.state()
			id := c.breakAt(session.LocationSpec{Function: "main.breaks", Text: "main.breaks"})
			for _, leave := range []string{"continue", "finish", "step", "return"} {
				c.called("main.breaks(5)", "The program being debugged stopped while in a function called from dbg.")
				st := until[session.Stopped](t, c.events)
				if st.Reason != session.StopBreakpoint || st.Breakpoints[0] != id {
					t.Fatalf("stop %+v", st)
				}
				if got := c.goFunctions(); got != "main.breaks <function called from dbg> main.stop main.main" {
					t.Fatalf("frames %s", got)
				}
				if v, err := c.Evaluate(c.thread, 2, "p.Y"); err != nil || v.Bytes[0] != 2 {
					t.Errorf("p.Y in the frame below: %v", err)
				}
				c.expect("main.add(20, 3)", "23") // a call inside the call
				switch leave {
				case "continue":
					c.must(c.Continue(0))
				case "finish":
					c.must(c.Step(session.StepOut, 1))
				case "step":
					for c.goFunctions() != "main.stop main.main" {
						c.must(c.Step(session.StepOver, 1))
						until[session.Stopped](t, c.events)
					}
				case "return":
					_, err := c.SelectFrame(1)
					c.must(err)
					c.must(c.Return(""))
				}
				if leave == "continue" || leave == "finish" {
					st := until[session.Stopped](t, c.events)
					if leave == "finish" && (!st.HasReturnValue || st.ReturnValue.Bytes[0] != 10) {
						t.Errorf("finish gave %+v", st)
					}
				}
				if got := c.goFunctions(); got != "main.stop main.main" {
					t.Fatalf("%s: frames %s", leave, got)
				}
				if after := c.state(); after != before {
					t.Errorf("%s: registers before\n%s\nafter\n%s", leave, before, after)
				}
			}
			c.must(c.DeleteBreakpoint(id))
			c.must(c.Continue(0))
			c.ends(0)
		})
	}
}

// TestGoCallMovedStack stops in a function after the stack has grown, and so has moved.
func TestGoCallMovedStack(t *testing.T) {
	c := newGoCaller(t, goBuilds[0].flags)
	spec := session.LocationSpec{Function: "main.deep", Text: "main.deep"}
	b, err := c.SetBreakpoint(session.BreakpointSpec{LocationSpec: spec, Condition: "n == 0"}, false)
	c.must(err)
	c.called("main.deep(300)", "stopped while in a function called from dbg")
	until[session.Stopped](t, c.events)
	names := c.goFunctions()
	if deep := strings.Count(names, "main.deep "); deep != 301 || !strings.HasSuffix(names, "main.deep <function called from dbg> main.stop main.main") {
		t.Fatalf("%d frames of main.deep in %s", deep, names)
	}
	c.must(c.DeleteBreakpoint(b.ID))
	c.expect("main.deep(600)", "601")
	c.must(c.Continue(0))
	until[session.Stopped](t, c.events)
	if got := c.goFunctions(); got != "main.stop main.main" {
		t.Errorf("frames %s", got)
	}
	c.must(c.Continue(0))
	c.ends(0)
}

// goFunctions lists the names of a backtrace up to main.main.
func (c *caller) goFunctions() string {
	c.t.Helper()
	bt, err := c.Backtrace(c.thread, 0, 0)
	c.must(err)
	var out []string
	for _, f := range bt.Frames {
		out = append(out, f.FunctionName)
		if f.FunctionName == "main.main" {
			break
		}
	}
	return strings.Join(out, " ")
}

func TestGoCallSignal(t *testing.T) {
	c := newGoCaller(t, goBuilds[0].flags)
	before := c.state()
	c.called("main.nilDeref(nil)", "The program being debugged was signaled while in a function called from dbg.\ndbg remains")
	if st := until[session.Stopped](t, c.events); st.Reason != session.StopSignal || !strings.HasPrefix(c.goFunctions(), "main.nilDeref <function called from dbg> main.stop") {
		t.Fatalf("%+v %s", st, c.goFunctions())
	}
	c.must(c.Continue(0)) // the signal becomes a panic, which ends the call
	until[session.Stopped](t, c.events)
	if after := c.state(); after != before {
		t.Errorf("registers before\n%s\nafter\n%s", before, after)
	}
	c.SetUnwindOnSignal(true)
	c.called("main.nilDeref(nil)", "dbg has restored the context")
	if after := c.state(); after != before {
		t.Errorf("registers before\n%s\nafter\n%s", before, after)
	}
	c.expect("main.add(1, 1)", "2")
	c.must(c.Continue(0))
	c.ends(0)
}

func TestGoCallExit(t *testing.T) {
	for _, x := range []struct {
		call string
		code int
	}{{"main.exits(3)", 3}, {"main.throws()", 2}} {
		t.Run(x.call, func(t *testing.T) {
			c := newGoCaller(t, goBuilds[0].flags)
			c.called(x.call, "The program being debugged exited while in a function called from dbg.")
			c.ends(x.code)
		})
	}
}

func TestGoCallPause(t *testing.T) {
	c := newGoCaller(t, goBuilds[0].flags)
	done := make(chan error)
	run := func() {
		_, err := c.Evaluate(c.thread, 0, "main.spins()")
		done <- err
	}
	go run()
	for c.Pause() != nil { // until the call runs
		runtime.Gosched()
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "(main.spins) will be abandoned") {
		t.Fatal(err)
	}
	until[session.Stopped](t, c.events)
	go run()
	for c.State() != session.IsRunning {
		select {
		case err := <-done: // the pause came before the function was called
			t.Logf("%v", err)
			return
		default:
			runtime.Gosched()
		}
	}
	c.must(c.Kill())
	// The kernel may report the end of the thread before that of the process.
	if err := <-done; err == nil || !strings.Contains(err.Error(), "exited while") && !strings.Contains(err.Error(), "The thread ended while") {
		t.Fatal(err)
	}
}

// TestGoCallPausedAnywhere pauses calls at any step of the protocol. The program then goes on to where
// it was.
func TestGoCallPausedAnywhere(t *testing.T) {
	c := newGoCaller(t, goBuilds[0].flags, "storm")
	before := c.state()
	seen := c.LastStop().Number
	drain := func() { // a pause may have come when a call had ended, and another stop after it
		for seen < c.LastStop().Number {
			seen = until[session.Stopped](t, c.events).Number
		}
	}
	abandoned, where := 0, map[string]int{}
	n := 200
	if testing.Short() {
		n = 40
	}
	for i := range n {
		done := make(chan error)
		go func() {
			v, err := c.Evaluate(c.thread, 0, `main.up(main.join("a", "b"))`)
			if err == nil && c.Format(v, eval.DefaultOptions()) != `"A-B"` {
				err = errors.New("wrong result " + c.Format(v, eval.DefaultOptions()))
			}
			done <- err
		}()
		var err error
		paused := false
		for n := 0; ; n++ {
			if n >= 1000*i && !paused && c.Pause() == nil {
				paused = true
			}
			select {
			case err = <-done:
			default:
				runtime.Gosched()
				continue
			}
			break
		}
		var given *session.CallError
		switch {
		case errors.As(err, &given):
			abandoned++
			drain()
			where[c.goFunctions()]++
			for n := 0; c.goFunctions() != "main.stop main.main"; n++ {
				if n == 10 {
					t.Fatalf("the call does not end: %s", c.goFunctions())
				}
				c.must(c.Continue(0))
				st := until[session.Stopped](t, c.events)
				c.thread, seen = st.Thread, st.Number
				drain()
			}
		case err != nil:
			t.Fatal(err)
		}
		drain()
		if after := c.state(); after != before {
			t.Fatalf("pause %d: registers before\n%s\nafter\n%s", i, before, after)
		}
	}
	t.Logf("%d of %d calls were abandoned, in %v", abandoned, n, where)
}

// TestGoCallRefused stops in Go's runtime, where nothing can be called.
func TestGoCallRefused(t *testing.T) {
	c := newGoCaller(t, goBuilds[0].flags)
	for _, x := range []struct{ stop, words string }{
		{"runtime.mallocgc", "Go's runtime reports: call from within the Go runtime"},
		{"runtime.park_m", "the thread is on the stack of Go's runtime"},
	} {
		b, err := c.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: x.stop}, Temporary: true}, false)
		c.must(err)
		c.must(c.Continue(0))
		c.thread = until[session.Stopped](t, c.events).Thread
		before := c.state()
		if got := c.value("main.add(1, 2)"); !strings.Contains(got, x.words) {
			t.Errorf("in %s (%d): %s", x.stop, b.ID, got)
		}
		if after := c.state(); after != before {
			t.Errorf("registers before\n%s\nafter\n%s", before, after)
		}
	}
}

// TestGoManyCalls calls while other goroutines allocate, and collect garbage all the time.
func TestGoManyCalls(t *testing.T) {
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			c := newGoCaller(t, b.flags, "storm")
			before := c.state()
			began := time.Now()
			const n = 1000
			for i := range n {
				switch i % 4 {
				case 0:
					c.expect("main.add(40, 2)", "42")
				case 1:
					c.expect(`main.up(main.join("some text", "more"))`, `"SOME TEXT-MORE"`)
				case 2:
					c.expect("main.list(3)", `[]string len: 3, cap: 4, ["item 0","item 1","item 2"]`)
				case 3:
					c.expect("main.deep(100)", "101")
				}
				if t.Failed() {
					t.Fatalf("call %d", i)
				}
			}
			t.Logf("%v for each call", time.Since(began)/n)
			if after := c.state(); after != before {
				t.Errorf("registers before\n%s\nafter\n%s", before, after)
			}
			c.must(c.Continue(0))
			c.ends(0)
		})
	}
}

// TestGoCallTime measures a call in a program whose other threads are idle.
func TestGoCallTime(t *testing.T) {
	c := newGoCaller(t, goBuilds[0].flags)
	began := time.Now()
	const n = 300
	for range n {
		c.expect("main.add(1, 2)", "3")
	}
	t.Logf("%v for each call of main.add", time.Since(began)/n)
}
