package dap

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
)

// ListenAndServe serves clients on a TCP address, one at a time. It prints the
// address, which has the real port if addr says 0, and returns when the first
// client has gone, or, with Options.Multi, when ctx is done.
func ListenAndServe(ctx context.Context, addr string, opts Options) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var w io.Writer = os.Stderr
	if opts.Stderr != nil {
		w = opts.Stderr
	}
	fmt.Fprintf(w, "listening on %s\n", l.Addr())
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		err = Serve(ctx, conn, opts)
		if !opts.Multi || ctx.Err() != nil {
			return err
		}
		if err != nil && opts.Log != nil {
			opts.Log("%v", err)
		}
	}
}
