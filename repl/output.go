package repl

import (
	"bufio"
	"io"
	"sync/atomic"
)

// output is buffered standard output. When nobody reads it any more, the session
// ends: an attached program is to be let go in order, not by a SIGPIPE.
type output struct {
	*bufio.Writer
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
	o.Writer = bufio.NewWriterSize(watchedWriter{to, func() { o.failed.Store(true); cancel() }}, 32<<10)
	return o
}
