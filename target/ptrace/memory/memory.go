package memory

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// Memory is the memory of one process with the sites in it. It is made by New.
type Memory struct {
	lock   sync.RWMutex
	pid    int
	fd     int                  // of /proc/PID/mem, -1 when closed
	sites  []site               // by rising address
	raised bool                 // the bytes of the sites are in memory
	gone   map[target.Addr]bool // removed since the last halt; a trap may still be pending
	trap   trap                 // StepAll's

	journal Journal // nil: memory is not repaired if we are killed
}

// A Journal keeps the original bytes of the sites that are in memory. Memory calls it on the
// tracer's goroutine. It must not call Memory.
type Journal interface {
	Add(addr target.Addr, original byte) // a byte is about to be written, or the original has changed
	Remove(addr target.Addr)             // the byte is out of memory
	Clear()                              // all bytes are out of memory
}

// New returns a Memory that is closed.
func New() *Memory { return &Memory{fd: -1} }

// SetJournal sets the Journal. The process has stopped. nil means none.
func (m *Memory) SetJournal(j Journal) { m.journal = j }

func (m *Memory) record(addr target.Addr, original byte) {
	if m.journal != nil {
		m.journal.Add(addr, original)
	}
}

func (m *Memory) drop(addr target.Addr) {
	if m.journal != nil {
		m.journal.Remove(addr)
	}
}

func (m *Memory) dropAll() {
	if m.journal != nil {
		m.journal.Clear()
	}
}

// Open opens the memory of a process, without sites. It is called again after an execve: the memory
// is new.
func (m *Memory) Open(pid int) error {
	fd, err := procfs.OpenMemory(pid)
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
	}
	m.pid, m.fd, m.sites, m.trap, m.raised, m.gone = pid, fd, nil, trap{}, false, map[target.Addr]bool{}
	m.dropAll()
	return err
}

// Close closes the descriptor. After that, every read fails.
func (m *Memory) Close() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
		m.fd = -1
	}
}

// find returns the index of the first site at or above addr.
func (m *Memory) find(addr target.Addr) int {
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

// Raised reports whether the bytes of the sites are in memory.
func (m *Memory) Raised() bool { return m.raised }

// Overlaps reports whether one of the n bytes at an address is a site.
func (m *Memory) Overlaps(addr target.Addr, n int) bool {
	i := m.find(addr)
	return i < len(m.sites) && m.sites[i].addr-addr < target.Addr(n)
}

// Removed reports whether a site at an address was removed since the last ForgetRemoved: a thread
// may still have its trap pending.
func (m *Memory) Removed(addr target.Addr) bool { return m.gone[addr] }

// ForgetRemoved is called when no thread can have the trap of a removed site pending.
func (m *Memory) ForgetRemoved() { clear(m.gone) }

// ForgetRemovedAt is ForgetRemoved for one address.
func (m *Memory) ForgetRemovedAt(addr target.Addr) { delete(m.gone, addr) }

// Empty reports whether there is no site.
func (m *Memory) Empty() bool { return len(m.sites) == 0 }

// Inserted reports whether there is a site at an address.
func (m *Memory) Inserted(addr target.Addr) bool {
	i := m.find(addr)
	return i < len(m.sites) && m.sites[i].addr == addr
}

// Read reads the program's memory: our bytes are not in it. It returns the number of bytes before
// the first page that is not mapped, with a *target.MemoryError. It may be called on any goroutine.
func (m *Memory) Read(addr target.Addr, buf []byte) (int, error) {
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
func (m *Memory) raw(addr target.Addr, buf []byte) int {
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

// Write changes memory below the sites: our bytes stay, and the new bytes become the originals. It
// returns the number of bytes written, and a *target.MemoryError if that is less than all.
func (m *Memory) Write(addr target.Addr, data []byte) (int, error) {
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
	n := m.WriteRaw(addr, out)
	for i := first; i < end; i++ {
		if off := m.sites[i].addr - addr; off < target.Addr(n) {
			m.sites[i].original = data[off]
			m.record(m.sites[i].addr, data[off])
		}
	}
	if n < len(data) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Write: true, Why: "not mapped"}
	}
	return n, nil
}

// WriteRaw writes where no site is. It returns the number of bytes before the first page that is
// not mapped.
func (m *Memory) WriteRaw(addr target.Addr, data []byte) int {
	return kernel.WriteAll(m.fd, addr, data)
}
