package dap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// response and event are the messages that the server sends. go-dap's structures omit fields that
// are zero, but a line may be 0.
type response struct {
	Seq        int    `json:"seq"`
	Type       string `json:"type"`
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
	Body       any    `json:"body,omitempty"`
}

type event struct {
	Seq   int    `json:"seq"`
	Type  string `json:"type"`
	Event string `json:"event"`
	Body  any    `json:"body,omitempty"`
}

// outbox is the only writer of a connection. It numbers the messages.
type outbox struct {
	w         io.Writer
	messages  chan any
	failed    chan struct{} // closed when writing has failed
	abandoned chan struct{} // closed when sends must no longer wait for the client
	once      sync.Once
	done      chan struct{}
	seq       int
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, messages: make(chan any, 64), failed: make(chan struct{}), abandoned: make(chan struct{}), done: make(chan struct{})}
	go o.run()
	return o
}

// send queues a message. If the client does not read, it waits until the connection breaks or
// abandon is called.
func (o *outbox) send(m any) {
	select {
	case o.messages <- m:
	case <-o.failed:
	case <-o.abandoned:
	}
}

// abandon makes all sends return at once.
func (o *outbox) abandon() { o.once.Do(func() { close(o.abandoned) }) }

// close writes the queued messages and ends the writer. No send may follow.
func (o *outbox) close() {
	close(o.messages)
	select {
	case <-o.done:
	case <-o.abandoned:
	}
}

func (o *outbox) run() {
	defer close(o.done)
	broken := false
	for m := range o.messages {
		if broken {
			continue
		}
		if err := o.write(m); err != nil {
			broken = true
			close(o.failed)
		}
	}
}

// write sends one message in one piece.
func (o *outbox) write(m any) error {
	o.seq++
	switch m := m.(type) {
	case *response:
		m.Seq, m.Type = o.seq, "response"
	case *event:
		m.Seq, m.Type = o.seq, "event"
	}
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("can't encode a message: %w", err)
	}
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "Content-Length: %d\r\n\r\n", len(data))
	buf.Write(data)
	_, err = o.w.Write(buf.Bytes())
	return err
}
