package ptrace

import (
	"bytes"
	"slices"

	"golang.org/x/sys/unix"

	"dbg/code/emulate"
	"dbg/target"
	"dbg/target/ptrace/kernel"
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
	code    [maxInstruction]byte
	codeLen int
}

// maxInstruction is the length of the longest instruction: Intel SDM volume 2, 2.3.11.
const maxInstruction = 15

// InsertBreakpoint implements target.Process.
func (p *Process) InsertBreakpoint(addr target.Addr) error {
	return p.alive(func() error {
		if err := p.protect(); err != nil {
			return err
		}
		return p.mem.insert(addr)
	})
}

// protect prepares for the first site or watch: it starts the guardian of an attached process.
func (p *Process) protect() error {
	if p.guardian != "" {
		g, err := startGuard(p.guardian, p.pid, p.pidfd.Descriptor())
		if err != nil {
			return err // no breakpoint is better than one that may stay in memory
		}
		p.mem.lock.Lock()
		p.mem.guard, p.guardian = g, ""
		p.mem.lock.Unlock()
		// If we die while a thread waits at a site, the kernel delivers its SIGTRAP. So the thread
		// must be served fast.
		p.urgent = kernel.RealTime(tracerPriority)
	}
	if !p.shared && p.kind == target.Attached {
		p.shared = true
		p.adoptSharers()
	}
	return nil
}

// RemoveBreakpoint implements target.Process. After a stop with reason Execed, no breakpoint is
// inserted.
func (p *Process) RemoveBreakpoint(addr target.Addr) error {
	return p.alive(func() error { return p.mem.remove(addr) })
}

// alive runs f in the tracer's goroutine if the process still exists.
func (p *Process) alive(f func() error) error {
	return p.do(func() error {
		if p.over {
			return target.ErrGone
		}
		return f()
	})
}

// insert counts one more insertion of a site. If the process runs and the site is new, the byte is
// written at once: a single byte can be changed while other threads execute there.
func (m *memory) insert(addr target.Addr) error {
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
		m.guard.add(addr, b)
		b = breakByte
	}
	if m.rawWrite(addr, []byte{b}) != 1 { // report it now, not at the next Resume
		m.guard.remove(addr)
		return &target.MemoryError{Addr: addr, Write: true, Why: "not mapped"}
	}
	m.sites = slices.Insert(m.sites, i, site{addr: addr, original: original[0], count: 1})
	delete(m.gone, addr)
	return nil
}

// remove undoes one insertion of a site. A site whose page is no longer mapped is only removed from
// the table. A thread may already have hit the byte without our knowledge: gone holds the site
// until the next halt.
func (m *memory) remove(addr target.Addr) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	i := m.find(addr)
	if i == len(m.sites) || m.sites[i].addr != addr {
		return ErrNoBreakpoint
	}
	if m.sites[i].count--; m.sites[i].count > 0 {
		return nil
	}
	if m.raised {
		m.restore(m.fd, &m.sites[i])
		m.guard.remove(addr)
	}
	m.gone[addr] = true
	m.sites = slices.Delete(m.sites, i, i+1)
	return nil
}

// restore writes the original byte of a site to the memory open at fd, if our byte is there: the
// program may have put other code at that address.
func (m *memory) restore(fd int, s *site) {
	var now [1]byte
	if got, err := unix.Pread(fd, now[:], int64(s.addr)); err == nil && got == 1 && now[0] == breakByte {
		kernel.WriteAll(fd, s.addr, []byte{s.original})
	}
}

// raise writes the bytes of all sites, before the process runs.
func (m *memory) raise() {
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
			m.guard.add(s.addr, s.original)
		}
		return true
	})
}

// lower removes the bytes of all sites from memory, after the process has stopped.
func (m *memory) lower() {
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
	m.guard.clear()
}

// eachPage calls edit for each page with sites, with the code from the first to the last site. If
// edit returns true, eachPage writes the changed code. It skips pages that can't be read.
func (m *memory) eachPage(edit func(sites []site, at target.Addr, code []byte) bool) {
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
			m.rawWrite(at, code)
		}
		i = j
	}
}

// lift removes sites from memory, but not from the table, for a step over them.
func (m *memory) lift(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); m.raised && i < len(m.sites) && m.sites[i].addr == a {
			m.restore(m.fd, &m.sites[i])
		}
	}
}

// putBack undoes lift. If the instructions have changed a byte there, the new byte becomes the
// original.
func (m *memory) putBack(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); m.raised && i < len(m.sites) && m.sites[i].addr == a {
			var now [1]byte
			if m.raw(a, now[:]) == 1 && now[0] != breakByte {
				m.sites[i].original = now[0]
			}
			m.rawWrite(a, []byte{breakByte})
		}
	}
}

// clean removes our bytes from another memory that is a copy of ours: a child's.
func (m *memory) clean(fd int) {
	for i := range m.sites {
		m.restore(fd, &m.sites[i])
	}
}

// forget drops all sites. Their bytes must be out of memory.
func (m *memory) forget() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.sites = nil
	clear(m.gone)
}

// instruction returns the decoded instruction at a site for emulation, or nil if it can't be
// emulated. It compares the program's code with the decoded bytes, since the program may have
// changed it.
func (m *memory) instruction(addr target.Addr) *emulate.Op {
	i := m.find(addr)
	if i == len(m.sites) || m.sites[i].addr != addr {
		return nil
	}
	s := &m.sites[i]
	var now [maxInstruction]byte
	if s.decoded {
		n, _ := m.read(addr, now[:s.codeLen])
		if n == s.codeLen && bytes.Equal(now[:n], s.code[:n]) {
			if s.claimed {
				return &s.op
			}
			return nil
		}
	}
	n, _ := m.read(addr, now[:])
	s.op, s.claimed = emulate.Decode(now[:n], uint64(addr))
	s.decoded, s.code, s.codeLen = true, now, n
	if s.claimed {
		s.codeLen = s.op.Len()
		return &s.op
	}
	return nil
}
