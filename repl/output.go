package repl

import (
	"bufio"
	"io"
	"sync/atomic"

	"dbg/internal/plain"
)

// output is buffered standard output with control characters escaped. If writing fails because the
// reader is gone, the session ends: an attached program must be released in an orderly way, not by
// a SIGPIPE.
type output struct {
	raw    *bufio.Writer // unescaped: for text from the user or the program
	plain  io.Writer
	failed atomic.Bool
}

type watchedWriter struct {
	to     io.Writer
	failed func()
}

func (w watchedWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil {
		w.failed()
	}
	return n, err
}

func newOutput(to io.Writer, cancel func()) *output {
	o := &output{}
	o.raw = bufio.NewWriterSize(watchedWriter{to, func() { o.failed.Store(true); cancel() }}, 32<<10)
	o.plain = plain.Writer(o.raw)
	return o
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) { return o.plain.Write(p) }

// Flush writes what is in the buffer.
func (o *output) Flush() error { return o.raw.Flush() }
