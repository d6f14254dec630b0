package dap

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// Limits for the first message of a connection. A client sends initialize at once.
const (
	helloBytes = 64 << 10
	helloTime  = 10 * time.Second
)

// ListenAndServe serves clients on a socket, one at a time. The address is HOST:PORT or unix:PATH,
// see listen. It prints the address, with the real port if the given one is 0. It returns after the
// first client has disconnected or, with Options.Multi, when ctx is done. A refused connection is
// not a client: it is closed, and Options.Log gets the reason.
func ListenAndServe(ctx context.Context, addr string, opts Options) error {
	var w io.Writer = os.Stderr
	if opts.Stderr != nil {
		w = opts.Stderr
	}
	l, err := listen(ctx, addr, opts.ListenAny)
	if err != nil {
		return err
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	local := isLocal(l.Addr())
	if !local {
		fmt.Fprintf(w, "warning: any machine that can reach %s can run programs as this user\n", l.Addr())
	}
	if l.Addr().Network() == "unix" {
		fmt.Fprintf(w, "listening on unix:%s\n", l.Addr())
	} else {
		fmt.Fprintf(w, "listening on %s\n", l.Addr())
	}
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		client, err := admit(ctx, conn, local, opts.helloTime)
		if err != nil {
			conn.Close()
			if opts.Log != nil {
				opts.Log("refused a connection from %s: %v", clientName(conn), err)
			}
			continue
		}
		err = Serve(ctx, client, opts)
		if !opts.Multi || ctx.Err() != nil {
			return err
		}
		if err != nil && opts.Log != nil {
			opts.Log("%v", err)
		}
	}
}

// admit decides whether a connection is served: its peer must be this user or root, and its first
// message must be valid in the Debug Adapter Protocol. The returned connection starts with that
// message.
func admit(ctx context.Context, conn net.Conn, checkPeer bool, limit time.Duration) (io.ReadWriteCloser, error) {
	if checkPeer {
		if err := checkUser(conn); err != nil {
			return nil, err
		}
	}
	if limit == 0 {
		limit = helloTime
	}
	if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Now()) })
	var seen bytes.Buffer
	r := bufio.NewReader(io.TeeReader(conn, &seen))
	err := checkStart(r)
	if err == nil {
		_, err = readMessage(r, helloBytes)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return replayed{Conn: conn, r: io.MultiReader(&seen, conn)}, nil
}

// checkStart checks the first bytes of a stream, and reads no more than necessary. They must begin
// a header field of the protocol. Otherwise an HTTP request would pass as a header with unknown
// fields.
func checkStart(r *bufio.Reader) error {
	for n := 1; ; n++ {
		start, err := r.Peek(n)
		if err != nil {
			return midMessage(err)
		}
		known := false
		for _, field := range []string{"Content-Length:", "Content-Type:"} {
			if n <= len(field) && strings.EqualFold(string(start), field[:n]) {
				if n == len(field) {
					return nil
				}
				known = true
			}
		}
		if !known {
			return &framingError{fmt.Sprintf("it begins with %q", start)}
		}
	}
}

// replayed is a connection whose first bytes were already read.
type replayed struct {
	net.Conn
	r io.Reader
}

func (c replayed) Read(p []byte) (int, error) { return c.r.Read(p) }

// clientName returns the name of a connection's peer for a log. The peer of a Unix socket rarely
// has a name.
func clientName(conn net.Conn) string {
	if name := conn.RemoteAddr().String(); name != "" && name != "@" {
		return name
	}
	return "a local process"
}
