package dap

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"

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

func TestVariables(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"inspect"}})
	c.breakAt(source, line(t, "inspect-here"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	frame := c.frames(st.ThreadID)[0].Id
	locals := c.scope(frame, "Locals")
	vars := c.vars(locals)
	if vars["shadow"].Value != "2" || vars["shadow (hidden)"].Value != "1" {
		c.fail("shadows: %+v", vars)
	}
	if v := vars["numbers"]; v.IndexedVariables != 4 || v.NamedVariables != 0 || v.VariablesReference == 0 || v.Type != "int [4]" {
		c.fail("numbers: %+v", v)
	}
	first := c.vars(vars["first"].VariablesReference)
	if !strings.Contains(first["name"].Value, `"first"`) {
		c.fail("first.name: %+v", first["name"])
	}
	corner := c.vars(first["corner"].VariablesReference)
	point := c.vars(corner["[1]"].VariablesReference)
	if v := point["y"]; v.Value != "4" || v.EvaluateName != "first.corner[1].y" || c.evaluate(frame, v.EvaluateName) != "4" {
		c.fail("first.corner[1].y: %+v", v)
	}
	p := c.vars(vars["p"].VariablesReference)
	if v := p["corner"]; v.EvaluateName != "p->corner" {
		c.fail("p->corner: %+v", v)
	}
	next := c.vars(p["next"].VariablesReference)
	if v := c.vars(c.vars(next["corner"].VariablesReference)["[0]"].VariablesReference)["x"]; v.Value != "5" {
		c.fail("p->next->corner[0].x: %+v", v)
	}
	union := c.vars(p["<anonymous union>"].VariablesReference)
	if v := union["whole"]; v.Value != "131073" || c.evaluate(frame, v.EvaluateName) != "131073" {
		c.fail("the anonymous union: %+v", union)
	}

	// Paging, filters, hexadecimal.
	var b godap.VariablesResponseBody
	c.ok("variables", object{"variablesReference": vars["numbers"].VariablesReference, "filter": "indexed", "start": 1, "count": 2, "format": object{"hex": true}}, &b)
	if len(b.Variables) != 2 || b.Variables[0].Name != "[1]" || b.Variables[1].Value != "0x1e" {
		c.fail("a page: %+v", b)
	}
	c.ok("variables", object{"variablesReference": vars["numbers"].VariablesReference, "filter": "named"}, &b)
	if len(b.Variables) != 0 {
		c.fail("named ones of an array: %+v", b)
	}
	var e godap.EvaluateResponseBody
	c.ok("evaluate", object{"expression": "big", "frameId": frame}, &e)
	if e.IndexedVariables != 5000 {
		c.fail("big: %+v", e)
	}
	c.ok("variables", object{"variablesReference": e.VariablesReference, "start": 4999, "count": 10}, &b)
	if len(b.Variables) != 1 || b.Variables[0].Value != "42" || b.Variables[0].Name != "[4999]" {
		c.fail("big's end: %+v", b)
	}

	// Assignments.
	var set godap.SetVariableResponseBody
	c.ok("setVariable", object{"variablesReference": vars["numbers"].VariablesReference, "name": "[2]", "value": "numbers[3] + 1"}, &set)
	if set.Value != "41" {
		c.fail("%+v", set)
	}
	c.ok("setVariable", object{"variablesReference": corner["[1]"].VariablesReference, "name": "y", "value": "44"}, &set)
	if got := c.evaluate(frame, "first.corner[1].y + numbers[2]"); got != "85" {
		c.fail("after two assignments: %s", got)
	}
	if v := c.vars(corner["[1]"].VariablesReference)["y"]; v.Value != "44" {
		c.fail("the view after the assignment: %+v", v)
	}
	var expr godap.SetExpressionResponseBody
	c.ok("setExpression", object{"expression": "p->next->corner[0].x", "value": "55", "frameId": frame}, &expr)
	if expr.Value != "55" || c.evaluate(frame, "second.corner[0].x") != "55" {
		c.fail("%+v", expr)
	}
	c.bad("setVariable", object{"variablesReference": locals, "name": "nothing", "value": "1"})
	c.bad("setVariable", object{"variablesReference": locals, "name": "shadow", "value": "1 +"})

	// Registers.
	registers := c.scope(frame, "Registers")
	if v := c.vars(registers)["rip"]; v.Value != c.frames(st.ThreadID)[0].InstructionPointerReference || c.evaluate(frame, "$rip == "+v.Value) != "1" {
		c.fail("rip: %+v", v)
	}
	c.ok("setVariable", object{"variablesReference": registers, "name": "r11", "value": "0x1234"}, &set)
	if set.Value != "0x1234" || c.vars(registers)["r11"].Value != "0x1234" {
		c.fail("%+v", set)
	}

	// Contexts of evaluate.
	c.ok("evaluate", object{"expression": "shadow", "frameId": frame, "context": "hover"}, &e)
	if e.Result != "2" || e.Type != "int" {
		c.fail("%+v", e)
	}
	if text := c.bad("evaluate", object{"expression": "shadow = 3", "frameId": frame, "context": "hover"}); !strings.Contains(text, "change") {
		c.fail("%s", text)
	}
	c.ok("evaluate", object{"expression": "shadow = 30", "frameId": frame, "context": "repl"}, &e)
	if e.Result != "30" || c.evaluate(frame, "shadow") != "30" {
		c.fail("%+v", e)
	}
	c.ok("evaluate", object{"expression": "global", "context": "repl", "format": object{"hex": true}}, &e)
	if e.Result != "0x7" {
		c.fail("%+v", e)
	}
	c.bad("evaluate", object{"expression": "no_such_name", "frameId": frame})
	c.bad("evaluate", object{"expression": "", "frameId": frame})
	c.bad("variables", object{"variablesReference": 1 << 30})
	c.bad("variables", object{"variablesReference": frame})
	c.bad("scopes", object{"frameId": locals})

	// Completions.
	var done godap.CompletionsResponseBody
	c.ok("completions", object{"text": "1 + num", "column": 8, "frameId": frame}, &done)
	if len(done.Targets) != 1 || done.Targets[0].Label != "numbers" || done.Targets[0].Start != 5 || done.Targets[0].Length != 3 {
		c.fail("%+v", done)
	}
	c.ok("completions", object{"text": "p->n", "column": 5, "frameId": frame}, &done)
	if len(done.Targets) != 2 {
		c.fail("members: %+v", done)
	}
	c.ok("completions", object{"text": "recur", "column": 6}, &done)
	if len(done.Targets) == 0 || done.Targets[0].Label != "recurse" {
		c.fail("functions: %+v", done)
	}
}

func TestMemoryAndDisassembly(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"inspect"}})
	c.breakAt(source, line(t, "inspect-here"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	frame := c.frames(st.ThreadID)[0]
	var e godap.EvaluateResponseBody
	c.ok("evaluate", object{"expression": "numbers", "frameId": frame.Id}, &e)
	if e.MemoryReference == "" {
		c.fail("%+v", e)
	}
	var m godap.ReadMemoryResponseBody
	c.ok("readMemory", object{"memoryReference": e.MemoryReference, "offset": 4, "count": 8}, &m)
	if data, _ := base64.StdEncoding.DecodeString(m.Data); string(data) != "\x14\x00\x00\x00\x1e\x00\x00\x00" || m.UnreadableBytes != 0 {
		c.fail("%+v", m)
	}
	for _, ref := range []string{"0x0", e.MemoryReference} {
		c.ok("readMemory", object{"memoryReference": ref, "count": 0}, &m)
	}
	m = godap.ReadMemoryResponseBody{}
	c.ok("readMemory", object{"memoryReference": "0x0", "count": 16}, &m)
	if m.Data != "" || m.UnreadableBytes != 16 {
		c.fail("unmapped memory: %+v", m)
	}
	m = godap.ReadMemoryResponseBody{}
	c.ok("readMemory", object{"memoryReference": "0xfffffffffffffff8", "count": 16}, &m)
	if m.UnreadableBytes != 16 {
		c.fail("the end of the address space: %+v", m)
	}
	c.bad("readMemory", object{"memoryReference": "0x0", "count": -1})
	c.bad("readMemory", object{"memoryReference": "0x0", "count": 1 << 40})
	c.bad("readMemory", object{"memoryReference": "here", "count": 1})
	var w godap.WriteMemoryResponseBody
	c.ok("writeMemory", object{"memoryReference": e.MemoryReference, "data": base64.StdEncoding.EncodeToString([]byte{99, 0, 0, 0})}, &w)
	if w.BytesWritten != 4 || c.evaluate(frame.Id, "numbers[0]") != "99" {
		c.fail("%+v", w)
	}
	c.bad("writeMemory", object{"memoryReference": "0x0", "data": "AAAA"})
	c.bad("writeMemory", object{"memoryReference": e.MemoryReference, "data": "!"})

	// Exactly as many instructions as asked for, each where the one before ends.
	for _, tc := range []struct{ offset, count int }{{0, 10}, {-10, 20}, {-5, 3}, {7, 5}, {-300, 300}, {0, 0}} {
		var d struct{ Instructions []instructionBody }
		c.ok("disassemble", object{"memoryReference": frame.InstructionPointerReference, "instructionOffset": tc.offset, "instructionCount": tc.count, "resolveSymbols": true}, &d)
		if len(d.Instructions) != tc.count {
			c.fail("%+v: %d instructions", tc, len(d.Instructions))
		}
		for i, ins := range d.Instructions {
			a, err := strconv.ParseUint(ins.Address, 0, 64)
			if err != nil {
				c.fail("%+v", ins)
			}
			if i > 0 {
				prev := d.Instructions[i-1]
				p, _ := strconv.ParseUint(prev.Address, 0, 64)
				if n := uint64(max(1, len(strings.Fields(prev.InstructionBytes)))); p+n != a {
					c.fail("%+v: %+v is followed by %+v", tc, prev, ins)
				}
			}
			if tc.offset <= 0 && i == -tc.offset && ins.Address != frame.InstructionPointerReference {
				c.fail("%+v: instruction %d is %+v, want %s", tc, i, ins, frame.InstructionPointerReference)
			}
		}
	}
	var d struct{ Instructions []instructionBody }
	c.ok("disassemble", object{"memoryReference": "0x0", "instructionCount": 3}, &d)
	if len(d.Instructions) != 3 || d.Instructions[0].PresentationHint != "invalid" {
		c.fail("no memory: %+v", d)
	}
	c.bad("disassemble", object{"memoryReference": "0x0", "instructionCount": 1 << 30})

	var mods godap.ModulesResponseBody
	c.ok("modules", nil, &mods)
	if mods.TotalModules < 3 || len(mods.Modules) != mods.TotalModules {
		c.fail("%+v", mods)
	}
	var sources godap.LoadedSourcesResponseBody
	c.ok("loadedSources", nil, &sources)
	found := false
	for _, s := range sources.Sources {
		found = found || s.Path == source
	}
	if !found {
		c.fail("%+v", sources)
	}
	var src godap.SourceResponseBody
	c.ok("source", object{"source": object{"path": source}, "sourceReference": 0}, &src)
	if !strings.Contains(src.Content, "// inspect-here\n") {
		c.fail("%+v", src)
	}
	var locs godap.BreakpointLocationsResponseBody
	c.ok("breakpointLocations", object{"source": object{"path": source}, "line": line(t, "inspect-here") - 1, "endLine": line(t, "inspect-here")}, &locs)
	if len(locs.Breakpoints) != 1+1 {
		c.fail("%+v", locs)
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

func TestLaunchArguments(t *testing.T) {
	exe, _ := tour(t)
	t.Setenv("TOUR", "from dbg")
	dir, err := os.MkdirTemp("", "dap")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, tc := range []struct {
		name string
		args object
		want string
	}{
		{"list", object{"args": []any{"show", "a b"}, "env": object{"TOUR": "new"}}, "a b|new\n"},
		{"text", object{"args": `show 'a "b'\ c`, "env": []string{"TOUR=x=y"}}, "a \"b c|x=y\n"},
		{"unset", object{"args": "show x", "env": object{"TOUR": nil}}, "x|unset\n"},
		{"inherited", object{"args": "show x", "noDebug": true}, "x|from dbg\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := connect(t, Options{})
			tc.args["program"], tc.args["cwd"] = exe, dir
			c.start("launch", tc.args)
			c.ok("configurationDone", nil, nil)
			c.output("stdout", tc.want)
			c.event("terminated", nil)
			all := fmt.Sprint(c.log)
			if !strings.Contains(all, "problem ä") || !strings.Contains(all, dir) {
				c.fail("standard error or the folder is missing")
			}
		})
	}
	c := connect(t, Options{})
	c.ok("initialize", object{}, nil)
	for _, args := range []object{{}, {"program": "/no/such/program"}, {"program": dir}, {"program": exe, "cwd": "/no/such/dir"}, {"program": exe, "args": 7}, {"program": exe, "env": 7}} {
		c.bad("launch", args)
	}
	for _, args := range []object{{}, {"pid": -1}, {"pid": "x"}, {"pid": 1 << 22}, {"core": "/no/such/core"}} {
		c.bad("attach", args)
	}
	c.start2(exe) // after all these it still works
}

// start2 launches after initialize and runs to the end.
func (c *testClient) start2(exe string) {
	c.t.Helper()
	c.ok("launch", object{"program": exe}, nil)
	c.event("initialized", nil)
	c.ok("configurationDone", nil, nil)
	c.event("terminated", nil)
}

func TestStopOnEntry(t *testing.T) {
	t.Parallel()
	exe, _ := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"exit", "3"}, "stopOnEntry": true})
	c.ok("configurationDone", nil, nil)
	st := c.stop("entry")
	c.expectFrame(c.frames(st.ThreadID)[0], "main", line(t, "main-first"))
	c.ok("restart", nil, nil)
	st = c.stop("entry")
	c.expectFrame(c.frames(st.ThreadID)[0], "main", line(t, "main-first"))
	c.ok("continue", object{"threadId": st.ThreadID}, nil)
	var exited godap.ExitedEventBody
	c.event("exited", &exited)
	if exited.ExitCode != 3 {
		c.fail("%+v", exited)
	}
}

