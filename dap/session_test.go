package dap

import (
	"strings"
	"testing"

	godap "github.com/google/go-dap"
)

// breakAt sets one breakpoint that must be verified at its line.
func (c *testClient) breakAt(source string, l int) int {
	c.t.Helper()
	var b breakpointsBody
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{{"line": l}}}, &b)
	if len(b.Breakpoints) != 1 || !b.Breakpoints[0].Verified || b.Breakpoints[0].Line == nil || *b.Breakpoints[0].Line != l {
		c.fail("the breakpoint at line %d: %+v", l, b)
	}
	return b.Breakpoints[0].ID
}

// frames is a stackTrace without levels.
func (c *testClient) frames(thread int) []godap.StackFrame {
	c.t.Helper()
	var b godap.StackTraceResponseBody
	c.ok("stackTrace", object{"threadId": thread}, &b)
	if b.TotalFrames != len(b.StackFrames) {
		c.fail("%d frames, but a total of %d", len(b.StackFrames), b.TotalFrames)
	}
	return b.StackFrames
}

// vars is the variables of a reference by name.
func (c *testClient) vars(ref int) map[string]godap.Variable {
	c.t.Helper()
	var b godap.VariablesResponseBody
	c.ok("variables", object{"variablesReference": ref}, &b)
	out := map[string]godap.Variable{}
	for _, v := range b.Variables {
		out[v.Name] = v
	}
	return out
}

// scope is the reference of a scope of a frame.
func (c *testClient) scope(frame int, name string) int {
	c.t.Helper()
	var b godap.ScopesResponseBody
	c.ok("scopes", object{"frameId": frame}, &b)
	for _, s := range b.Scopes {
		if s.Name == name {
			return s.VariablesReference
		}
	}
	c.fail("no scope %s: %+v", name, b)
	return 0
}

func (c *testClient) evaluate(frame int, text string) string {
	c.t.Helper()
	var b godap.EvaluateResponseBody
	c.ok("evaluate", object{"expression": text, "frameId": frame, "context": "watch"}, &b)
	return b.Result
}

func (c *testClient) expectFrame(f godap.StackFrame, name string, l int) {
	c.t.Helper()
	if f.Name != name || f.Line != l || f.Column < 1 || f.Source == nil || !strings.HasSuffix(f.Source.Path, "/tour.c") || f.InstructionPointerReference == "" {
		c.fail("frame %+v; want %s at line %d", f, name, l)
	}
}

