package elfcore

import (
	"runtime/debug"
	"sort"

	"dbg/target"
)

// missing is why a byte can't be had.
const missing = "not in the core file"

// ReadMemory implements target.Memory: what the core has, and where it has
// nothing the file that was mapped there, if it is still the same.
func (c *Core) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	c.lock.RLock()
	defer c.lock.RUnlock()
	n := 0
	for n < len(buf) {
		at := uint64(addr) + uint64(n)
		if at < uint64(addr) {
			break // past the end of the address space
		}
		from := c.inCore(at)
		if len(from) == 0 {
			from = c.unlocked(func() []byte { return c.inFile(at, uint64(len(buf)-n)) })
			if c.closed {
				break
			}
		}
		got, whole := copyMapped(buf[n:], from)
		n += got
		if got == 0 || !whole {
			break
		}
	}
	if n < len(buf) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: missing}
	}
	return n, nil
}

// unlocked calls f without the lock that its caller holds. The caller holds it again afterwards, also if f panics because a
// file was cut short.
func (c *Core) unlocked(f func() []byte) []byte {
	c.lock.RUnlock()
	defer c.lock.RLock()
	return f()
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

// inCore returns the bytes of the core from an address to the end of what its
// segment has; none if it has none there.
func (c *Core) inCore(at uint64) []byte {
	i := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].addr > at }) - 1
	if i < 0 || c.closed {
		return nil
	}
	s := &c.segments[i]
	if at-s.addr >= s.filesz {
		return nil
	}
	b, _ := cut(c.data, s.off+(at-s.addr), s.filesz-(at-s.addr))
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
		if c.segments[i].filesz > 0 {
			return c.segments[i].addr, true
		}
	}
	return 0, false
}
