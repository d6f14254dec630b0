package kernel

import (
	"sync"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// PidFD identifies a process for as long as it is open, also after its id was used again:
// pidfd_open(2). The zero value is closed. Any goroutine may call its methods.
type PidFD struct {
	lock sync.Mutex // guards the other fields
	fd   int
	open bool
}

// Open opens the process with an id.
func (p *PidFD) Open(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	p.lock.Lock()
	p.fd, p.open = fd, true
	p.lock.Unlock()
	return nil
}

// Descriptor returns the file descriptor, which belongs to p, or -1.
func (p *PidFD) Descriptor() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.open {
		return -1
	}
	return p.fd
}

// Kill sends SIGKILL. It returns target.ErrGone if the process has ended or p is closed.
func (p *PidFD) Kill() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.open {
		return target.ErrGone
	}
	err := unix.PidfdSendSignal(p.fd, unix.SIGKILL, nil, 0)
	if err == unix.ESRCH {
		return target.ErrGone
	}
	return err
}

// Close closes the descriptor.
func (p *PidFD) Close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.open {
		_ = unix.Close(p.fd)
		p.open = false
	}
}

// Reap collects the status of a program that we started and no longer trace, so that it does not
// stay a zombie. It returns when the program has ended. It waits on a pidfd and not in wait4: wait4
// would also take the program's stops, which belong to any later tracer of the program in this
// process.
func Reap(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if err != unix.EINTR {
				break
			}
		}
	}
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}