func TestLaunchBreakpointExit(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"loop"}})
	var threads godap.ThreadsResponseBody
	c.ok("threads", nil, &threads)
	if len(threads.Threads) != 1 {
		c.fail("threads before the first stop: %+v", threads)
	}
	id := c.breakAt(source, line(t, "loop-body"))
	done := c.send("configurationDone", nil)
	c.good(done, nil)
	st := c.stop("breakpoint")
	if len(st.HitBreakpointIDs) != 1 || st.HitBreakpointIDs[0] != id {
		c.fail("hit %v, want %d", st.HitBreakpointIDs, id)
	}
	frames := c.frames(st.ThreadID)
	c.expectFrame(frames[0], "loop", line(t, "loop-body"))
	if len(frames) < 2 || frames[1].Name != "main" {
		c.fail("frames %+v", frames)
	}
	if v := c.vars(c.scope(frames[0].Id, "Locals"))["total"]; v.Value != "0" || v.Type != "int" {
		c.fail("total: %+v", v)
	}

	// The same request again: the breakpoint keeps its number.
	if again := c.breakAt(source, line(t, "loop-body")); again != id {
		c.fail("the breakpoint's number has changed from %d to %d", id, again)
	}
	var cont godap.ContinueResponseBody
	c.ok("continue", object{"threadId": st.ThreadID}, &cont)
	if !cont.AllThreadsContinued {
		c.fail("%+v", cont)
	}
	c.stop("breakpoint")
	if text := c.bad("scopes", object{"frameId": frames[0].Id}); !strings.Contains(text, "stale") {
		c.fail("an old frame: %s", text)
	}
	for _, f := range c.frames(st.ThreadID) {
		if f.Id <= frames[len(frames)-1].Id {
			c.fail("the frame id %d is used again", f.Id)
		}
	}
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{}}, nil)
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	c.output("stdout", "total 55\n")
	var exited godap.ExitedEventBody
	c.event("exited", &exited)
	if exited.ExitCode != 0 {
		c.fail("%+v", exited)
	}
	c.event("terminated", nil)
	if text := c.bad("stackTrace", object{"threadId": st.ThreadID}); !strings.Contains(text, "no program") {
		c.fail("%s", text)
	}
	c.ok("disconnect", nil, nil)
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": "loop"})
	c.breakAt(source, line(t, "loop-body"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	c.ok("setBreakpoints", object{"source": object{"path": source}}, nil)
	thread := object{"threadId": st.ThreadID}
	c.ok("stepIn", thread, nil)
	c.stop("step")
	c.expectFrame(c.frames(st.ThreadID)[0], "add", line(t, "add-body"))
	c.ok("next", thread, nil)
	c.stop("step")
	c.expectFrame(c.frames(st.ThreadID)[0], "add", line(t, "add-body")+1)
	before := c.frames(st.ThreadID)[0].InstructionPointerReference
	c.ok("next", object{"threadId": st.ThreadID, "granularity": "instruction"}, nil)
	c.stop("step")
	if now := c.frames(st.ThreadID)[0]; now.InstructionPointerReference == before || now.Name != "add" {
		c.fail("an instruction's step: %+v", now)
	}
	c.ok("stepIn", object{"threadId": st.ThreadID, "granularity": "instruction"}, nil)
	c.stop("step")
	c.ok("stepOut", thread, nil)
	c.stop("step")
	if f := c.frames(st.ThreadID)[0]; f.Name != "loop" {
		c.fail("after stepOut: %+v", f)
	}
	if v := c.vars(c.scope(c.frames(st.ThreadID)[0].Id, "Locals"))["(add returned)"]; v.Value != "1" {
		c.fail("what add returned: %+v", v)
	}
	if text := c.bad("next", object{"threadId": 1}); !strings.Contains(text, "no such thread") {
		c.fail("%s", text)
	}
}

func TestBreakpointKinds(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"loop"}})
	var b breakpointsBody
	body, ret := line(t, "loop-body"), line(t, "add-return")
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{
		{"line": body, "condition": "i == 3"}, {"line": ret, "logMessage": "sum is {sum}"}, {"line": 1}, {"line": 100000}, {"line": body, "condition": "i =="}, {"line": body, "hitCondition": "huh"}}}, &b)
	if len(b.Breakpoints) != 6 || !b.Breakpoints[0].Verified || !b.Breakpoints[1].Verified || b.Breakpoints[3].Verified || b.Breakpoints[4].Verified || b.Breakpoints[5].Verified {
		c.fail("%+v", b)
	}
	if b.Breakpoints[2].Verified && *b.Breakpoints[2].Line <= 1 {
		c.fail("a line without code: %+v", b.Breakpoints[2])
	}
	for i := 3; i < 6; i++ {
		if b.Breakpoints[i].Message == "" {
			c.fail("no reason: %+v", b.Breakpoints[i])
		}
	}
	keep := b.Breakpoints[0].ID
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{
		{"line": ret, "logMessage": "sum is {sum}"}, {"line": body, "condition": "i == 3"}}}, &b)
	if b.Breakpoints[1].ID != keep {
		c.fail("number %d has become %d", keep, b.Breakpoints[1].ID)
	}
	c.ok("setExceptionBreakpoints", object{"filters": []string{}}, nil)
	c.ok("configurationDone", nil, nil)
	c.output("console", "sum is 1")
	st := c.stop("breakpoint")
	f := c.frames(st.ThreadID)[0]
	if c.evaluate(f.Id, "i") != "3" {
		c.fail("the condition did not hold")
	}
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{}}, nil)
	c.ok("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "add", "hitCondition": "==2"}, {"name": "no_such_function"}}}, &b)
	if len(b.Breakpoints) != 2 || !b.Breakpoints[0].Verified || b.Breakpoints[1].Verified {
		c.fail("%+v", b)
	}
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	st = c.stop("function breakpoint")
	frames := c.frames(st.ThreadID)
	if frames[0].Name != "add" || c.evaluate(frames[0].Id, "a") != "4" {
		c.fail("%+v", frames[0])
	}
	c.ok("setFunctionBreakpoints", object{"breakpoints": []object{}}, nil)
	c.ok("setInstructionBreakpoints", object{"breakpoints": []object{{"instructionReference": frames[1].InstructionPointerReference}, {"instructionReference": "x"}}}, &b)
	if !b.Breakpoints[0].Verified || b.Breakpoints[1].Verified {
		c.fail("%+v", b)
	}
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	st = c.stop("instruction breakpoint")
	if f := c.frames(st.ThreadID)[0]; f.InstructionPointerReference != frames[1].InstructionPointerReference {
		c.fail("%+v", f)
	}
}

// TestDataBreakpoints: a variable of the program, one of a part, one of a register, and the end of a frame.
func TestDataBreakpoints(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"loop"}})
	c.breakAt(source, line(t, "loop-body"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	f := c.frames(st.ThreadID)[0]
	type info struct {
		DataID      *string `json:"dataId"`
		Description string
	}
	ask := func(name string) (i info) {
		c.ok("dataBreakpointInfo", object{"name": name, "frameId": f.Id}, &i)
		return i
	}
	global := ask("global")
	if global.DataID == nil || global.Description != "global" {
		c.fail("%+v", global)
	}
	for _, name := range []string{"$rax", "global = 1", "no_such_name", "1 + 1"} {
		if i := ask(name); i.DataID != nil || i.Description == "" {
			c.fail("%s: %+v", name, i)
		}
	}
	var b godap.SetBreakpointsResponseBody
	c.ok("setDataBreakpoints", object{"breakpoints": []object{{"dataId": *global.DataID, "accessType": "write"}, {"dataId": "x"}}}, &b)
	if len(b.Breakpoints) != 2 || !b.Breakpoints[0].Verified || b.Breakpoints[1].Verified {
		c.fail("%+v", b)
	}
	id := b.Breakpoints[0].Id
	c.ok("setDataBreakpoints", object{"breakpoints": []object{{"dataId": *global.DataID, "accessType": "write"}}}, &b)
	if len(b.Breakpoints) != 1 || b.Breakpoints[0].Id != id {
		c.fail("%+v, the number was %d", b, id)
	}
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{}}, nil)
	before := c.evaluate(f.Id, "global")
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	st = c.stop("data breakpoint")
	if len(st.HitBreakpointIDs) != 1 || st.HitBreakpointIDs[0] != id || !strings.HasPrefix(st.Text, "global: "+before+" -> ") {
		c.fail("%+v", st)
	}
	c.ok("setDataBreakpoints", object{"breakpoints": []object{}}, nil)
}

