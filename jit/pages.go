package jit

import "dbg/target"

const (
	pageSize = 4096
	maxPages = 64
)

// pages is a page cache over memory: the entries of a list are small and often close together.
type pages struct {
	mem   target.Memory
	cache map[target.Addr][]byte
}

// ReadMemory implements target.Memory.
func (p *pages) ReadMemory(at target.Addr, buf []byte) (int, error) {
	base := at &^ (pageSize - 1)
	b, ok := p.cache[base]
	if !ok {
		if len(p.cache) >= maxPages {
			clear(p.cache)
		}
		b = make([]byte, pageSize)
		n, _ := p.mem.ReadMemory(base, b)
		b = b[:max(0, min(n, pageSize))]
		p.cache[base] = b
	}
	if off := uint64(at - base); off+uint64(len(buf)) <= uint64(len(b)) {
		return copy(buf, b[off:]), nil
	}
	return p.mem.ReadMemory(at, buf)
}
