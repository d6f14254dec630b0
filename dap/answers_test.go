package dap

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/symbols/names"

	godap "github.com/google/go-dap"
)

// Requests that control the program are answered while the debugger has much to do. The tests assert the order: such a request
// is answered before the one that takes long. They log the times.

func longProgram(t *testing.T) string {
	return fixture.Build(t, "../dap/testdata/long.c", "-g", "-O0")
}

// answeredFirst sends a request while another one is at work, and checks that it is answered first. A cancelled one may be
// answered before.
func (c *testClient) answeredFirst(long int, command string, args any) message {
	c.t.Helper()
	began := time.Now()
	m := c.answer(c.send(command, args))
	took := time.Since(began)
	for _, p := range c.pending {
		if p.Type == "response" && p.RequestSeq == long && p.Message != "cancelled" {
			c.fail("%s was answered after %s", command, p.Command)
		}
	}
	c.t.Logf("%s was answered in %v", command, took)
	return m
}

// heldIndex returns a client of a program that runs, and a request that waits for an index of names. The index is finished
// after release.
func heldIndex(t *testing.T) (c *testClient, pid, long int, release func()) {
	t.Helper()
	begun, gate := make(chan bool, 1), make(chan bool)
	c = connect(t, Options{Session: session.Config{DebugDirs: []string{t.TempDir()}, Indexing: func(p names.Progress) {
		select {
		case begun <- true:
		default:
		}
		<-gate
	}}})
	c.start("launch", object{"program": longProgram(t)})
	var p godap.ProcessEventBody
	c.event("process", &p)
	c.ok("configurationDone", nil, nil)
	c.output("stdout", "waiting\n")
	long = c.send("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "int"}}})
	<-begun
	return c, p.SystemProcessId, long, sync.OnceFunc(func() { close(gate) })
}

func TestAnswersWhileIndexing(t *testing.T) {
	t.Parallel()
	t.Run("pause", func(t *testing.T) {
		t.Parallel()
		c, pid, long, release := heldIndex(t)
		defer release()
		if m := c.answeredFirst(long, "pause", object{"threadId": pid}); !m.Success {
			c.fail("%v", m)
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || !strings.Contains(string(stat), ") t ") {
			c.fail("the program has not been stopped: %s", stat)
		}
		release()
		c.good(long, nil)
		c.stop("pause") // events come in the order of requests
	})
	t.Run("disconnect", func(t *testing.T) {
		t.Parallel()
		c, pid, long, release := heldIndex(t)
		defer release()
		if m := c.answeredFirst(long, "disconnect", nil); !m.Success {
			c.fail("%v", m)
		}
		if alive(pid) {
			c.fail("process %d is still there", pid)
		}
	})
}

// deepStop is a client of a program that has stopped in a deep stack.
func deepStop(t *testing.T) (*testClient, stoppedBody) {
	t.Helper()
	frames := 200_000
	if fixture.All() {
		frames = 1_000_000
	}
	c := connect(t, Options{})
	c.start("launch", object{"program": longProgram(t), "args": []string{"deep", fmt.Sprint(frames)}})
	c.ok("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "bottom"}}}, nil)
	c.ok("configurationDone", nil, nil)
	return c, c.stop("function breakpoint")
}

func TestAnswersWhileUnwinding(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"pause", "disconnect", "cancel"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c, st := deepStop(t)
			began := time.Now()
			long := c.send("stackTrace", object{"threadId": st.ThreadID, "startFrame": 2_000_000, "levels": 20})
			args := map[string]any{"pause": object{"threadId": st.ThreadID}, "cancel": object{"requestId": long}}[command]
			m := c.answeredFirst(long, command, args)
			if m.Success != (command != "pause") { // there is nothing to be paused
				c.fail("%v", m)
			}
			if command == "disconnect" {
				return
			}
			m = c.answer(long)
			t.Logf("the stack was answered in %v", time.Since(began))
			if command == "cancel" && (m.Success || m.Message != "cancelled") || command == "pause" && !m.Success {
				c.fail("%v", m)
			}
			c.ok("threads", nil, nil)
		})
	}
}

func TestAnswersWhileFormatting(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"pause", "disconnect", "cancel"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := connect(t, Options{})
			c.start("launch", object{"program": longProgram(t), "args": []string{"values"}})
			c.ok("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "bottom"}}}, nil)
			c.ok("configurationDone", nil, nil)
			st := c.stop("function breakpoint")
			var stack godap.StackTraceResponseBody
			c.ok("stackTrace", object{"threadId": st.ThreadID, "levels": 1}, &stack)
			var value godap.EvaluateResponseBody
			began := time.Now()
			c.ok("evaluate", object{"expression": "million", "frameId": stack.StackFrames[0].Id, "context": "repl"}, &value)
			t.Logf("million: %d bytes in %v", len(value.Result), time.Since(began))
			c.ok("evaluate", object{"expression": "wide", "frameId": stack.StackFrames[0].Id, "context": "watch"}, &value)
			began = time.Now()
			long := c.send("variables", object{"variablesReference": value.VariablesReference})
			args := map[string]any{"pause": object{"threadId": st.ThreadID}, "cancel": object{"requestId": long}}[command]
			m := c.answeredFirst(long, command, args)
			if m.Success != (command != "pause") {
				c.fail("%v", m)
			}
			if command == "disconnect" {
				return
			}
			m = c.answer(long)
			t.Logf("the value was answered in %v, %d bytes", time.Since(began), len(m.Body))
			if command == "cancel" && (m.Success || m.Message != "cancelled") {
				c.fail("%v", m)
			}
			c.ok("threads", nil, nil)
		})
	}
}

// A child of vfork sleeps, and the thread that made it can't be stopped: a pause is answered, and so are requests after it.
func TestAnswersWhileVforkSleeps(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"pause", "disconnect", "terminate", "cancel"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := connect(t, Options{})
			c.start("launch", object{"program": longProgram(t), "args": []string{"vfork"}})
			var p godap.ProcessEventBody
			c.event("process", &p)
			c.ok("configurationDone", nil, nil)
			c.output("stdout", "asleep\n")
			args := map[string]any{"pause": object{"threadId": p.SystemProcessId}, "cancel": object{"requestId": 1}}[command]
			began := time.Now()
			c.ok(command, args, nil)
			t.Logf("%s was answered in %v", command, time.Since(began))
			switch command {
			case "pause":
				st := c.stop("pause")
				c.ok("stackTrace", object{"threadId": st.ThreadID}, nil)
				c.ok("continue", object{"threadId": st.ThreadID}, nil)
				c.ok("pause", object{"threadId": p.SystemProcessId}, nil)
				c.stop("pause")
				c.ok("disconnect", nil, nil)
				fallthrough
			case "disconnect":
				if err := c.end(); err != nil {
					t.Error(err)
				}
				if alive(p.SystemProcessId) {
					c.fail("process %d is still there", p.SystemProcessId)
				}
			case "terminate":
				c.event("terminated", nil)
			}
		})
	}
}
