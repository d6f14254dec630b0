package dap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// listen opens a socket at an address: "unix:PATH", or HOST:PORT. Unless anywhere is set, the host
// must be a loopback address or "localhost".
func listen(ctx context.Context, addr string, anywhere bool) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return listenUnix(ctx, path)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: expected HOST:PORT or unix:PATH", addr)
	}
	if host == "localhost" {
		host = "127.0.0.1" // a resolver may return another address
	}
	if ip := net.ParseIP(host); !anywhere && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listening on %q: not a loopback address, so other machines could run programs as this user; use 127.0.0.1 or a Unix socket, or add --listen-any", addr)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

// isLocal reports whether only processes on this machine can connect to an address.
func isLocal(a net.Addr) bool {
	switch a := a.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

// listenUnix makes a socket file to which only this user can connect. It replaces a file that a
// dead listener has left. The file is removed when the listener is closed.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("listening: there is no path of a socket after \"unix:\"")
	}
	if path[0] == '@' {
		path = "./" + path // in package net a plain @ means an abstract name, which has no mode
	}
	// Linux creates the file with the mode of the socket (unix(7) does not mention it; the kernel's
	// unix_bind does it), so there is no moment when others could connect.
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if e := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return err
	}}
	l, err := config.Listen(ctx, "unix", path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("listening on unix:%s: the file exists and is not a socket", path)
	}
	conn, dialErr := net.Dial("unix", path)
	if dialErr == nil {
		conn.Close()
		return nil, fmt.Errorf("listening on unix:%s: another program is already listening there", path)
	}
	if !errors.Is(dialErr, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("listening on unix:%s: %w", path, dialErr)
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return config.Listen(ctx, "unix", path)
}
