package dap

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// checkUser returns an error unless the process at the other end of a local connection belongs to
// this user or to root. A client can make us run programs, so other users must be refused.
func checkUser(conn net.Conn) error {
	uid, err := peerUser(conn)
	if err != nil {
		return fmt.Errorf("can't get its user: %w", err)
	}
	if uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d", uid)
	}
	return nil
}

// peerUser returns the user that created the socket at the other end.
func peerUser(conn net.Conn) (int, error) {
	switch c := conn.(type) {
	case *net.UnixConn:
		raw, err := c.SyscallConn()
		if err != nil {
			return 0, err
		}
		var cred *syscall.Ucred
		if e := raw.Control(func(fd uintptr) {
			cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		}); e != nil {
			return 0, e
		}
		if err != nil {
			return 0, err
		}
		return int(cred.Uid), nil
	case *net.TCPConn:
		us, ok1 := c.LocalAddr().(*net.TCPAddr)
		them, ok2 := c.RemoteAddr().(*net.TCPAddr)
		if ok1 && ok2 {
			return tcpUser(unmapped(them.AddrPort()), unmapped(us.AddrPort()))
		}
	}
	return 0, fmt.Errorf("unsupported connection %T", conn)
}

var errNoSocket = errors.New("its socket is not in /proc/net/tcp")

// tcpUser finds the socket of the connection from local to remote in the kernel's tables. A client
// may use an IPv6 socket for an IPv4 address, so it reads both tables. They can change while they
// are read, which can hide a line, so it tries again if it does not find the socket.
func tcpUser(local, remote netip.AddrPort) (int, error) {
	err := errNoSocket
	for range 3 {
		for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			f, e := os.Open(table)
			if e != nil {
				err = e
				continue
			}
			uid, e := findSocket(f, local, remote)
			f.Close()
			if e == nil {
				return uid, nil
			}
			err = e
		}
	}
	return 0, err
}

// findSocket reads a table of sockets, described in proc_net_tcp.txt of the kernel's documentation,
// and returns the user of the socket with these two addresses. If its process has closed a socket,
// and the kernel is still ending the connection, the table contains it with user 0 and inode 0. It
// is ignored, because that 0 is not root.
func findSocket(table io.Reader, local, remote netip.AddrPort) (int, error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[9] == "0" {
			continue
		}
		if a, ok := socketAddress(f[1]); !ok || a != local {
			continue
		}
		if a, ok := socketAddress(f[2]); !ok || a != remote {
			continue
		}
		return strconv.Atoi(f[7])
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, errNoSocket
}

// socketAddress parses "0100007F:1F90": 32-bit words in this machine's byte order, and the port.
func socketAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	if err != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	n, err := strconv.ParseUint(port, 16, 16)
	a, ok := netip.AddrFromSlice(b)
	return unmapped(netip.AddrPortFrom(a, uint16(n))), ok && err == nil
}

// unmapped converts an IPv4-mapped address to IPv4, and removes a zone.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}
