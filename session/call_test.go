package session_test

import (
	"errors"
	"fmt"
	"os"
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

// caller is a session that stands in main of testdata/call/call.cc.
type caller struct {
	*session.Session
	t      testing.TB
	events <-chan session.Event
	thread target.ThreadID
}

func newCaller(t testing.TB, args ...string) *caller {
	t.Helper()
	exe := fixture.Build(t, "call/call.cc", "-g", "-O0")
	source, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata/call/call.cc"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), "// stop")
	s, events := newSession(t)
	dev := null(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Args: args, Stdin: dev, Stdout: dev, Stderr: dev}))
	c.breakAt(session.LocationSpec{File: "call.cc", Line: strings.Count(before, "\n") + 1})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	return c
}

func (c *caller) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) breakAt(spec session.LocationSpec) int {
	c.t.Helper()
	b, err := c.SetBreakpoint(session.BreakpointSpec{LocationSpec: spec}, false)
	c.must(err)
	return b.ID
}

func (c *caller) value(expr string) string {
	c.t.Helper()
	v, err := c.Evaluate(c.thread, 0, expr)
	if err != nil {
		return err.Error()
	}
	return c.Format(v, eval.DefaultOptions())
}

func (c *caller) expect(expr, want string) {
	c.t.Helper()
	if got := c.value(expr); got != want {
		c.t.Errorf("%s\n gave %s\n want %s", expr, got, want)
	}
}

// state returns all that a call must leave as it was.
func (c *caller) state() string {
	c.t.Helper()
	var out strings.Builder
	regs, err := c.Registers(c.thread, 0)
	c.must(err)
	for _, r := range regs {
		fmt.Fprintf(&out, "%s=%#x ", r.Name, r.Value)
	}
	for i := range 16 {
		fmt.Fprintf(&out, "xmm%d=%s ", i, c.value(fmt.Sprintf("$xmm%d", i)))
	}
	for i := range 8 {
		fmt.Fprintf(&out, "st%d=%s ", i, c.value(fmt.Sprintf("$st%d", i)))
	}
	return out.String()
}

// functions lists the names of a backtrace up to main.
func (c *caller) functions() string {
	c.t.Helper()
	bt, err := c.Backtrace(c.thread, 0, 0)
	c.must(err)
	var out []string
	for _, f := range bt.Frames {
		out = append(out, f.FunctionName)
		if f.FunctionName == "main" {
			break
		}
	}
	return strings.Join(out, " ")
}

func TestCalls(t *testing.T) {
	c := newCaller(t)
	before := c.state()
	stop := c.LastStop()
	handle := c.At(stop.Number)
	for _, x := range [][2]string{
		{"f(1)", "2"},
		{"f(v)", "42"},
		{"f(f(f(1)))", "4"},
		{"f('a')", "98"},
		{"f(2.9)", "3"},
		{"half(3)", "1.5"},
		{"move(p, 5)", "{x = 6, y = 7}"},
		{"move(p, 5).y", "7"},
		{"mix(m)", "{d = 3, i = 4}"},
		{"big(b, 7)", "{a = {8, 2, 3, 4, 5}}"},
		{"ld(1.25)", "2.5"},
		{"cplx(z)", "2 + 4i"},
		{"length(t)", "5"},
		{`twice("ab")[2]`, "97 'a'"},
		{"over(1)", "1"},
		{"over(2.5)", "2"},
		{"over('x')", "1"},
		{`over("x")`, "3"},
		{"amb(1, 1)", "The call of amb is ambiguous; candidates are:\namb(int, long)\namb(long, int)"},
		{"over(p)", "Cannot resolve function over to any overloaded instance"},
		{"sum(3, 1.0, 2.0, 3.5)", "6"},
		{`d.add(1.5, "text")`, "25"},
		{"d.who()", "2"},
		{"pb->who()", "2"},
		{"pb->base()", "10"},
		{"d.base()", "10"},
		{"d.none()", "Couldn't find method Derived::none"},
		{"fp(3)", "4"},
		{"(*fp)(3)", "4"},
		{"f()", "Too few arguments in function call."},
		{"f(1, 2)", "Too many arguments in function call."},
		{`(int)strlen("abcd")`, "4"},
		{`strlen("abcd")`, "'strlen' has unknown return type; cast the call to its declared return type"},
		{"sizeof(f(1))", "4"},
	} {
		c.expect(x[0], x[1])
	}
	c.expect("nothing()", "void")
	c.expect("inc(v)", "void")
	c.expect("v", "42")
	if after := c.state(); after != before {
		t.Errorf("registers before\n%s\nafter\n%s", before, after)
	}
	if n := c.LastStop().Number; n != stop.Number {
		t.Errorf("stop %d became %d", stop.Number, n)
	}
	if _, err := handle.Frame(c.thread, 0); err != nil {
		t.Errorf("the stop is no longer valid: %v", err)
	}
}