func TestDeepRecursion(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"recurse", "20000"}})
	c.breakAt(source, line(t, "recurse-bottom"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	var b godap.StackTraceResponseBody
	c.ok("stackTrace", object{"threadId": st.ThreadID, "startFrame": 0, "levels": 20}, &b)
	if len(b.StackFrames) != 20 || b.TotalFrames <= 20 {
		c.fail("%d frames of %d", len(b.StackFrames), b.TotalFrames)
	}
	first := b.StackFrames[19].Id
	c.ok("stackTrace", object{"threadId": st.ThreadID, "startFrame": 19, "levels": 2}, &b)
	if len(b.StackFrames) != 2 || b.StackFrames[0].Id != first {
		c.fail("the second page: %+v", b)
	}
	// Past the end.
	c.ok("stackTrace", object{"threadId": st.ThreadID, "startFrame": 1000000, "levels": 20}, &b)
	if len(b.StackFrames) != 0 || b.TotalFrames < 20001 {
		c.fail("past the end: %d frames of %d", len(b.StackFrames), b.TotalFrames)
	}
	all := c.frames(st.ThreadID)
	if len(all) < 20002 {
		c.fail("%d frames", len(all))
	}
	seen := map[int]bool{}
	for _, f := range all {
		if seen[f.Id] {
			c.fail("the id %d twice", f.Id)
		}
		seen[f.Id] = true
	}
	if got := c.evaluate(all[15000].Id, "n"); got != "15000" {
		c.fail("n in frame 15000: %s", got)
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	exe, _ := tour(t)
	for _, terminate := range []bool{false, true} {
		t.Run(fmt.Sprint(terminate), func(t *testing.T) {
			cmd := exec.Command(exe, "wait")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			c := connect(t, Options{})
			c.start("attach", object{"pid": strconv.Itoa(cmd.Process.Pid), "stopOnEntry": true})
			c.ok("configurationDone", nil, nil)
			st := c.stop("entry")
			if st.ThreadID != cmd.Process.Pid || len(c.frames(st.ThreadID)) < 2 {
				c.fail("%+v", st)
			}
			args := object{}
			if terminate {
				args["terminateDebuggee"] = true
			}
			c.ok("disconnect", args, nil)
			c.end()
			if got := alive(cmd.Process.Pid); got == terminate {
				t.Fatalf("the process is alive: %v", got)
			}
		})
	}
}

func TestCore(t *testing.T) {
	t.Parallel()
	exe, _ := tour(t)
	core := fixture.Core(t, exe, "crash")
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "coreFile": core})
	c.ok("configurationDone", nil, nil)
	st := c.stop("exception")
	if !strings.Contains(st.Text, "SIGSEGV") {
		c.fail("%+v", st)
	}
	frames := c.frames(st.ThreadID)
	c.expectFrame(frames[0], "main", line(t, "crash-here"))
	if v := c.vars(c.scope(frames[0].Id, "Arguments"))["argc"]; v.Value != "2" {
		c.fail("%+v", v)
	}
	for _, r := range []string{"continue", "next", "stepIn", "stepOut", "pause"} {
		if text := c.bad(r, object{"threadId": st.ThreadID}); !strings.Contains(text, "core") {
			c.fail("%s: %s", r, text)
		}
	}
	c.bad("evaluate", object{"expression": "global = 1"})
	c.bad("setExpression", object{"expression": "global", "value": "1"})
	var e godap.EvaluateResponseBody
	c.ok("evaluate", object{"expression": "global"}, &e)
	if e.Result != "7" {
		c.fail("%+v", e)
	}
	c.ok("disconnect", nil, nil)
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
}
