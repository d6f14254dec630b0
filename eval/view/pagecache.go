package view

import "dbg/target"

// pageCache reads memory in pieces: a view reads many small values that are near each other. It lives as
// long as one view of one query, or one walk.
type pageCache struct {
	mem    target.Memory
	size   addr            // of a piece: a power of two, not smaller than a page of the target
	pieces map[addr][]byte // by address / size; nil: it can't be read as a whole
	last   addr            // the piece that was used last
	data   []byte
}

const (
	smallPiece = 4 << 10
	largePiece = 64 << 10
	maxCached  = 64 << 20 // bytes of a cache
)

// ReadMemory implements target.Memory.
func (c *pageCache) ReadMemory(a addr, b []byte) (int, error) {
	off := a & (c.size - 1)
	if off+addr(len(b)) > c.size {
		return c.mem.ReadMemory(a, b)
	}
	if at := a / c.size; c.data == nil || at != c.last {
		c.last, c.data = at, c.piece(at)
	}
	if c.data == nil {
		return c.mem.ReadMemory(a, b)
	}
	return copy(b, c.data[off:]), nil
}

func (c *pageCache) piece(at addr) []byte {
	if p, ok := c.pieces[at]; ok {
		return p
	}
	if c.pieces == nil || addr(len(c.pieces)) >= maxCached/c.size {
		c.pieces = map[addr][]byte{}
	}
	p := make([]byte, c.size)
	if n, err := c.mem.ReadMemory(at*c.size, p); err != nil || n < len(p) {
		p = nil
	}
	c.pieces[at] = p
	return p
}