// called expects that the evaluation of an expression was given up.
func (c *caller) called(expr, words string) {
	c.t.Helper()
	_, err := c.Evaluate(c.thread, 0, expr)
	var e *session.CallError
	if !errors.As(err, &e) || !strings.Contains(e.Text, words) {
		c.t.Fatalf("%s: %v", expr, err)
	}
}

func TestCallBreakpoint(t *testing.T) {
	c := newCaller(t)
	before := c.state()
	id := c.breakAt(session.LocationSpec{Function: "f", Text: "f"})
	for _, leave := range []string{"continue", "finish", "step", "return"} {
		c.called("f(5)", "The program being debugged stopped while in a function called from dbg.")
		st := until[session.Stopped](t, c.events)
		if st.Reason != session.StopBreakpoint || st.Breakpoints[0] != id {
			t.Fatalf("stop %+v", st)
		}
		if got := c.functions(); got != "f <function called from dbg> main" {
			t.Fatalf("frames %s", got)
		}
		if v, err := c.Evaluate(c.thread, 2, "v"); err != nil || c.Format(v, eval.DefaultOptions()) != "41" {
			t.Errorf("v in the frame below: %v", err)
		}
		switch leave {
		case "continue":
			c.must(c.Continue(0))
		case "finish":
			c.must(c.Step(session.StepOut, 1))
		case "step":
			c.must(c.Step(session.StepOver, 1))
			for until[session.Stopped](t, c.events); c.functions() != "main"; until[session.Stopped](t, c.events) {
				c.must(c.Step(session.StepOver, 1))
			}
		case "return":
			c.must(c.Return("7"))
		}
		if leave == "continue" || leave == "finish" {
			st := until[session.Stopped](t, c.events)
			if leave == "finish" && c.Format(st.ReturnValue, eval.DefaultOptions()) != "6" {
				t.Errorf("finish gave %+v", st)
			}
		}
		if got := c.functions(); got != "main" {
			t.Fatalf("%s: frames %s", leave, got)
		}
		if after := c.state(); after != before {
			t.Errorf("%s: registers before\n%s\nafter\n%s", leave, before, after)
		}
	}
}

func TestCallSignal(t *testing.T) {
	c := newCaller(t)
	before := c.state()
	c.called("crash((int*)0)", "The program being debugged was signaled while in a function called from dbg.\ndbg remains")
	if st := until[session.Stopped](t, c.events); st.Reason != session.StopSignal || c.functions() != "crash <function called from dbg> main" {
		t.Fatalf("%+v %s", st, c.functions())
	}
	c.expect("f(1)", "2") // another call on top of it
	c.must(c.Return(""))
	c.SetUnwindOnSignal(true)
	c.called("crash((int*)0)", "dbg has restored the context")
	c.called("throws()", "dbg has restored the context")
	if got := c.functions(); got != "main" {
		t.Errorf("frames %s", got)
	}
	if after := c.state(); after != before {
		t.Errorf("registers before\n%s\nafter\n%s", before, after)
	}
	c.expect("f(1)", "2")
	c.must(c.Continue(0))
	for {
		if e, ok := next(t, c.events).(session.Ended); ok {
			if !e.Exited || e.ExitCode != 0 {
				t.Errorf("the program ended: %+v", e)
			}
			return
		}
	}
}

