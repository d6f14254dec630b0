package machocore

import (
	"runtime/debug"
	"sort"

	"dbg/target"
)

// missing is why a byte can't be had.
const missing = "not in the core file"

// ReadMemory implements target.Memory: what the core has, and of code and constants that
// it lacks, what the image's file has.
func (c *Core) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		at := uint64(addr) + uint64(n)
		if at < uint64(addr) {
			break // past the end of the address space
		}
		got := c.readSome(at, buf[n:])
		if got == 0 {
			break
		}
		n += got
	}
	if n < len(buf) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: missing}
	}
	return n, nil
}

// readSome reads one piece, of 0 bytes if there is nothing.
func (c *Core) readSome(at uint64, buf []byte) int {
	c.lock.RLock()
	from := c.inCore(at)
	n, _ := copyMapped(buf, from)
	c.lock.RUnlock()
	if len(from) > 0 {
		return n
	}
	if next, ok := c.nextInCore(at); ok {
		buf = buf[:min(uint64(len(buf)), next-at)]
	}
	return c.inFile(at, buf)
}

// copyMapped copies out of a mapped file. A file that has been truncated since
// it was mapped faults at its new end; that is an unreadable byte, not the end
// of the debugger.
func copyMapped(to, from []byte) (n int, whole bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			n, whole = 0, false
		}
	}()
	return copy(to, from), true
}

// segmentAt returns the segment at an address, nil if the core has none there.
func (c *Core) segmentAt(at uint64) *segment {
	i := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].addr > at }) - 1
	if i < 0 || at-c.segments[i].addr >= c.segments[i].size {
		return nil
	}
	return &c.segments[i]
}

// inCore returns the bytes of the core from an address to the end of what its
// segment has; none if it has none there.
func (c *Core) inCore(at uint64) []byte {
	s := c.segmentAt(at)
	if s == nil || c.closed || at-s.addr >= s.have {
		return nil
	}
	b, _ := cut(c.data, s.off+(at-s.addr), s.have-(at-s.addr))
	return b
}

// readCore reads from the core alone; the lock need not be held while Open is
// still at work.
func (c *Core) readCore(at, n uint64) []byte {
	b := c.inCore(at)
	return b[:min(n, uint64(len(b)))]
}

// nextInCore returns the address at or above at from which the core has bytes.
func (c *Core) nextInCore(at uint64) (uint64, bool) {
	i := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].addr > at })
	for ; i < len(c.segments); i++ {
		if c.segments[i].have > 0 {
			return c.segments[i].addr, true
		}
	}
	return 0, false
}
