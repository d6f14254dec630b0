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

// capture reads the output of a launched program. Its standard output is a pseudo-terminal in raw
// mode, so that the C library flushes after each line, and an editor shows output when it is
// written. The same is true for standard error. If no pseudo-terminal is available (devpts is not
// mounted), both are pipes: the C library then flushes only when its buffer is full and at the end.
type capture struct {
	stdin, stdout, stderr *os.File // the program's ends
	masters               []*os.File
	readers               sync.WaitGroup
	owner                 *Session
	finishing             atomic.Bool // do not wait for slow subscribers
}

// newCapture makes the terminals, or the pipes.
func newCapture(s *Session) (*capture, error) { return newCaptureWith(s, openTerminal) }

// opener opens a channel: the program writes to slave, and dbg reads master.
type opener func() (master, slave *os.File, err error)

// newCaptureWith makes the channels with terminal, or with pipes if that fails.
func newCaptureWith(s *Session, terminal opener) (*capture, error) {
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	c := &capture{stdin: stdin, owner: s}
	whyNot := c.open(terminal)
	if whyNot == nil {
		return c, nil
	}
	if err := c.open(openPipe); err != nil {
		stdin.Close()
		return nil, fmt.Errorf("can't create a terminal or pipe for the program's output: %w", errors.Join(whyNot, err))
	}
	return c, nil
}

// open makes both channels. If one fails, it makes none.
func (c *capture) open(channel opener) error {
	out, stdout, err := channel()
	if err != nil {
		return err
	}
	errs, stderr, err := channel()
	if err != nil {
		out.Close()
		stdout.Close()
		return err
	}
	c.stdout, c.stderr, c.masters = stdout, stderr, []*os.File{out, errs}
	return nil
}

// openPipe opens a pipe. Only the read end is non-blocking: few programs can handle a write that
// fails with EAGAIN.
func openPipe() (master, slave *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("pipe2: %w", err)
	}
	slave = os.NewFile(uintptr(fds[1]), "pipe")
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		slave.Close()
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), slave, nil
}

// openTerminal opens a pseudo-terminal, pty(7), that does not change what is written to it.
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

// started is called when the program has its ends of the channels, or when its start has failed.
func (c *capture) started(ok bool) {
	c.stdin.Close()
	if !ok {
		for _, f := range append(c.masters, c.stdout, c.stderr) {
			f.Close()
		}
		return
	}
	// The slaves stay open here as long as the program lives. Otherwise a read of the master would
	// fail while no process has the terminal or the pipe open.
	for i, m := range c.masters {
		c.readers.Add(1)
		go c.read(m, i == 1)
	}
}

// read publishes the output until finish is called, and then the rest.
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

// drainMost limits the bytes that drain reads. It is more than the largest pipe
// (/proc/sys/fs/pipe-max-size) and the kernel's terminal buffers hold, so it covers everything that
// the program wrote before its end.
const drainMost = 2 << 20

// drain publishes what the program wrote before it ended. It does not wait, because a child of the
// program may keep the channel open forever. It does not read forever either: such a child may
// write all the time.
func (c *capture) drain(m *os.File, isErr bool, buf []byte) {
	raw, err := m.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		for read := 0; read < drainMost; {
			n, err := unix.Read(int(fd), buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 || err != nil {
				return
			}
			read += n
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
