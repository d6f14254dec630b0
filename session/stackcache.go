package session

import (
	"dbg/symbols"
	"dbg/target"
)

// variablesOf returns the parameters and locals that are visible in a frame. It caches them, since
// recursion needs the same ones again and again.
func (s *Session) variablesOf(f *Frame) []*symbols.Variable {
	if f.Module == nil || f.Module.Symbols == nil || f.call == nil {
		return nil
	}
	list, ok := s.cache.variables[f.call]
	if !ok {
		list = f.Module.Symbols.LocalsOf(f.call, f.lookup)
		if s.cache.variables != nil {
			s.cache.variables[f.call] = list
		}
	}
	return list
}

// stackCache holds pages of the stacks for one stop, so that the variables of a deep backtrace do
// not need a system call each. Only a running thread could change them.
type stackCache struct {
	pages [32]stackPage
}

type stackPage struct {
	addr target.Addr
	data []byte // nil: empty
}

const stackPageSize = 4096

// stackReach is the distance from a frame's stack pointer within which memory counts as stack.
const stackReach = 1 << 20

// frameMemory is the memory for reading a frame's variables.
type frameMemory struct {
	s  *Session
	sp target.Addr
}

// ReadMemory implements target.Memory.
func (m frameMemory) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	page := addr &^ (stackPageSize - 1)
	off := int(addr - page)
	if addr-m.sp+stackReach > 2*stackReach || off+len(buf) > stackPageSize {
		return m.s.tgt.ReadMemory(addr, buf)
	}
	p := &m.s.cache.stack.pages[page/stackPageSize%target.Addr(len(m.s.cache.stack.pages))]
	if p.data == nil || p.addr != page {
		if p.data == nil {
			p.data = make([]byte, stackPageSize)
		}
		p.addr = page
		if n, err := m.s.tgt.ReadMemory(page, p.data); err != nil || n < stackPageSize {
			p.data = nil
			return m.s.tgt.ReadMemory(addr, buf)
		}
	}
	return copy(buf, p.data[off:]), nil
}
