package dap

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	godap "github.com/google/go-dap"
)

// running launches the fixture so that it never ends by itself, and returns its
// process id.
func running(t *testing.T) (*testClient, int) {
	t.Helper()
	exe, _ := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"wait"}})
	var p godap.ProcessEventBody
	c.event("process", &p)
	c.ok("configurationDone", nil, nil)
	c.output("stdout", "waiting\n")
	if !alive(p.SystemProcessId) {
		c.fail("the program does not run")
	}
	return c, p.SystemProcessId
}

func message1(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// What breaks the stream ends the session and the program, with an error.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, input string }{
		{"a header without a length", "Content-Type: x\r\n\r\n{}"},
		{"a length of 10^12", "Content-Length: 1000000000000\r\n\r\n{}"},
		{"a length that no number holds", "Content-Length: 99999999999999999999999999\r\n\r\n"},
		{"a negative length", "Content-Length: -5\r\n\r\n{}"},
		{"a length that is no number", "Content-Length: many\r\n\r\n{}"},
		{"two lengths", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"},
		{"junk before a header", "hello, world\x00Content-Length: 2\r\n\r\n{}"},
		{"a header without an end", strings.Repeat("x", maxHeader+1)},
		{"header fields without an end", strings.Repeat("X: y\r\n", maxHeader)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, pid := running(t)
			go io.WriteString(c.conn, tc.input) // the server may stop reading
			err := c.end()
			var fe *framingError
			if !errors.As(err, &fe) {
				t.Errorf("the error %v", err)
			}
			c.event("terminated", nil)
			if alive(pid) {
				t.Errorf("process %d is still there", pid)
			}
		})
	}
}

// A client that goes takes the program with it.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, input string
		clean       bool
	}{
		{"between messages", "", true},
		{"in a header", "Content-Le", false},
		{"after a header", "Content-Length: 100\r\n\r\n", false},
		{"in a message", "Content-Length: 100\r\n\r\n{\"seq\": 1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, pid := running(t)
			c.raw(tc.input)
			c.conn.Close()
			if err := c.end(); (err == nil) != tc.clean {
				t.Errorf("the error %v", err)
			}
			if alive(pid) {
				t.Errorf("process %d is still there", pid)
			}
		})
	}
}

func TestContextEndsSession(t *testing.T) {
	t.Parallel()
	c, pid := running(t)
	c.cancel()
	if err := c.end(); !errors.Is(err, context.Canceled) {
		t.Errorf("the error %v", err)
	}
	if alive(pid) {
		t.Errorf("process %d is still there", pid)
	}
}

// A client that does not read can't hold up the end.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), theirs, Options{}) }()
	for i := range 10 {
		io.WriteString(ours, message1(fmt.Sprintf(`{"seq":%d,"type":"request","command":"threads"}`, i+1)))
	}
	ours.Close()
	select {
	case <-served:
	case <-time.After(deadline):
		t.Fatal("the server does not end")
	}
}

// What is wrong in one message leaves the next one alone.
func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	c := connect(t, Options{})
	for _, tc := range []struct {
		input string
		seq   int
	}{
		{"{", 0}, {"", 0}, {"null", 0}, {"[]", 0}, {`"x"`, 0}, {"\xff\xfe", 0}, {`{"seq": "one", "type": "request"}`, 0},
		{`{"seq": 7, "type": 8}`, 7}, {`{"seq": 9, "type": "request", "command": ["x"]}`, 9}, {`{"seq": 10, "type": "question", "command": "x"}`, 10},
		{strings.Repeat("[", 100_000), 0}, {`{"seq": 11, "type": "request", "command": "threads"}`, 11},
	} {
		c.raw(message1(tc.input))
		if m := c.answer(tc.seq); m.Success {
			c.fail("%.40q succeeded", tc.input)
		}
	}
	// Lines that end without a carriage return, and unknown fields.
	c.seq = 20
	body := `{"seq":20,"type":"request","command":"initialize","arguments":{}}`
	c.raw(fmt.Sprintf("\r\ncontent-length:%d\nX-Other: 1\n\n%s", len(body), body))
	c.good(20, nil)
	for _, bad := range []string{
		`{"seq":21,"type":"request","command":"setBreakpoints","arguments":{"source":7}}`,
		`{"seq":21,"type":"request","command":"setBreakpoints","arguments":[]}`,
		`{"seq":21,"type":"request","command":"setBreakpoints"}`,
		`{"seq":21,"type":"request","command":"launch","arguments":"x"}`,
		`{"seq":21,"type":"request","command":"variables","arguments":{"variablesReference":1e30}}`,
	} {
		c.raw(message1(bad))
		if m := c.answer(21); m.Success {
			c.fail("%s succeeded", bad)
		}
	}
	c.raw(message1(`{"seq":22,"type":"response","command":"runInTerminal","success":true}`))
	c.seq = 30
	c.ok("disconnect", nil, nil)
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
}

