package ptrace

import (
	"slices"

	"dbg/target"
)

// InsertBreakpoint implements target.Process.
func (p *Process) InsertBreakpoint(addr target.Addr) error {
	return p.held(func() error { return p.mem.insert(addr) })
}

// RemoveBreakpoint implements target.Process. After an Execed stop no
// breakpoint is inserted any more.
func (p *Process) RemoveBreakpoint(addr target.Addr) error {
	return p.held(func() error { return p.mem.remove(addr) })
}

// held runs f while no thread moves; if the process runs, it is held for that.
func (p *Process) held(f func() error) error {
	return p.do(func() error {
		if p.over {
			return target.ErrGone
		}
		if !p.running {
			return f()
		}
		p.halt()
		if p.over {
			return target.ErrGone
		}
		err := f()
		p.settle()
		return err
	})
}

func (m *memory) insert(addr target.Addr) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	i := m.find(addr)
	if i < len(m.breaks) && m.breaks[i].addr == addr {
		m.breaks[i].count++
		return nil
	}
	var original [1]byte
	if m.fd < 0 || m.raw(addr, original[:]) != 1 {
		return &target.MemoryError{Addr: addr, Why: "not mapped"}
	}
	if m.rawWrite(addr, []byte{breakByte}) != 1 {
		return &target.MemoryError{Addr: addr, Write: true, Why: "not mapped"}
	}
	m.breaks = slices.Insert(m.breaks, i, insertedBreak{addr, original[0], 1})
	return nil
}

// remove takes one user of a breakpoint away. A breakpoint whose page is no
// longer mapped is simply forgotten.
func (m *memory) remove(addr target.Addr) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	i := m.find(addr)
	if i == len(m.breaks) || m.breaks[i].addr != addr {
		return ErrNoBreakpoint
	}
	m.breaks[i].count--
	if m.breaks[i].count == 0 {
		m.restore(m.fd, m.breaks[i])
		m.breaks = slices.Delete(m.breaks, i, i+1)
	}
	return nil
}

// restore puts the original byte of a breakpoint into the memory behind fd, if
// the breakpoint is there: the program may have put other code at that address.
func (m *memory) restore(fd int, b insertedBreak) {
	var now [1]byte
	if got, err := preadByte(fd, b.addr, now[:]); err == nil && got == 1 && now[0] == breakByte {
		pwriteAll(fd, b.addr, []byte{b.original})
	}
}

// lift takes breakpoints out of memory, but not out of the table.
func (m *memory) lift(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); i < len(m.breaks) && m.breaks[i].addr == a {
			m.restore(m.fd, m.breaks[i])
		}
	}
}

// putBack undoes lift.
func (m *memory) putBack(addrs []target.Addr) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, a := range addrs {
		if i := m.find(a); i < len(m.breaks) && m.breaks[i].addr == a {
			m.rawWrite(a, []byte{breakByte})
		}
	}
}

// all returns the addresses of all breakpoints.
func (m *memory) all() []target.Addr {
	out := make([]target.Addr, len(m.breaks))
	for i, b := range m.breaks {
		out[i] = b.addr
	}
	return out
}

// restoreAll removes all breakpoints from memory and, with forget, from the
// table.
func (m *memory) restoreAll(forget bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, b := range m.breaks {
		m.restore(m.fd, b)
	}
	if forget {
		m.breaks = nil
	}
}
