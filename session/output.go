package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// capture reads what a launched program writes. Its standard output is a
// pseudo-terminal in raw mode, so that the C library flushes at each line and
// an editor shows output when it is written; so is standard error.
type capture struct {
	stdin, stdout, stderr *os.File // the program's ends
	masters               []*os.File
	readers               sync.WaitGroup
	owner                 *Session
	finishing             atomic.Bool // no more waiting for slow subscribers
}

// newCapture makes the terminals.
func newCapture(s *Session) (*capture, error) {
	c := &capture{owner: s}
	var err error
	if c.stdin, err = os.Open(os.DevNull); err != nil {
		return nil, err
	}
	var out, errm *os.File
	if out, c.stdout, err = openTerminal(); err == nil {
		errm, c.stderr, err = openTerminal()
	}
	if err != nil {
		for _, f := range []*os.File{c.stdin, c.stdout, out} {
			if f != nil {
				f.Close()
			}
		}
		return nil, fmt.Errorf("a terminal for the program's output: %w", err)
	}
	c.masters = []*os.File{out, errm}
	return c, nil
}

// openTerminal opens a pseudo-terminal, pty(7), that changes nothing of what is
// written to it.
func openTerminal() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	sfd := int(slave.Fd())
	if t, err := unix.IoctlGetTermios(sfd, unix.TCGETS); err == nil {
		t.Oflag &^= unix.OPOST
		t.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG
		unix.IoctlSetTermios(sfd, unix.TCSETS, t)
	}
	return master, slave, nil
}

// started is called when the program has its ends, or has failed to start.
func (c *capture) started(ok bool) {
	c.stdin.Close()
	if !ok {
		for _, f := range append(c.masters, c.stdout, c.stderr) {
			f.Close()
		}
		return
	}
	// The slaves stay open here as long as the program lives: without that, a
	// read of the master would fail while no process has the terminal open.
	for i, m := range c.masters {
		c.readers.Add(1)
		go c.read(m, i == 1)
	}
}

// read publishes what comes until finish, and then what is left.
func (c *capture) read(m *os.File, isErr bool) {
	defer c.readers.Done()
	defer m.Close()
	buf := make([]byte, 32<<10)
	for {
		c.owner.awaitRoom(&c.finishing)
		n, err := m.Read(buf)
		if n > 0 {
			c.owner.publish(Output{Stderr: isErr, Data: append([]byte(nil), buf[:n]...)})
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.drain(m, isErr, buf)
			return
		}
		if err != nil && !errors.Is(err, io.ErrShortBuffer) {
			return
		}
	}
}

// drain publishes what the program wrote before it ended. It does not wait: a
// child of the program may hold the terminal for ever.
func (c *capture) drain(m *os.File, isErr bool, buf []byte) {
	raw, err := m.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		for {
			n, err := unix.Read(int(fd), buf)
			if n <= 0 || err != nil {
				return
			}
			c.owner.publish(Output{Stderr: isErr, Data: append([]byte(nil), buf[:n]...)})
		}
	})
}

// finish publishes the last output and ends the readers.
func (c *capture) finish() {
	c.finishing.Store(true)
	c.owner.wakeWriters()
	for _, m := range c.masters {
		m.SetReadDeadline(pastDeadline)
	}
	c.readers.Wait()
	c.stdout.Close()
	c.stderr.Close()
}

// pastDeadline makes a read return at once.
var pastDeadline = time.Unix(1, 0)
