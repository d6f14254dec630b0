package view

import (
	"encoding/binary"

	"dbg/target"
)

// pageCache reads memory in pieces: a view reads many small values that are near each other. It lives as
// long as one view of one query, or one walk.
type pageCache struct {
	mem    target.Memory
	size   addr            // of a piece: a power of two, not smaller than a page of the target
	little bool            // words have the least significant byte first
	pieces map[addr][]byte // by address / size; nil: it can't be read as a whole
	near   [][]byte        // the pieces from base on, again, which are found faster
	base   addr            // the first of near, by address / size
	last   addr            // the piece that was used last
	data   []byte
}

const (
	smallPiece = 4 << 10
	largePiece = 64 << 10
	maxCached  = 64 << 20  // bytes of a cache
	maxWalked  = 192 << 20 // bytes of the cache of a walk, which does not forget
	nearPieces = 1 << 15
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

// word reads a pointer of 8 bytes. It returns false if that takes more than a look at a piece.
func (c *pageCache) word(a addr) (addr, bool) {
	at, off := a/largePiece, a%largePiece
	if c.size != largePiece || !c.little || off > largePiece-8 {
		return 0, false
	}
	if d := at - c.base; d < addr(len(c.near)) {
		if p := c.near[d]; p != nil {
			return addr(binary.LittleEndian.Uint64(p[off:])), true
		}
	}
	p := c.piece(at)
	if p == nil {
		return 0, false
	}
	c.keepNear(at, p)
	return addr(binary.LittleEndian.Uint64(p[off:])), true
}

// keepNear adds a piece to those that are found faster, if it is near the first one.
func (c *pageCache) keepNear(at addr, p []byte) {
	if c.near == nil {
		c.base = max(at, nearPieces/2) - nearPieces/2
		c.near = make([][]byte, nearPieces)
	}
	if d := at - c.base; d < nearPieces {
		c.near[d] = p
	}
}

func (c *pageCache) piece(at addr) []byte {
	if p, ok := c.pieces[at]; ok {
		return p
	}
	switch n := addr(len(c.pieces)) * c.size; {
	case c.size == largePiece && n >= maxWalked:
		return nil // the nodes are far from each other: each is read by itself
	case c.pieces == nil || c.size != largePiece && n >= maxCached:
		c.pieces = map[addr][]byte{}
	}
	p := make([]byte, c.size)
	if n, err := c.mem.ReadMemory(at*c.size, p); err != nil || n < len(p) {
		p = nil
	}
	c.pieces[at] = p
	return p
}