func TestBeforeInitialize(t *testing.T) {
	t.Parallel()
	c := connect(t, Options{})
	for name := range handlers() {
		if name != "initialize" && name != "disconnect" {
			if text := c.bad(name, nil); !strings.Contains(text, "initialize") {
				c.fail("%s: %s", name, text)
			}
		}
	}
	c.ok("initialize", object{}, nil)
	for name, h := range handlers() {
		if h.need >= needTarget {
			c.bad(name, nil)
		}
	}
	if text := c.bad("initialize", object{}); !strings.Contains(text, "already") {
		c.fail("%s", text)
	}
	c.ok("disconnect", nil, nil)
}

// Every capability has its request, and every handler that is no part of the basic
// protocol has its capability.
func TestHandlersAndCapabilities(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for name := range handlers() {
		var file strings.Builder
		for _, c := range name {
			if c >= 'A' && c <= 'Z' {
				file.WriteByte('_')
				c += 'a' - 'A'
			}
			file.WriteRune(c)
		}
		file.WriteString(".go")
		if !slices.ContainsFunc(files, func(e os.DirEntry) bool { return e.Name() == file.String() }) {
			t.Errorf("the request %s has no file %s", name, file.String())
		}
	}
}

// Clients send launch, breakpoints and configurationDone in orders of their own,
// and all at once.
func TestOrders(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	launch := func(c *testClient) int { return c.send("launch", object{"program": exe, "args": []string{"loop"}}) }
	breakpoints := func(c *testClient) int {
		return c.send("setBreakpoints", object{"source": object{"path": source}, "breakpoints": []object{{"line": line(t, "loop-body")}}})
	}
	done := func(c *testClient) int { return c.send("configurationDone", nil) }
	type step func(*testClient) int
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"launch first", []step{launch, breakpoints, done}},
		{"breakpoints first", []step{breakpoints, launch, done}},
		{"launch last", []step{breakpoints, done, launch}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, Options{})
			seqs := []int{c.send("initialize", object{"clientID": "x"})}
			for _, s := range tc.steps {
				seqs = append(seqs, s(c))
			}
			for _, seq := range seqs {
				c.good(seq, nil)
			}
			c.event("initialized", nil)
			st := c.stop("breakpoint")
			if f := c.frames(st.ThreadID)[0]; f.Line != line(t, "loop-body") {
				c.fail("%+v", f)
			}
			// Responses come before what they cause.
			at := func(part string) int {
				return slices.IndexFunc(c.log, func(s string) bool { return strings.Contains(s, part) })
			}
			if !(at("<- response to 1 initialize") < at(" launch: true") && at(" launch: true") < at("<- initialized") && at(" configurationDone: true") < at("<- stopped") && at("<- initialized") < at("<- stopped")) {
				c.fail("the order")
			}
		})
	}
	// Breakpoints that came too early become verified by an event.
	c := connect(t, Options{})
	c.ok("initialize", object{}, nil)
	var b breakpointsBody
	c.good(breakpoints(c), &b)
	if b.Breakpoints[0].Verified || b.Breakpoints[0].ID == 0 {
		c.fail("%+v", b)
	}
	c.good(launch(c), nil)
	var ev struct {
		Reason     string
		Breakpoint breakpointBody
	}
	c.event("breakpoint", &ev)
	if ev.Reason != "changed" || !ev.Breakpoint.Verified || ev.Breakpoint.ID != b.Breakpoints[0].ID {
		c.fail("%+v", ev)
	}
	c.good(breakpoints(c), &b)
	if !b.Breakpoints[0].Verified || b.Breakpoints[0].ID != ev.Breakpoint.ID {
		c.fail("%+v", b)
	}
}

