package dap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// whole is a session in two messages.
var whole = message1(`{"seq":1,"type":"request","command":"initialize","arguments":{}}`) + message1(`{"seq":2,"type":"request","command":"disconnect"}`)

// listener is a server on a socket.
type listener struct {
	addr string
	log  chan string
	done chan error
	stop context.CancelFunc
}

// serveOn starts a server and returns when it listens.
func serveOn(t *testing.T, addr string, opts Options) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	l := &listener{log: make(chan string, 100), done: make(chan error, 1), stop: cancel}
	w := make(addressWriter, 10)
	opts.Stderr = w
	opts.Log = func(format string, args ...any) { l.log <- fmt.Sprintf(format, args...) }
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.done <- ListenAndServe(ctx, addr, opts)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	for {
		select {
		case text := <-w:
			if a, ok := strings.CutPrefix(strings.TrimSpace(text), "listening on "); ok {
				l.addr = a
				return l
			}
			l.log <- strings.TrimSpace(text)
		case err := <-l.done:
			t.Fatal(err)
		}
	}
}

// dial connects to it.
func (l *listener) dial(t *testing.T) net.Conn {
	t.Helper()
	network, addr := "tcp", l.addr
	if path, ok := strings.CutPrefix(l.addr, "unix:"); ok {
		network, addr = "unix", path
	}
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// say sends a text and returns all that is answered until the server closes the connection.
func (l *listener) say(t *testing.T, text string) string {
	t.Helper()
	conn := l.dial(t)
	go io.WriteString(conn, text) // the server may stop reading
	conn.SetReadDeadline(time.Now().Add(deadline))
	data, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%v after %q", err, data)
	}
	return string(data)
}

const served = `"request_seq":2,"success":true`

func TestListenRefusesAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "4711", "unix:", ""} {
		if l, err := listen(t.Context(), addr, false); err == nil {
			l.Close()
			t.Errorf("%q is listened on", addr)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than a line: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "127.1.2.3:0", "localhost:0"} {
		l, err := listen(t.Context(), addr, false)
		if err != nil {
			t.Errorf("%q: %v", addr, err)
			continue
		}
		if !isLocal(l.Addr()) {
			t.Errorf("%q: not local", addr)
		}
		l.Close()
	}
}

func TestListenAny(t *testing.T) {
	t.Parallel()
	l := serveOn(t, "0.0.0.0:0", Options{ListenAny: true})
	if text := <-l.log; !strings.HasPrefix(text, "warning: any machine that can reach ") {
		t.Errorf("the warning %q", text)
	}
	if got := l.say(t, whole); !strings.Contains(got, served) {
		t.Errorf("%q", got)
	}
}

func TestListenUnix(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "socket")
	for range 2 { // it can be used again
		l := serveOn(t, "unix:"+path, Options{})
		if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Fatalf("%v %v", info.Mode(), err)
		}
		if l, err := listen(t.Context(), "unix:"+path, false); err == nil || !strings.Contains(err.Error(), "another program is already listening there") {
			t.Errorf("a second listener: %v, %v", l, err)
		}
		<-l.log // the look of the second listener
		if got := l.say(t, whole); !strings.Contains(got, served) {
			t.Fatalf("%q", got)
		}
		if err := <-l.done; err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Fatal("the socket is still there")
		}
	}

	// A dead listener's file is replaced, any other file is left alone.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l, err := listen(t.Context(), "unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), "unix:"+path, false); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("a file: %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "text" {
		t.Errorf("the file has %q", data)
	}
}

