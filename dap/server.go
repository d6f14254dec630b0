package dap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"dbg/session"
	"dbg/target"
)

// Options says how a connection is served.
type Options struct {
	// Session is what each connection's session is made from.
	Session session.Config
	// Stderr gets the listening address and warnings about it; nil is standard error.
	Stderr io.Writer
	// Log gets what is wrong with a connection, for who looks after the debugger; may be nil.
	Log func(format string, args ...any)
	// Multi makes ListenAndServe take the next client when one has gone.
	Multi bool
	// ListenAny makes ListenAndServe accept an address that other machines can reach.
	ListenAny bool

	// progressFrom is how many bytes of debug information are worth telling of the index that is made of them; 0: 4 MB.
	progressFrom uint64

	// helloTime is how long the first message of a connection may take; 0: the constant helloTime.
	helloTime time.Duration

	// more has requests that only a test knows.
	more map[string]handler

	// noProgram refuses launch and attach: for fuzzing.
	noProgram bool
}

// phase is how far a connection has come.
type phase uint8

const (
	phaseNew         phase = iota // before initialize
	phaseInitialized              // before launch or attach
	phaseLoaded                   // there is a program or a core
	phaseEnded                    // there was one
)

// server is one connection. Its fields belong to the goroutine that runs serve, but for those that are said to be shared.
type server struct {
	opts   Options
	sess   *session.Session // to control the program
	query  *session.Session // for all else: what is asked of it ends when the request at work is cancelled
	events <-chan session.Event
	in     *inbox
	out    *outbox

	handlers map[string]handler
	client   client
	phase    shared[phase]
	kind     shared[target.Kind] // from phaseLoaded on
	start    launchOptions
	// configured says that configurationDone has come; started that the program was
	// let go (or shown, if it is not to be) after it.
	configured, started bool

	refs        references
	breakpoints map[int]*clientBreakpoint // by number
	output      outputText
	progress    progress

	ownResumes int  // Resumed events to come that requests of this client caused
	staleStop  bool // a stopped event went out after the client had the program go on
	lastStop   *session.Stop

	restarting int // Ended events to come of programs that restart has ended

	after []func() // to be done when the response is out

	// Requests that control the program may be handled while another one is at work (overtake.go). They use these, phase, kind and sess.
	pauseThread atomic.Int64  // the thread that the client wants to see paused
	posted      chan func()   // to be done by serve
	left        chan struct{} // closed when the connection is to be closed
	leaveOnce   sync.Once
}

// patience is how long a client that does not read is waited for after the context
// is done.
const patience = time.Second

// Serve talks to one client until it disconnects, the stream ends or ctx is
// done. It closes rw. The error says what was wrong with the stream; a client that
// just goes is no error. No launched program is left behind.
func Serve(ctx context.Context, rw io.ReadWriteCloser, opts Options) error {
	// A client that is gone is an error of a write, not the end of the process:
	// what is attached to would be left with our breakpoints in it.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)

	s := &server{
		opts: opts, out: newOutbox(rw), posted: make(chan func(), 8), left: make(chan struct{}),
		handlers: handlers(), client: defaultClient, refs: newReferences(), breakpoints: map[int]*clientBreakpoint{},
	}
	maps.Copy(s.handlers, opts.more)
	opts.Session.Indexing = s.indexing(opts.Session.Indexing)
	s.sess = session.New(opts.Session)
	s.query = s.sess
	s.in = newInbox(rw, s.overtake)
	var unsubscribe func()
	s.events, unsubscribe = s.sess.Subscribe()
	defer unsubscribe()

	// Whoever ends the debugger does not wait long for a client that does not read.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, s.out.abandon) })()

	err := s.serve(ctx)
	s.end()
	s.in.close()
	s.out.close()
	rw.Close()
	return err
}

// serve handles requests and events until the connection is over.
func (s *server) serve(ctx context.Context) error {
	for !s.leaving() {
		select {
		case <-s.left:
		case f := <-s.posted:
			f()
		case <-ctx.Done():
			return ctx.Err()
		case <-s.out.failed:
			return nil // the client is gone
		case ev, ok := <-s.events:
			if !ok {
				return nil
			}
			s.onEvent(ev)
		case req := <-s.in.requests:
			switch {
			case req.end == nil && !req.take():
				s.in.drop(req) // it was handled before its turn
			case req.end == nil:
				s.handle(ctx, req)
			case errors.Is(req.end, io.EOF), errors.Is(req.end, net.ErrClosed), errors.Is(req.end, syscall.ECONNRESET), errors.Is(req.end, os.ErrClosed), errors.Is(req.end, io.ErrClosedPipe):
				return nil
			default:
				s.console("important", fmt.Sprintf("dbg: %v\n", req.end))
				return req.end
			}
		}
	}
	return nil
}

// end closes the session, which ends a launched program and lets an attached one
// go, and tells the client what is left to tell.
func (s *server) end() {
	had := s.phase.get() == phaseLoaded
	if err := s.sess.Close(); err != nil {
		s.logf("closing the session: %v", err)
	}
	for ev := range s.events {
		if _, ok := ev.(session.Output); ok || s.leaving() {
			s.onEvent(ev)
		}
	}
	s.flushOutput()
	if had && s.phase.get() == phaseLoaded {
		s.terminated()
	}
}

func (s *server) logf(format string, args ...any) {
	if s.opts.Log != nil {
		s.opts.Log(format, args...)
	}
}

// event sends an event.
func (s *server) event(name string, body any) { s.out.send(&event{Event: name, Body: body}) }

// then has f done when the response to the present request has been sent.
func (s *server) then(f func()) { s.after = append(s.after, f) }