func TestConventions(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.ok("initialize", object{"linesStartAt1": false, "columnsStartAt1": false, "pathFormat": "uri"}, nil)
	c.ok("launch", object{"program": exe, "args": []string{"loop"}}, nil)
	var b breakpointsBody
	c.ok("setBreakpoints", object{"source": object{"path": "file://" + source}, "breakpoints": []object{{"line": line(t, "loop-body") - 1}}}, &b)
	if !b.Breakpoints[0].Verified || *b.Breakpoints[0].Line != line(t, "loop-body")-1 || b.Breakpoints[0].Source.Path != "file://"+source {
		c.fail("%+v", b)
	}
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	f := c.frames(st.ThreadID)[0]
	if f.Line != line(t, "loop-body")-1 || f.Source.Path != "file://"+source || f.Column < 0 {
		c.fail("%+v", f)
	}
	text, _ := os.ReadFile(source)
	if code := strings.Split(string(text), "\n")[f.Line]; f.Column >= len(code) || !strings.HasPrefix(code[f.Column:], "add(") && !strings.HasPrefix(code[f.Column:], "total") {
		c.fail("column %d of %q", f.Column, code)
	}
	var e godap.EvaluateResponseBody
	c.ok("evaluate", object{"expression": "&total"}, &e)
	if e.Type != "" || e.MemoryReference != "" {
		c.fail("a client that does not know types and memory got %+v", e)
	}
	c.bad("setBreakpoints", object{"source": object{}})
}

func TestSourceMap(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	dir := t.TempDir()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, "tour.c")
	if err := os.WriteFile(moved, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]any{"object": object{filepath.Dir(source): dir}, "pairs": [][]string{{filepath.Dir(source), dir}}} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, Options{})
			c.start("launch", object{"program": exe, "args": []string{"loop"}, "sourceMap": m})
			c.breakAt(moved, line(t, "loop-body"))
			c.ok("configurationDone", nil, nil)
			st := c.stop("breakpoint")
			if f := c.frames(st.ThreadID)[0]; f.Source.Path != moved {
				c.fail("%+v", f)
			}
		})
	}
	// A path through a symbolic link.
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Dir(source), link); err != nil {
		t.Fatal(err)
	}
	c := connect(t, Options{})
	c.start("launch", object{"program": exe})
	c.breakAt(filepath.Join(link, "tour.c"), line(t, "main-first"))
}

func TestDisconnectDetaches(t *testing.T) {
	t.Parallel()
	c, pid := running(t)
	c.ok("disconnect", object{"terminateDebuggee": false}, nil)
	c.event("terminated", nil)
	c.end()
	if !alive(pid) {
		t.Fatal("the program has ended with the session")
	}
	p, _ := os.FindProcess(pid)
	p.Kill()
	p.Wait()
}

func TestCancel(t *testing.T) {
	t.Parallel()
	exe, source := tour(t)
	c := connect(t, Options{})
	c.start("launch", object{"program": exe, "args": []string{"recurse", "50000"}})
	c.breakAt(source, line(t, "recurse-bottom"))
	c.ok("configurationDone", nil, nil)
	st := c.stop("breakpoint")
	c.ok("cancel", object{"requestId": 100000}, nil)
	// The first one may be under way or done when the cancellations are read; the
	// second waits behind it, or is cancelled while it runs.
	first := c.send("stackTrace", object{"threadId": st.ThreadID})
	second := c.send("stackTrace", object{"threadId": st.ThreadID})
	c1 := c.send("cancel", object{"requestId": second})
	c2 := c.send("cancel", object{"requestId": first})
	c.answer(first)
	if m := c.answer(second); m.Success || m.Message != "cancelled" {
		c.fail("the second was not cancelled: %s", m)
	}
	c.good(c1, nil)
	c.good(c2, nil)
	if len(c.frames(st.ThreadID)) < 50000 {
		c.fail("after a cancellation")
	}
}

// addressWriter is where the listening address appears.
type addressWriter chan string

func (w addressWriter) Write(p []byte) (int, error) { w <- string(p); return len(p), nil }

