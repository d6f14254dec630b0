package dap

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"dbg/session"
	"dbg/symbols/names"

	godap "github.com/google/go-dap"
)

// busy is a client whose server has a request "block", which is at work until it is released, or cancelled if it listens to that.
type busy struct {
	*testClient
	pid     int
	begun   chan bool
	release chan bool
}

func keptBusy(t *testing.T, listens bool) *busy {
	t.Helper()
	b := &busy{begun: make(chan bool, 10), release: make(chan bool)}
	block := handler{needNothing, func(_ *server, ctx context.Context, _ json.RawMessage) (any, error) {
		b.begun <- true
		if !listens {
			<-b.release
			return nil, nil
		}
		select {
		case <-b.release:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	exe, _ := tour(t)
	b.testClient = connect(t, Options{more: map[string]handler{"block": block}})
	b.start("launch", object{"program": exe, "args": []string{"wait"}})
	var p godap.ProcessEventBody
	b.event("process", &p)
	b.ok("configurationDone", nil, nil)
	b.output("stdout", "waiting\n")
	b.pid = p.SystemProcessId
	return b
}

// block begins the request that takes long, and returns its number.
func (b *busy) block() int {
	seq := b.send("block", nil)
	<-b.begun
	return seq
}

// Requests that control the program are answered while another request is at work: what they do is done by then.
func TestControlBesideLongRequest(t *testing.T) {
	t.Parallel()
	t.Run("pause", func(t *testing.T) {
		t.Parallel()
		b := keptBusy(t, false)
		long := b.block()
		b.ok("pause", object{"threadId": b.pid}, nil)
		close(b.release)
		b.good(long, nil)
		if st := b.stop("pause"); st.ThreadID != b.pid {
			b.fail("%+v", st)
		}
	})
	t.Run("terminate", func(t *testing.T) {
		t.Parallel()
		b := keptBusy(t, false)
		long := b.block()
		b.ok("terminate", nil, nil)
		if alive(b.pid) {
			b.fail("process %d is still there", b.pid)
		}
		close(b.release)
		b.good(long, nil)
		b.event("terminated", nil)
	})
	t.Run("disconnect", func(t *testing.T) {
		t.Parallel()
		b := keptBusy(t, false)
		b.block()
		b.ok("disconnect", nil, nil)
		if alive(b.pid) {
			b.fail("process %d is still there", b.pid)
		}
		close(b.release)
		if err := b.end(); err != nil {
			t.Error(err)
		}
	})
	t.Run("cancel of another", func(t *testing.T) {
		t.Parallel()
		b := keptBusy(t, false)
		long := b.block()
		waiting := b.send("threads", nil)
		b.ok("cancel", object{"requestId": waiting}, nil)
		close(b.release)
		b.good(long, nil)
		if m := b.answer(waiting); m.Success || m.Message != "cancelled" {
			b.fail("%v", m)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		b := keptBusy(t, true)
		long := b.block()
		b.ok("cancel", object{"requestId": long}, nil)
		if m := b.answer(long); m.Success || m.Message != "cancelled" {
			b.fail("%v", m)
		}
		b.ok("threads", nil, nil) // and the server lives on
	})
}

// A request that has no meaning before those ahead of it have been handled keeps its turn.
func TestControlKeepsOrder(t *testing.T) {
	t.Parallel()
	b := keptBusy(t, false)
	b.ok("pause", object{"threadId": b.pid}, nil)
	b.stop("pause")
	long := b.block()
	cont := b.send("continue", object{"threadId": b.pid})
	pause := b.send("pause", object{"threadId": b.pid})
	b.ok("cancel", object{"requestId": 1}, nil) // so long the pause has been left alone
	close(b.release)
	b.good(long, nil)
	b.good(cont, nil)
	b.good(pause, nil)
	b.stop("pause")
}

// A backtrace of a deep stack ends when it is cancelled.
func TestCancelBacktrace(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"recurse", "120000"}})
	c.breakAt(source, line(t, "recurse-bottom"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	long := c.send("stackTrace", object{"threadId": st.ThreadID, "startFrame": 1_000_000, "levels": 20})
	c.ok("cancel", object{"requestId": long}, nil)
	if m := c.answer(long); m.Success || m.Message != "cancelled" {
		c.fail("%v", m)
	}
	var b godap.StackTraceResponseBody
	c.ok("stackTrace", object{"threadId": st.ThreadID, "startFrame": 0, "levels": 20}, &b)
	if len(b.StackFrames) != 20 {
		c.fail("after that: %+v", b)
	}
}

func TestTakeRequestOnce(t *testing.T) {
	t.Parallel()
	req := &request{Type: "request", Command: "pause"}
	if !req.controls() || !req.take() || req.take() {
		t.Error("a request is handled by one")
	}
	for _, req := range []*request{{Type: "request", Command: "threads"}, {Type: "event", Command: "pause"}, {Type: "request", Command: "pause", wrong: errors.New("x")}} {
		if req.controls() {
			t.Errorf("%+v overtakes", req)
		}
	}
}

// An index of names that a request has built ends when the request is cancelled, and the next request has it built again.
func TestCancelIndex(t *testing.T) {
	t.Parallel()
	begun, release := make(chan bool, 100), make(chan bool)
	indexing := func(p names.Progress) {
		if p.Done == 0 && !p.End {
			begun <- true
			<-release
		}
	}
	exe, _ := tour(t)
	c := connect(t, Options{Session: session.Config{DebugDirs: []string{t.TempDir()}, Indexing: indexing}})
	c.start("launch", object{"program": exe, "args": []string{"wait"}})
	// A name that is in the debug information and is no function's.
	set := func() int { return c.send("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "int"}}}) }
	long := set()
	<-begun
	c.ok("cancel", object{"requestId": long}, nil)
	close(release)
	var body godap.SetBreakpointsResponseBody
	c.good(long, &body)
	if len(body.Breakpoints) != 1 || body.Breakpoints[0].Verified || body.Breakpoints[0].Message != "cancelled" {
		c.fail("%+v", body)
	}
	c.good(set(), &body)
	if len(body.Breakpoints) != 1 || body.Breakpoints[0].Id == 0 || body.Breakpoints[0].Message == "cancelled" {
		c.fail("%+v", body)
	}
	if len(begun) != 1 {
		c.fail("the index was begun %d times more, want once", len(begun))
	}
}
