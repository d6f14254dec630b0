package jit

import "dbg/target"

const (
	pageSize  = 4096
	pagesKept = 64
)

// pages is memory that reads whole pages and keeps some: the entries of a list are small and often close together.
type pages struct {
	mem  target.Memory
	kept map[target.Addr][]byte
}

// ReadMemory implements target.Memory.
func (p *pages) ReadMemory(at target.Addr, buf []byte) (int, error) {
	base := at &^ (pageSize - 1)
	b, ok := p.kept[base]
	if !ok {
		if len(p.kept) >= pagesKept {
			clear(p.kept)
		}
		b = make([]byte, pageSize)
		n, _ := p.mem.ReadMemory(base, b)
		b = b[:max(0, min(n, pageSize))]
		p.kept[base] = b
	}
	if off := uint64(at - base); off+uint64(len(buf)) <= uint64(len(b)) {
		return copy(buf, b[off:]), nil
	}
	return p.mem.ReadMemory(at, buf)
}
