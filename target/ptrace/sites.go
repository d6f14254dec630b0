package ptrace

import (
	"bytes"
	"slices"

	"dbg/code/emulate"
	"dbg/target"
)

// breakByte is int3.
const breakByte = 0xcc

// site is one address at which threads are to stop while the process runs.
type site struct {
	addr     target.Addr
	original byte // what the program has there; known while the site is raised
	count    int  // users

	// The instruction as it was last decoded. The program may change it: code is compared each time.
	op      emulate.Op
	decoded bool // op and code are of the last attempt
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
		g, err := startGuard(p.guardian, p.pid, p.pidfd)
		if err != nil {
			return err // better no breakpoint than one that may stay
		}
		p.mem.lock.Lock()
		p.mem.guard, p.guardian = g, ""
		p.mem.lock.Unlock()
		// A thread that has hit a site is in danger until it has been served: the kernel would deliver its SIGTRAP if we died.
		p.urgent = hurry(tracerPriority)
	}
	if !p.shared && p.kind == target.Attached {
		p.shared = true
		p.adoptSharers()
	}
	return nil
}

// RemoveBreakpoint implements target.Process. After an Execed stop no
// breakpoint is inserted any more.
func (p *Process) RemoveBreakpoint(addr target.Addr) error {
	return p.alive(func() error { return p.mem.remove(addr) })
}

// alive runs f in the tracer's goroutine if there is a process still.
func (p *Process) alive(f func() error) error {
	return p.do(func() error {
		if p.over {
			return target.ErrGone
		}
		return f()
	})
}

// insert adds a user of a site. If the process runs, the byte is written at once: one byte can be
// changed while other threads execute there.
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
	if m.rawWrite(addr, []byte{b}) != 1 { // what is not writable is told now and not at the next Resume
		m.guard.remove(addr)
		return &target.MemoryError{Addr: addr, Write: true, Why: "not mapped"}
	}
	m.sites = slices.Insert(m.sites, i, site{addr: addr, original: original[0], count: 1})
	delete(m.gone, addr)
	return nil
}

// remove takes one user of a site away. A site whose page is no longer mapped is simply forgotten.
// A thread may have run into the byte without our knowing: gone remembers the site until the next halt.
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

// restore puts the original byte of a site into the memory of fd, if our byte is
// there: the program may have put other code at that address.
func (m *memory) restore(fd int, s *site) {
	var now [1]byte
	if got, err := preadByte(fd, s.addr, now[:]); err == nil && got == 1 && now[0] == breakByte {
		pwriteAll(fd, s.addr, []byte{s.original})
	}
}

// raise writes the bytes of all sites, as the process is about to run.
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

// lower takes the bytes of all sites out of memory, as the process has stopped.
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

// eachPage lets edit change the code between the first and the last site of each page, and writes what it
// changed. Pages that can't be read are left out.
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

// lift takes sites out of memory for a step over them, but not out of the table.
func (m *memory) lift(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); m.raised && i < len(m.sites) && m.sites[i].addr == a {
			m.restore(m.fd, &m.sites[i])
		}
	}
}

// putBack undoes lift. What the instructions have changed there becomes the original.
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

// clean takes the bytes out of another memory that is a copy of ours: a child's.
func (m *memory) clean(fd int) {
	for i := range m.sites {
		m.restore(fd, &m.sites[i])
	}
}

// forget drops all sites; their bytes are out of memory.
func (m *memory) forget() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.sites = nil
	clear(m.gone)
}

// instruction returns the emulation of the instruction at a site; nil if it can't be emulated. The program's own
// code is compared with what was decoded, since the program may have changed it.
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