func TestCallExit(t *testing.T) {
	c := newCaller(t)
	c.called("leave(3)", "The program being debugged exited while in a function called from dbg.")
	if e, ok := next(t, c.events).(session.Ended); !ok || e.ExitCode != 3 {
		t.Errorf("%+v", e)
	}
	c.expect("f(1)", "You can't do that without a process to debug.")
}

func TestCallPause(t *testing.T) {
	c := newCaller(t)
	done := make(chan error)
	go func() {
		_, err := c.Evaluate(c.thread, 0, "slow(100000000)")
		done <- err
	}()
	for c.Pause() != nil { // until the call runs
		runtime.Gosched()
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "(slow) will be abandoned") {
		t.Fatal(err)
	}
	until[session.Stopped](t, c.events)
	if got := c.functions(); !strings.HasSuffix(got, "slow <function called from dbg> main") {
		t.Errorf("frames %s", got)
	}
	// Killing the process ends an evaluation, too.
	go func() {
		_, err := c.Evaluate(c.thread, 0, "slow(100000000)")
		done <- err
	}()
	for c.State() != session.IsRunning {
		runtime.Gosched()
	}
	c.must(c.Kill())
	if err := <-done; err == nil || !strings.Contains(err.Error(), "exited while") {
		t.Fatal(err)
	}
}

// TestCallBesideHits calls while another thread runs into a breakpoint whose condition is false, and
// then into one that stops.
func TestCallBesideHits(t *testing.T) {
	c := newCaller(t, "thread")
	tick := session.LocationSpec{Function: "tick", Text: "tick"}
	_, err := c.SetBreakpoint(session.BreakpointSpec{LocationSpec: tick, Condition: "counter < 0"}, false)
	c.must(err)
	for i := range 50 {
		c.expect(fmt.Sprintf("slow(%d)", i), "7")
	}
	id := c.breakAt(tick)
	_, err = c.Evaluate(c.thread, 0, "slow(100000000)")
	if err == nil || !strings.HasPrefix(err.Error(), "The program being debugged stopped in another thread while") {
		t.Fatal(err)
	}
	if st := until[session.Stopped](t, c.events); st.Thread == c.thread {
		t.Fatalf("%+v", st)
	}
	c.must(c.DeleteBreakpoint(id))
	c.expect("counter > 0", "true")
	if got := c.functions(); !strings.HasSuffix(got, "slow <function called from dbg> main") {
		t.Errorf("frames %s", got)
	}
}

// TestCallCondition has a condition that calls: it is refused, and the program stops.
func TestCallCondition(t *testing.T) {
	c := newCaller(t)
	_, err := c.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "sum", Text: "sum"}, Condition: "f(1) == 5"}, false)
	c.must(err)
	c.must(c.Continue(0))
	until[session.Stopped](t, c.events)
	if got := c.functions(); got != "sum main" {
		t.Errorf("frames %s", got)
	}
}

func TestManyCalls(t *testing.T) {
	c := newCaller(t)
	c.expect("f(1)", "2")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	const n = 1000
	for i := range n {
		v, err := c.Evaluate(c.thread, 0, "f(1)")
		if err != nil || v.Bytes[0] != 2 {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%v for each call; the heap has grown by %d bytes", took/n, grown)
	if took > 10*time.Second || grown > 4<<20 {
		t.Errorf("%d calls took %v, and %d bytes", n, took, grown)
	}
}

func TestJump(t *testing.T) {
	c := newCaller(t)
	line, err := c.ParseLocation("main")
	c.must(err)
	place, leaves, err := c.JumpTarget(line)
	if err != nil || leaves != "" {
		t.Fatal(leaves, err)
	}
	c.must(c.Jump(place.Addr))
	if st := until[session.Stopped](t, c.events); st.Reason != session.StopBreakpoint {
		t.Errorf("%+v", st)
	}
	c.expect("v", "41")
}