func TestRunningRequests(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"wait"}})
	var p godap.ProcessEventBody
	c.event("process", &p)
	c.ok("configurationDone", nil, nil)
	c.output("stdout", "waiting\n")
	var threads godap.ThreadsResponseBody
	c.ok("threads", nil, &threads)
	if len(threads.Threads) != 1 {
		c.fail("%+v", threads)
	}
	thread := object{"threadId": threads.Threads[0].Id}
	for _, r := range []string{"stackTrace", "next", "stepIn", "stepOut", "continue"} {
		if text := c.bad(r, thread); !strings.Contains(text, "running") {
			c.fail("%s: %s", r, text)
		}
	}
	c.bad("evaluate", object{"expression": "global"})
	c.bad("readMemory", object{"memoryReference": "0x0", "count": 1})
	c.bad("noSuchRequest", nil)
	c.bad("stepBack", thread)
	c.bad("initialize", object{})
	c.bad("launch", object{"program": exe})
	// A breakpoint while it runs.
	c.breakAt(source, line(t, "wait-loop"))
	st := c.stop("breakpoint")
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{}}, nil)
	c.ok("continue", thread, nil)
	c.ok("pause", object{"threadId": st.ThreadID}, nil)
	if st := c.stop("pause"); st.ThreadID != threads.Threads[0].Id {
		c.fail("%+v", st)
	}
	if fs := c.frames(st.ThreadID); fs[len(fs)-1].Name == "" {
		c.fail("%+v", fs)
	}
	c.bad("pause", thread)
	if !alive(p.SystemProcessId) {
		c.fail("process %d is gone", p.SystemProcessId)
	}
	c.ok("continue", thread, nil)
	c.ok("disconnect", object{}, nil)
	c.end()
	if alive(p.SystemProcessId) {
		c.fail("process %d is still there", p.SystemProcessId)
	}
}

func TestThreads(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"threads"}})
	c.ok("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{{"line": line(t, "threads-all")}, {"line": line(t, "threads-none")}}}, nil)
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	var threads godap.ThreadsResponseBody
	c.ok("threads", nil, &threads)
	if len(threads.Threads) != 4 {
		c.fail("%+v", threads)
	}
	for _, th := range threads.Threads {
		if th.Name == "" || len(c.frames(th.Id)) < 2 {
			c.fail("%+v", th)
		}
	}
	ids := map[int]bool{}
	for range 4 {
		var ev godap.ThreadEventBody
		c.event("thread", &ev)
		if ev.Reason != "started" || ids[ev.ThreadId] {
			c.fail("%+v", ev)
		}
		ids[ev.ThreadId] = true
	}
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	c.stop("breakpoint")
	for range 3 {
		var ev godap.ThreadEventBody
		c.event("thread", &ev)
		if ev.Reason != "exited" || !ids[ev.ThreadId] {
			c.fail("%+v", ev)
		}
		delete(ids, ev.ThreadId)
	}
	c.ok("threads", nil, &threads)
	if len(threads.Threads) != 1 {
		c.fail("%+v", threads)
	}
	c.ok("terminate", nil, nil)
	var exited godap.ExitedEventBody
	c.event("exited", &exited)
	if exited.ExitCode != 128+9 {
		c.fail("%+v", exited)
	}
	c.event("terminated", nil)
	c.ok("disconnect", nil, nil)
}

func TestCrash(t *testing.T) {
	t.Parallel()
	exe, _ := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"crash"}})
	c.ok("configurationDone", nil, nil)
	st := c.stop("exception")
	if !strings.Contains(st.Text, "SIGSEGV") || !strings.Contains(st.Text, "0x10") {
		c.fail("%+v", st)
	}
	var info godap.ExceptionInfoResponseBody
	c.ok("exceptionInfo", object{"threadId": st.ThreadID}, &info)
	if info.ExceptionId != "SIGSEGV" || info.Details == nil {
		c.fail("%+v", info)
	}
	c.expectFrame(c.frames(st.ThreadID)[0], "main", line(t, "crash-here"))
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	c.output("console", "SIGSEGV")
	var exited godap.ExitedEventBody
	c.event("exited", &exited)
	if exited.ExitCode != 128+11 {
		c.fail("%+v", exited)
	}
	c.event("terminated", nil)
}