func TestListen(t *testing.T) {
	t.Parallel()
	for _, multi := range []bool{false, true} {
		t.Run(fmt.Sprint(multi), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			w := make(addressWriter, 1)
			done := make(chan error, 1)
			go func() { done <- ListenAndServe(ctx, "127.0.0.1:0", Options{Stderr: w, Multi: multi}) }()
			addr, ok := strings.CutPrefix(strings.TrimSpace(<-w), "listening on ")
			if !ok {
				t.Fatal(addr)
			}
			clients := 1
			if multi {
				clients = 2
			}
			for range clients {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				io.WriteString(conn, message1(`{"seq":1,"type":"request","command":"initialize","arguments":{}}`)+message1(`{"seq":2,"type":"request","command":"disconnect"}`))
				data, err := io.ReadAll(conn)
				if err != nil || !strings.Contains(string(data), `"request_seq":2,"success":true`) {
					t.Fatalf("%v %s", err, data)
				}
				conn.Close()
			}
			if multi {
				cancel()
			}
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		})
	}
}

// The framing takes no more memory than bytes that came. Not parallel: it counts.
func TestReadMessage(t *testing.T) {
	for _, tc := range []struct {
		input, want string
		err         error
	}{
		{"Content-Length: 2\r\n\r\n{}", "{}", nil},
		{"\r\n\r\nContent-Length: 2\r\n\r\n{}", "{}", nil},
		{"Content-Length: 0\r\n\r\n", "", nil},
		{"", "", io.EOF},
		{"\r\n", "", io.EOF},
		{"Content", "", io.ErrUnexpectedEOF},
		{"Content-Length: 3\r\n\r\n{}", "", io.ErrUnexpectedEOF},
		{"Content-Length: 67108864\r\n\r\n{}", "", io.ErrUnexpectedEOF},
	} {
		got, err := readMessage(bufio.NewReader(strings.NewReader(tc.input)), maxMessage)
		if string(got) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%q: %q, %v", tc.input, got, err)
		}
	}
	big := strings.Repeat("x", 1<<20)
	got, err := readMessage(bufio.NewReader(strings.NewReader(message1(big))), 1<<20)
	if err != nil || string(got) != big || cap(got) > 2<<20 {
		t.Errorf("%d bytes in %d, %v", len(got), cap(got), err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	readMessage(bufio.NewReader(strings.NewReader("Content-Length: 60000000\r\n\r\n{}")), maxMessage)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes for a message that never comes", n)
	}
}

// memoryPipe is a connection whose client has said everything already.
type memoryPipe struct {
	io.Reader
	io.Writer
}

func (memoryPipe) Close() error { return nil }

func FuzzServe(f *testing.F) {
	f.Add([]byte(message1(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}`) +
		message1(`{"seq":2,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"/a.c"},"breakpoints":[{"line":1,"condition":"x>"}]}}`) +
		message1(`{"seq":3,"type":"request","command":"launch","arguments":{"program":"/x","args":"a 'b","env":{"A":null},"sourceMap":[["a","b"]]}}`) +
		message1(`{"seq":4,"type":"request","command":"cancel","arguments":{"requestId":3}}`) +
		message1(`{"seq":5,"type":"request","command":"disconnect"}`)))
	f.Add([]byte("Content-Length: 1000000000000\r\n\r\n"))
	f.Add([]byte("Content-Length: 5\r\n\r\n{\"a\":"))
	f.Add([]byte("\r\n\r\nx\r\n\r\n"))
	for name := range handlers() {
		f.Add([]byte(message1(`{"seq":1,"type":"request","command":"initialize"}`) + message1(fmt.Sprintf(`{"seq":2,"type":"request","command":%q,"arguments":{}}`, name))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), deadline/6)
		defer cancel()
		Serve(ctx, memoryPipe{strings.NewReader(string(data)), io.Discard}, Options{noProgram: true})
		if ctx.Err() != nil {
			t.Fatal("the server does not end")
		}
	})
}

func TestSplitArguments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", nil}, {" a  b ", []string{"a", "b"}}, {`"a b" 'c d'e`, []string{"a b", "c de"}}, {`a\ b "\"" '\'`, []string{"a b", `"`, `\`}}, {`'' ""`, []string{"", ""}},
	} {
		got, err := splitArguments(tc.text)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%q: %q, %v; want %q", tc.text, got, err, tc.want)
		}
	}
	if _, err := splitArguments(`a "b`); err == nil {
		t.Error("a quote without its second one")
	}
}
