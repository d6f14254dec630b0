package dap

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// request is a message of the client with the fields that all messages share.
type request struct {
	Seq       int             `json:"seq"`
	Type      string          `json:"type"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`

	taken atomic.Bool // it is being handled

	size  int   // of the message
	wrong error // why the message is not valid JSON, or nil
	end   error // the error at the end of the stream
}

// inbox reads requests ahead of their handling. So a cancellation is noticed while its request
// waits or is being handled.
type inbox struct {
	requests chan *request
	quit     chan struct{}
	overtake func(*request) // handles a request before its turn
	ahead    sync.WaitGroup // calls of overtake

	mu        sync.Mutex // guards all fields below
	room      *sync.Cond // signals that queued or closed has changed
	queued    int        // bytes in requests
	closed    bool
	waiting   map[int]bool // seqs in requests
	moving    map[int]bool // those of waiting, and current, that may resume the program
	cancelled map[int]bool // those of waiting that were cancelled
	current   int
	cancel    context.CancelFunc // of current; nil if no request is being handled
}

// Limits for reading ahead.
const (
	aheadMessages = 256
	aheadBytes    = 1 << 20 // a message is read only while less than this is queued
)

func newInbox(r io.Reader, overtake func(*request)) *inbox {
	in := &inbox{
		requests: make(chan *request, aheadMessages), quit: make(chan struct{}), overtake: overtake,
		waiting: map[int]bool{}, moving: map[int]bool{}, cancelled: map[int]bool{},
	}
	in.room = sync.NewCond(&in.mu)
	go in.run(bufio.NewReader(r))
	return in
}

// run reads until the stream ends. The last request holds the error at the end.
func (in *inbox) run(r *bufio.Reader) {
	for {
		data, err := readMessage(r, maxMessage)
		req := &request{end: err}
		if err == nil {
			req = parseRequest(data)
		}
		in.mu.Lock()
		for in.queued > aheadBytes && !in.closed {
			in.room.Wait()
		}
		in.queued += req.size
		if err == nil {
			in.notice(req)
		}
		in.mu.Unlock()
		if err == nil && req.controls() {
			time.AfterFunc(overtakeAfter, func() { in.goAhead(req) })
		}
		select {
		case in.requests <- req:
		case <-in.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// parseRequest parses a message. From a malformed one it keeps what it can parse.
func parseRequest(data []byte) *request {
	req := &request{}
	err := json.Unmarshal(data, req)
	if err != nil {
		// The sequence number is enough to answer the right request.
		var number struct {
			Seq int `json:"seq"`
		}
		if json.Unmarshal(data, &number) != nil {
			number.Seq = 0
		}
		req = &request{Seq: number.Seq, wrong: err}
	}
	req.size = len(data)
	return req
}

// notice handles the effects of a request that must not wait for its turn.
func (in *inbox) notice(req *request) {
	if req.wrong != nil || req.Type != "request" {
		return
	}
	switch req.Command {
	case "cancel":
		var args struct {
			RequestID int `json:"requestId"`
		}
		json.Unmarshal(req.Arguments, &args) // cancel.go answers
		if in.cancel != nil && in.current == args.RequestID {
			in.cancel()
		} else if in.waiting[args.RequestID] {
			in.cancelled[args.RequestID] = true
		}
	case "disconnect":
		if in.cancel != nil {
			in.cancel()
		}
	}
	in.waiting[req.Seq] = true
	if req.moves() {
		in.moving[req.Seq] = true
	}
}

// mayMove reports whether an unfinished request may resume the program.
func (in *inbox) mayMove() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.moving) > 0
}

// begin takes a request out of the queue. Its context is cancelled if the client cancels the
// request, possibly already now.
func (in *inbox) begin(ctx context.Context, req *request) context.Context {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queued -= req.size
	in.room.Signal()
	ctx, in.cancel = context.WithCancel(ctx)
	in.current = req.Seq
	if in.cancelled[req.Seq] {
		in.cancel()
	}
	delete(in.waiting, req.Seq)
	delete(in.cancelled, req.Seq)
	return ctx
}

// drop takes a request out of the queue that was handled before its turn.
func (in *inbox) drop(req *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queued -= req.size
	in.room.Signal()
	delete(in.waiting, req.Seq)
	delete(in.cancelled, req.Seq)
}

// finish records that the request was handled.
func (in *inbox) finish() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.cancel()
	in.cancel = nil
	delete(in.moving, in.current)
}

// close ends the reader as soon as its read returns.
func (in *inbox) close() {
	close(in.quit)
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.room.Broadcast()
	in.ahead.Wait()
}
