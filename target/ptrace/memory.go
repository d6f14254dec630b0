package ptrace

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// memory is the process's memory with the sites in it. Any goroutine may read. The lock guards
// the table and the descriptor during a read. Only the tracer changes them.
type memory struct {
	lock   sync.RWMutex
	pid    int
	fd     int                  // of /proc/PID/mem, -1 when closed
	sites  []site               // by rising address
	raised bool                 // the bytes of the sites are in memory
	gone   map[target.Addr]bool // removed since the last halt; a trap may still be pending
	guard  *guard               // nil: memory is not repaired if we are killed
	trap   trap                 // StepAll's
}

func (m *memory) open(pid int) error {
	fd, err := procfs.OpenMemory(pid)
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
	}
	m.pid, m.fd, m.sites, m.trap, m.raised, m.gone = pid, fd, nil, trap{}, false, map[target.Addr]bool{}
	m.guard.clear()
	return err
}

func (m *memory) close() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
		m.fd = -1
	}
	m.guard.close()
	m.guard = nil
}

// find returns the index of the first site at or above addr.
func (m *memory) find(addr target.Addr) int {
	lo, hi := 0, len(m.sites)
	for lo < hi {
		mid := (lo + hi) / 2
		if m.sites[mid].addr < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Only the tracer changes the table, so it may read it without the lock.

func (m *memory) empty() bool { return len(m.sites) == 0 }

func (m *memory) inserted(addr target.Addr) bool {
	i := m.find(addr)
	return i < len(m.sites) && m.sites[i].addr == addr
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
	for i := m.find(addr); m.raised && i < len(m.sites); i++ {
		off := m.sites[i].addr - addr
		if off >= target.Addr(n) {
			break
		}
		if buf[off] == breakByte { // else another file or code has been mapped there
			buf[off] = m.sites[i].original
		}
	}
	if n < len(buf) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: "not mapped"}
	}
	return n, nil
}

// raw reads memory, including our breakpoint bytes.
func (m *memory) raw(addr target.Addr, buf []byte) int {
	n := kernel.ReadVector(m.pid, addr, buf)
	for n < len(buf) {
		// Through this file the tracer can also read pages that the program itself may not read.
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

// WriteMemory implements target.Target. It may be called while a thread is parked.
func (p *Process) WriteMemory(addr target.Addr, data []byte) (n int, err error) {
	err = p.alive(func() error {
		if p.running && p.parked == 0 {
			return target.ErrRunning
		}
		n, err = p.mem.write(addr, data)
		return err
	})
	return n, err
}

// write changes memory below the sites: our bytes stay, and the new bytes become the originals.
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
	for m.raised && end < len(m.sites) && m.sites[end].addr-addr < target.Addr(len(data)) {
		end++
	}
	out := data
	if first < end {
		out = slices.Clone(data)
		for i := range m.sites[first:end] {
			out[m.sites[first+i].addr-addr] = breakByte
		}
	}
	n := m.rawWrite(addr, out)
	for i := first; i < end; i++ {
		if off := m.sites[i].addr - addr; off < target.Addr(n) {
			m.sites[i].original = data[off]
			m.guard.add(m.sites[i].addr, data[off])
		}
	}
	if n < len(data) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Write: true, Why: "not mapped"}
	}
	return n, nil
}

func (m *memory) rawWrite(addr target.Addr, data []byte) int {
	return kernel.WriteAll(m.fd, addr, data)
}
