package ptrace

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// breakByte is int3.
const breakByte = 0xcc

// inserted is one breakpoint in the process's memory.
type insertedBreak struct {
	addr     target.Addr
	original byte
	count    int // of users
}

// memory is the process's memory with the breakpoints in it. Reading may be
// done in any goroutine; the lock guards the table, and the descriptor against
// being closed, while it is done. Changing is up to the tracer.
type memory struct {
	lock   sync.RWMutex
	pid    int
	fd     int // of /proc/PID/mem, -1 when closed
	breaks []insertedBreak
	trap   trap // StepAll's
}

func (m *memory) open(pid int) error {
	fd, err := unix.Open(procPath(pid, "mem"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		// The leader may have exited; the other threads have the same memory.
		list, _ := tasks(pid)
		for _, tid := range list {
			if fd, err = unix.Open(procPath(pid, "task/"+itoa(tid)+"/mem"), unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
				break
			}
		}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
	}
	m.pid, m.fd, m.breaks, m.trap = pid, fd, nil, trap{}
	return err
}

func (m *memory) close() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
		m.fd = -1
	}
}

// find returns the index of the first breakpoint at or above addr.
func (m *memory) find(addr target.Addr) int {
	lo, hi := 0, len(m.breaks)
	for lo < hi {
		mid := (lo + hi) / 2
		if m.breaks[mid].addr < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// The tracer alone changes the table, and so may look at it without the lock.

func (m *memory) empty() bool { return len(m.breaks) == 0 }

func (m *memory) inserted(addr target.Addr) bool {
	i := m.find(addr)
	return i < len(m.breaks) && m.breaks[i].addr == addr
}

// ReadMemory implements target.Memory. It may be called from any goroutine.
func (p *Process) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return p.mem.read(addr, buf)
}

func (m *memory) read(addr target.Addr, buf []byte) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	m.lock.RLock()
	defer m.lock.RUnlock()
	if m.fd < 0 {
		return 0, &target.MemoryError{Addr: addr, Why: "the process is gone"}
	}
	n := m.raw(addr, buf)
	m.hideTrap(addr, buf[:n])
	for i := m.find(addr); i < len(m.breaks); i++ {
		off := m.breaks[i].addr - addr
		if off >= target.Addr(n) {
			break
		}
		if buf[off] == breakByte { // else something else has been mapped there
			buf[off] = m.breaks[i].original
		}
	}
	if n < len(buf) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: "not mapped"}
	}
	return n, nil
}

// raw reads what is there, breakpoints and all.
func (m *memory) raw(addr target.Addr, buf []byte) int {
	n := readVector(m.pid, addr, buf)
	for n < len(buf) {
		// Pages that the program itself may not read are open to its
		// tracer through this file.
		got, err := unix.Pread(m.fd, buf[n:], int64(addr)+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			break
		}
		n += got
	}
	return n
}

// WriteMemory implements target.Target.
func (p *Process) WriteMemory(addr target.Addr, data []byte) (n int, err error) {
	err = p.whileStopped(func() error {
		n, err = p.mem.write(addr, data)
		return err
	})
	return n, err
}

// write changes memory under the breakpoints: they stay, and their original
// bytes become the new ones.
func (m *memory) write(addr target.Addr, data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd < 0 {
		return 0, &target.MemoryError{Addr: addr, Write: true, Why: "the process is gone"}
	}
	first := m.find(addr)
	end := first
	for end < len(m.breaks) && m.breaks[end].addr-addr < target.Addr(len(data)) {
		end++
	}
	out := data
	if first < end {
		out = slices.Clone(data)
		for _, b := range m.breaks[first:end] {
			out[b.addr-addr] = breakByte
		}
	}
	n := m.rawWrite(addr, out)
	for i := first; i < end; i++ {
		if off := m.breaks[i].addr - addr; off < target.Addr(n) {
			m.breaks[i].original = data[off]
		}
	}
	if n < len(data) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Write: true, Why: "not mapped"}
	}
	return n, nil
}

func (m *memory) rawWrite(addr target.Addr, data []byte) int {
	return pwriteAll(m.fd, addr, data)
}

func pwriteAll(fd int, addr target.Addr, data []byte) int {
	n := 0
	for n < len(data) {
		got, err := unix.Pwrite(fd, data[n:], int64(addr)+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			break
		}
		n += got
	}
	return n
}
