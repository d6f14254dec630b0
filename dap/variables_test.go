package dap

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	godap "github.com/google/go-dap"
)

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
