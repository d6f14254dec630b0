package dap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
)

// deadline is each test's own.
const deadline = 60 * time.Second

// message is what the server sent.
type message struct {
	Seq        int             `json:"seq"`
	Type       string          `json:"type"`
	Event      string          `json:"event"`
	RequestSeq int             `json:"request_seq"`
	Command    string          `json:"command"`
	Success    bool            `json:"success"`
	Message    string          `json:"message"`
	Body       json.RawMessage `json:"body"`
}

// testClient is a client that follows a script: it sends, and waits for what must come.
type testClient struct {
	t        *testing.T
	conn     io.ReadWriteCloser
	messages chan message
	served   chan error // what Serve returned
	pending  []message  // came, and was not waited for yet
	log      []string
	seq      int
	timeout  <-chan time.Time
	cancel   context.CancelFunc
}

// connect starts a server and a client. The server has ended when the test does.
func connect(t *testing.T, opts Options) *testClient {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ours, theirs := net.Pipe()
	c := &testClient{t: t, conn: ours, messages: make(chan message, 10_000), served: make(chan error, 1), timeout: time.After(deadline), cancel: cancel}
	go func() { c.served <- Serve(ctx, theirs, opts) }()
	go c.read()
	t.Cleanup(func() {
		cancel()
		ours.Close()
		c.end()
	})
	return c
}

// read takes messages off the connection, with no code of the server's.
func (c *testClient) read() {
	defer close(c.messages)
	r := bufio.NewReader(c.conn)
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			fmt.Sscanf(line, "Content-Length: %d", &length)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			m = message{Type: "broken: " + err.Error()}
		}
		c.messages <- m
	}
}

// fail ends the test with all that was said.
func (c *testClient) fail(format string, args ...any) {
	c.t.Helper()
	for len(c.messages) > 0 {
		if m, ok := <-c.messages; ok {
			c.log = append(c.log, m.String())
		}
	}
	c.t.Fatalf("%s\nwhat was said:\n  %s", fmt.Sprintf(format, args...), strings.Join(c.log, "\n  "))
}

func (m message) String() string {
	body := string(m.Body)
	if len(body) > 400 {
		body = body[:400] + "..."
	}
	if m.Type == "event" {
		return fmt.Sprintf("<- %s %s", m.Event, body)
	}
	return fmt.Sprintf("<- response to %d %s: %v %s %s", m.RequestSeq, m.Command, m.Success, m.Message, body)
}

// wait returns the first message that has not been waited for and is what.
func (c *testClient) wait(what string, is func(message) bool) message {
	c.t.Helper()
	for i, m := range c.pending {
		if is(m) {
			c.pending = append(c.pending[:i:i], c.pending[i+1:]...)
			return m
		}
	}
	for {
		select {
		case m, ok := <-c.messages:
			if !ok {
				c.fail("the connection ended before %s", what)
			}
			c.log = append(c.log, m.String())
			if is(m) {
				return m
			}
			c.pending = append(c.pending, m)
		case <-c.timeout:
			var b bytes.Buffer
			pprof.Lookup("goroutine").WriteTo(&b, 1)
			c.fail("no %s in time\n%s", what, b.String())
		}
	}
}

// send sends a request and returns its number.
func (c *testClient) send(command string, args any) int {
	c.t.Helper()
	c.seq++
	m := map[string]any{"seq": c.seq, "type": "request", "command": command}
	if args != nil {
		m["arguments"] = args
	}
	data, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(data), data))
	return c.seq
}

// raw sends bytes as they are.
func (c *testClient) raw(text string) {
	c.t.Helper()
	c.log = append(c.log, "-> "+text)
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.fail("writing: %v", err)
	}
}

// answer waits for the response to a request.
func (c *testClient) answer(seq int) message {
	c.t.Helper()
	return c.wait(fmt.Sprintf("response to request %d", seq), func(m message) bool { return m.Type == "response" && m.RequestSeq == seq })
}

// ok sends a request that must succeed, and reads the answer's body into body.
func (c *testClient) ok(command string, args, body any) {
	c.t.Helper()
	c.good(c.send(command, args), body)
}

func (c *testClient) good(seq int, body any) {
	c.t.Helper()
	m := c.answer(seq)
	if !m.Success {
		c.fail("%s failed: %s", m.Command, m.Body)
	}
	c.decode(m, body)
}

// bad sends a request that must be refused, and returns the reason.
func (c *testClient) bad(command string, args any) string {
	c.t.Helper()
	m := c.answer(c.send(command, args))
	if m.Success {
		c.fail("%s succeeded: %s", command, m.Body)
	}
	var body struct {
		Error struct {
			ID       int     `json:"id"`
			Format   *string `json:"format"`
			ShowUser *bool   `json:"showUser"`
		} `json:"error"`
	}
	c.decode(m, &body)
	if body.Error.ID == 0 || body.Error.Format == nil || body.Error.ShowUser == nil || m.Message == "" {
		c.fail("an error without its parts: %s", m.Body)
	}
	return *body.Error.Format
}

func (c *testClient) decode(m message, body any) {
	c.t.Helper()
	if body == nil {
		return
	}
	if err := json.Unmarshal(m.Body, body); err != nil {
		c.fail("body of %s%s: %v", m.Command, m.Event, err)
	}
}

// event waits for an event and reads its body.
func (c *testClient) event(name string, body any) {
	c.t.Helper()
	m := c.wait("event "+name, func(m message) bool { return m.Type == "event" && m.Event == name })
	c.decode(m, body)
}

// stop waits for a stopped event with a reason and returns it.
func (c *testClient) stop(reason string) stoppedBody {
	c.t.Helper()
	var b stoppedBody
	c.event("stopped", &b)
	if b.Reason != reason || !b.AllThreadsStopped || b.ThreadID == 0 {
		c.fail("stopped: %+v; want the reason %q, a thread and all threads", b, reason)
	}
	return b
}

// output waits until the program's output has a text.
func (c *testClient) output(category, want string) {
	c.t.Helper()
	all := ""
	c.wait("output "+want, func(m message) bool {
		var b struct{ Category, Output string }
		if m.Event != "output" {
			return false
		}
		c.decode(m, &b)
		if b.Category == category {
			all += b.Output
		}
		return strings.Contains(all, want)
	})
}

// end waits until the server has ended.
func (c *testClient) end() error {
	c.t.Helper()
	select {
	case err := <-c.served:
		c.served <- err
		return err
	case <-c.timeout:
		var b bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		c.t.Fatalf("the server does not end\n%s", b.String())
		return nil
	}
}

// start is a session up to the initialized event.
func (c *testClient) start(command string, args any) {
	c.t.Helper()
	c.ok("initialize", object{"adapterID": "dbg", "supportsVariableType": true, "supportsMemoryReferences": true}, nil)
	c.ok(command, args, nil)
	c.event("initialized", nil)
}

type object map[string]any

// tour is the fixture and its source.
func tour(t *testing.T) (exe, source string) {
	t.Helper()
	return fixture.Build(t, "../dap/testdata/tour.c", "-g", "-O0"), fixture.Root() + "/dap/testdata/tour.c"
}

// line is the number of the line that a mark names.
func line(t *testing.T, mark string) int {
	t.Helper()
	data, err := os.ReadFile(fixture.Root() + "/dap/testdata/tour.c")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range strings.Split(string(data), "\n") {
		if strings.HasSuffix(text, "// "+mark) {
			return i + 1
		}
	}
	t.Fatalf("no line is marked %s", mark)
	return 0
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
