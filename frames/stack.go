package frames

import (
	"encoding/binary"

	"dbg/row/compiled"
	"dbg/target"
)

// Sizes of the blocks in which a walk reads memory. The first block is small, because most
// backtraces are short; each further one is twice as large.
const (
	page     = 4096
	minBlock = 2 * page
	maxBlock = 64 << 10
)

// stack is a walk's view of memory. It reads large blocks, to access a traced process rarely, and
// caches two: at the walk's position, and at its previous one. It assumes that memory does not
// change during one walk.
type stack struct {
	mem    target.Memory
	ahead  AheadReader // mem, or nil if it has no ReadAhead
	order  binary.ByteOrder
	size   int // size of the next block
	last   int // index of the block that was used last
	blocks [2]block
	word   [8]byte
}

type block struct {
	compiled.Window        // the readable part
	buf             []byte // its buffer
}

// reset clears everything except the buffers.
func (s *stack) reset(mem target.Memory, order binary.ByteOrder) {
	s.mem, s.order, s.size, s.last = mem, order, minBlock, 0
	s.ahead, _ = mem.(AheadReader)
	for i := range s.blocks {
		s.blocks[i].Window = compiled.Window{}
	}
}

// readBlock fills buf, of which the first need bytes are needed now.
func (s *stack) readBlock(addr target.Addr, buf []byte, need int) int {
	var got int
	if s.ahead != nil {
		got, _ = s.ahead.ReadAhead(addr, buf, need)
	} else {
		got, _ = s.mem.ReadMemory(addr, buf)
	}
	return max(got, 0)
}

// Word reads a number of size bytes. It implements row.Words.
func (s *stack) Word(addr target.Addr, size int) (uint64, error) {
	for range 2 {
		b := &s.blocks[s.last]
		if off := uint64(addr) - b.Addr; off < uint64(len(b.Data)) && uint64(len(b.Data))-off >= uint64(size) {
			return s.decode(b.Data[off : off+uint64(size)]), nil
		}
		s.last ^= 1
	}
	return s.miss(addr, size)
}

func (s *stack) decode(b []byte) uint64 {
	switch len(b) {
	case 8:
		return s.order.Uint64(b)
	case 4:
		return uint64(s.order.Uint32(b))
	}
	return 0
}

// miss reads the block that begins with the page of addr, because a walk goes up.
func (s *stack) miss(addr target.Addr, size int) (uint64, error) {
	s.last ^= 1 // replace the block that was not used last
	b := &s.blocks[s.last]
	lo := addr &^ (page - 1)
	n := uint64(s.size)
	if room := -uint64(lo); room != 0 && n > room { // up to the end of the address space
		n = room
	}
	if uint64(len(b.buf)) < n {
		b.buf = make([]byte, s.size)
	}
	s.size = min(2*s.size, maxBlock)
	off := uint64(addr - lo)
	got := s.readBlock(lo, b.buf[:n], int(min(off+uint64(size), n))) // short at the end of the stack
	b.Window = compiled.Window{Addr: uint64(lo), Data: b.buf[:min(uint64(got), n)]}
	if off+uint64(size) <= uint64(len(b.Data)) {
		return s.decode(b.Data[off : off+uint64(size)]), nil
	}
	// A word across the end of the block, or memory that ends here.
	got, err := s.mem.ReadMemory(addr, s.word[:size])
	if got < size {
		if err == nil {
			err = &target.MemoryError{Addr: addr + target.Addr(max(got, 0))}
		}
		return 0, err
	}
	return s.decode(s.word[:size]), nil
}

// ReadMemory implements target.Memory, for expressions. It reads words through the blocks.
func (s *stack) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	if n := len(buf); n == 8 || n == 4 {
		v, err := s.Word(addr, n)
		if err != nil {
			return 0, err
		}
		if n == 8 {
			s.order.PutUint64(buf, v)
		} else {
			s.order.PutUint32(buf, uint32(v))
		}
		return n, nil
	}
	return s.mem.ReadMemory(addr, buf)
}
