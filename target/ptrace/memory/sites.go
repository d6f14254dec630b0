package memory

import (
	"bytes"
	"slices"

	"golang.org/x/sys/unix"

	"dbg/code/emulate"
	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// breakByte is int3.
const breakByte = 0xcc

// site is an address at which threads stop while the process runs.
type site struct {
	addr     target.Addr
	original byte // the program's own byte; known while the sites are raised
	count    int  // insertions minus removals

	// The instruction when it was last decoded. The program may change it, so code is compared each
	// time.
	op      emulate.Op
	decoded bool // op and code hold the last attempt
	claimed bool // op can be emulated
	code    [MaxInstruction]byte
	codeLen int
}

// MaxInstruction is the length of the longest instruction: Intel SDM volume 2, 2.3.11.
const MaxInstruction = 15

// Insert counts one more insertion of a site. If the process runs and the site is new, the byte is
// written at once: a single byte can be changed while other threads execute there. It returns a
// *target.MemoryError if the address is not mapped.
func (m *Memory) Insert(addr target.Addr) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	i := m.find(addr)
	if i < len(m.sites) && m.sites[i].addr == addr {
		m.sites[i].count++
		return nil
	}
	var original [1]byte
	if m.fd < 0 || m.raw(addr, original[:]) != 1 {
		return &target.MemoryError{Addr: addr, Why: "not mapped"}
	}
	b := original[0]
	if m.raised {
		m.record(addr, b)
		b = breakByte
	}
	if m.WriteRaw(addr, []byte{b}) != 1 { // report it now, not at the next Resume
		m.drop(addr)
		return &target.MemoryError{Addr: addr, Write: true, Why: "not mapped"}
	}
	m.sites = slices.Insert(m.sites, i, site{addr: addr, original: original[0], count: 1})
	delete(m.gone, addr)
	return nil
}

// Remove undoes one insertion of a site. It returns false if there is no site. A site whose page is
// no longer mapped is only removed from the table. A thread may already have hit the byte without
// our knowledge: gone holds the site until the next halt.
func (m *Memory) Remove(addr target.Addr) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	i := m.find(addr)
	if i == len(m.sites) || m.sites[i].addr != addr {
		return false
	}
	if m.sites[i].count--; m.sites[i].count > 0 {
		return true
	}
	if m.raised {
		m.restore(&m.sites[i])
		m.drop(addr)
	}
	m.gone[addr] = true
	m.sites = slices.Delete(m.sites, i, i+1)
	return true
}

func (m *Memory) restore(s *site) { Restore(m.fd, s.addr, s.original) }

// Restore writes the original byte of a site to a memory that is open for writing at fd, if our
// byte is there: the program may have put other code at that address. Any process may call it.
func Restore(fd int, addr target.Addr, original byte) {
	var now [1]byte
	if got, err := unix.Pread(fd, now[:], int64(addr)); err == nil && got == 1 && now[0] == breakByte {
		kernel.WriteAll(fd, addr, []byte{original})
	}
}

// SameCode reports whether a copy of a memory has the same code around an address, except for bytes of
// ours. Both are open for reading.
func SameCode(original, copied int, addr target.Addr) bool {
	const around = 32
	var a, b [2 * around]byte
	at := int64(addr) - min(around, int64(addr))
	n, err := unix.Pread(original, a[:], at)
	if err != nil || n <= int(int64(addr)-at) {
		return false
	}
	if m, err := unix.Pread(copied, b[:n], at); err != nil || m != n {
		return false
	}
	for i := range n {
		if a[i] != b[i] && b[i] != breakByte {
			return false
		}
	}
	return true
}

// Raise writes the bytes of all sites, before the process runs.
func (m *Memory) Raise() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.raised || m.fd < 0 {
		return
	}
	m.raised = true
	m.eachPage(func(sites []site, at target.Addr, code []byte) bool {
		for i := range sites {
			s := &sites[i]
			s.original = code[s.addr-at]
			code[s.addr-at] = breakByte
			m.record(s.addr, s.original)
		}
		return true
	})
}

// Lower removes the bytes of all sites from memory, after the process has stopped.
func (m *Memory) Lower() {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.raised || m.fd < 0 {
		return
	}
	m.raised = false
	m.eachPage(func(sites []site, at target.Addr, code []byte) bool {
		changed := false
		for i := range sites {
			if s := &sites[i]; code[s.addr-at] == breakByte && s.original != breakByte {
				code[s.addr-at] = s.original
				changed = true
			}
		}
		return changed
	})
	m.dropAll()
}

// eachPage calls edit for each page with sites, with the code from the first to the last site. If
// edit returns true, eachPage writes the changed code. It skips pages that can't be read.
func (m *Memory) eachPage(edit func(sites []site, at target.Addr, code []byte) bool) {
	const page = 4096
	var buf [page]byte
	for i := 0; i < len(m.sites); {
		j := i + 1
		for j < len(m.sites) && m.sites[j].addr/page == m.sites[i].addr/page {
			j++
		}
		at := m.sites[i].addr
		code := buf[:m.sites[j-1].addr-at+1]
		if m.raw(at, code) == len(code) && edit(m.sites[i:j], at, code) {
			m.WriteRaw(at, code)
		}
		i = j
	}
}

// Lift removes sites from memory, but not from the table, for a step over them.
func (m *Memory) Lift(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); m.raised && i < len(m.sites) && m.sites[i].addr == a {
			m.restore(&m.sites[i])
		}
	}
}

// PutBack undoes lift. If the instructions have changed a byte there, the new byte becomes the
// original.
func (m *Memory) PutBack(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); m.raised && i < len(m.sites) && m.sites[i].addr == a {
			var now [1]byte
			if m.raw(a, now[:]) == 1 && now[0] != breakByte {
				m.sites[i].original = now[0]
			}
			m.WriteRaw(a, []byte{breakByte})
		}
	}
}

// Clean removes our bytes from the memory of a child, unless it is known to share our memory. Its
// copy may have been made while they were in our memory, even if they no longer are.
func (m *Memory) Clean(child int) {
	if len(m.sites) == 0 {
		return
	}
	if same, ok := kernel.SameMemory(m.pid, child); ok && same {
		return
	}
	fd, err := unix.Open(procfs.Path(child, "mem"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for i := range m.sites {
		Restore(fd, m.sites[i].addr, m.sites[i].original)
	}
}

// Forget drops all sites. Their bytes must be out of memory.
func (m *Memory) Forget() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.sites = nil
	clear(m.gone)
}

// Instruction returns the decoded instruction at a site for emulation, or nil if it can't be
// emulated. The result is valid until the table changes. Instruction compares the program's code
// with the decoded bytes, since the program may have changed it.
func (m *Memory) Instruction(addr target.Addr) *emulate.Op {
	i := m.find(addr)
	if i == len(m.sites) || m.sites[i].addr != addr {
		return nil
	}
	s := &m.sites[i]
	var now [MaxInstruction]byte
	if s.decoded {
		n, _ := m.Read(addr, now[:s.codeLen])
		if n == s.codeLen && bytes.Equal(now[:n], s.code[:n]) {
			if s.claimed {
				return &s.op
			}
			return nil
		}
	}
	n, _ := m.Read(addr, now[:])
	s.op, s.claimed = emulate.Decode(now[:n], uint64(addr))
	s.decoded, s.code, s.codeLen = true, now, n
	if s.claimed {
		s.codeLen = s.op.Len()
		return &s.op
	}
	return nil
}
