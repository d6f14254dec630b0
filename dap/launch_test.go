package dap

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"

	godap "github.com/google/go-dap"
)

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
	if v := c.vars(c.scope(frames[0].Id, "Locals"))["argc"]; v.Value != "2" {
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