// A connection that does not begin with a header of the protocol is closed; it is no client, and the next one is served.
func TestListenRefusesOthers(t *testing.T) {
	t.Parallel()
	initialize := `{"seq":1,"type":"request","command":"initialize"}`
	for _, tc := range []struct{ name, text, why string }{
		{"HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", `begins with "G"`},
		{"HTTP with a body", "POST / HTTP/1.1\r\n" + message1(initialize), `begins with "P"`},
		{"HTTP with a body that is long", "CONTENT / HTTP/1.1\r\n" + message1(initialize), `begins with "CONTENT "`},
		{"nothing but a beginning", "Content-Len", "timeout"},
		{"nothing", "", "timeout"},
		{"a large first message", fmt.Sprintf("Content-Length: %d\r\n\r\n", helloBytes+1), "at most 65536"},
		{"a header without an end", "Content-Type: " + strings.Repeat("x", maxHeader), "header is too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			opts := Options{}
			if tc.why == "timeout" {
				opts.helloTime = 50 * time.Millisecond
			}
			l := serveOn(t, "127.0.0.1:0", opts)
			if got := l.say(t, tc.text); got != "" {
				t.Errorf("answered %q", got)
			}
			if text := <-l.log; !strings.Contains(text, tc.why) || strings.Contains(text, "\n") {
				t.Errorf("the log has %q, want %q", text, tc.why)
			}
			if tc.why == "timeout" {
				return
			}
			if got := l.say(t, whole); !strings.Contains(got, served) {
				t.Errorf("the next client got %q", got)
			}
		})
	}
}

// A connection of another user is refused, one of the same user and of root is served. Only root can make the first.
func TestListenChecksUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // so that anybody reaches the socket
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0", "unix:" + filepath.Join(dir, "socket")} {
		if addr == "[::1]:0" {
			if _, err := os.Stat("/proc/net/if_inet6"); err != nil {
				continue // this kernel has no IPv6
			}
		}
		l := serveOn(t, addr, Options{Multi: true})
		if os.Getuid() == 0 {
			if path, ok := strings.CutPrefix(l.addr, "unix:"); ok {
				if err := os.Chmod(path, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got := asUser(65534, func() string { return l.say(t, whole) }); got != "" {
				t.Errorf("%s: another user got %q", addr, got)
			}
			if text := <-l.log; !strings.Contains(text, "belongs to user 65534") {
				t.Errorf("%s: the log has %q", addr, text)
			}
		}
		if got := l.say(t, whole); !strings.Contains(got, served) {
			t.Errorf("%s: the same user got %q", addr, got)
		}
		l.stop()
		<-l.done
	}
}

// asUser runs f on a thread that belongs to another user, which ends with it.
func asUser(uid int, f func() string) string {
	out := make(chan string)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			out <- errno.Error()
			return
		}
		out <- f()
	}()
	return <-out
}

func TestFindSocket(t *testing.T) {
	t.Parallel()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return // the table below is that of a little-endian machine
	}
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11111 1 0000000000000000 100 0 0 10 0
   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 22222 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 33333 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:C002 0100007F:1F90 06 00000000:00000000 03:00000F45 00000000     0        0 0 3 0000000000000000
   4: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 00000000  1003        0 44444 1 0000000000000000 20 4 30 10 -1
   5: 00000000000000000000000001000000:C004 00000000000000000000000001000000:1F90 01 00000000:00000000 00:00000000 00000000     0        0 55555 1 0000000000000000 20 4 30 10 -1
`
	for _, tc := range []struct {
		local, remote string
		uid           int
		found         bool
	}{
		{"127.0.0.1:49153", "127.0.0.1:8080", 1001, true},
		{"127.0.0.1:8080", "127.0.0.1:49153", 1000, true},
		{"127.0.0.1:49154", "127.0.0.1:8080", 0, false}, // closed: its 0 is not root
		{"127.0.0.1:49155", "127.0.0.1:8080", 1003, true},
		{"[::1]:49156", "[::1]:8080", 0, true},
		{"127.0.0.1:49153", "127.0.0.2:8080", 0, false},
		{"127.0.0.2:49153", "127.0.0.1:8080", 0, false},
	} {
		uid, err := findSocket(strings.NewReader(table), netip.MustParseAddrPort(tc.local), netip.MustParseAddrPort(tc.remote))
		if uid != tc.uid || (err == nil) != tc.found {
			t.Errorf("%s to %s: user %d, %v", tc.local, tc.remote, uid, err)
		}
	}
}
