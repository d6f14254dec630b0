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

// Options specifies how a connection is served.
type Options struct {
	// Session is the configuration of each connection's session.
	Session session.Config
	// Stderr receives the listening address and warnings about it; nil means standard error.
	Stderr io.Writer
	// Log receives problems of connections, for the person who runs dbg; it may be nil.
	Log func(format string, args ...any)
	// Multi makes ListenAndServe wait for another client after one has disconnected.
	Multi bool
	// ListenAny makes ListenAndServe accept an address that other machines can reach.
	ListenAny bool

	// progressFrom is the size of debug information, in bytes, from which the progress of its index
	// is shown; 0 means 4 MB.
	progressFrom uint64

	// helloTime is the time limit for the first message of a connection; 0 means the constant
	// helloTime.
	helloTime time.Duration

	// more holds additional requests for tests.
	more map[string]handler

	// noProgram makes launch and attach fail, for fuzzing.
	noProgram bool
}

// phase is the state of a connection.
type phase uint8

const (
	phaseNew         phase = iota // before initialize
	phaseInitialized              // before launch or attach
	phaseLoaded                   // a program or a core is loaded
	phaseEnded                    // it has ended
)

// server is the state of one connection. Its fields belong to the goroutine that runs serve, except
// those that are marked as shared.
type server struct {
	opts   Options
	sess   *session.Session // to control the program; shared
	query  *session.Session // for all other calls: cancelled with the current request
	events <-chan session.Event
	in     *inbox
	out    *outbox

	handlers map[string]handler
	client   client
	phase    shared[phase]
	kind     shared[target.Kind] // valid from phaseLoaded on
	start    launchOptions
	// configured means that configurationDone was received; started means that after it the program
	// was resumed, or shown.
	configured, started bool

	refs        references
	breakpoints map[int]*clientBreakpoint // by number
	watchables  map[string]watchable      // by dataId
	output      outputText
	progress    progress

	ownResumes int  // the number of expected Resumed events that this client's requests caused
	staleStop  bool // a stopped event was sent after the client had resumed the program
	lastStop   *session.Stop

	restarting int // the number of expected Ended events of programs that restart has killed

	after []func() // run after the response is sent

	// These fields are shared, as are phase, kind and sess: requests that control the program may
	// be handled while another one runs (overtake.go).
	pauseThread atomic.Int64  // the thread that the client wants to be shown after a pause
	posted      chan func()   // run by serve
	left        chan struct{} // closed when the connection must be closed
	leaveOnce   sync.Once
}

// patience is the time to wait for a client that does not read, after the context is done.
const patience = time.Second

// Serve serves one client until it disconnects, the stream ends or ctx is done. It closes rw. The
// error tells what was wrong with the stream; it is nil for a client that just disconnects. Serve
// leaves no launched program behind.
func Serve(ctx context.Context, rw io.ReadWriteCloser, opts Options) error {
	// If a client is gone, a write must fail, and not kill this process: our breakpoints would stay
	// in an attached process.
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
	s.sess.SetPrintObject(true)
	s.query = s.sess
	s.in = newInbox(rw, s.overtake)
	var unsubscribe func()
	s.events, unsubscribe = s.sess.Subscribe()
	defer unsubscribe()

	// When dbg is told to end, it must not wait long for a client that does not read.
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

// end closes the session, which kills a launched program and detaches from an attached one. Then it
// sends the remaining events.
func (s *server) end() {
	had := s.phase.get() == phaseLoaded
	if err := s.sess.Close(); err != nil {
		s.logf("can't close the session: %v", err)
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

// then makes handle run f after it has sent the response to the current request.
func (s *server) then(f func()) { s.after = append(s.after, f) }
