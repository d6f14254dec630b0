package registers

import (
	"sync"

	"dbg/arch"
	"dbg/target"
)

// Cache keeps the registers of a process's threads that were read during this stop. It is made by
// NewCache.
type Cache struct {
	lock sync.Mutex // guards regs
	regs map[target.ThreadID]arch.Registers
}

// NewCache returns an empty Cache.
func NewCache() Cache { return Cache{regs: map[target.ThreadID]arch.Registers{}} }

// Get returns the registers of a thread.
func (c *Cache) Get(id target.ThreadID) (arch.Registers, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	r, ok := c.regs[id]
	return r, ok
}

// Put keeps the registers of a thread.
func (c *Cache) Put(id target.ThreadID, r *arch.Registers) {
	c.lock.Lock()
	c.regs[id] = *r
	c.lock.Unlock()
}

// Forget drops the registers of a thread. It is called before the thread moves.
func (c *Cache) Forget(tid int) {
	c.lock.Lock()
	delete(c.regs, target.ThreadID(tid))
	c.lock.Unlock()
}

// Clear drops the registers of all threads. It is called before any thread moves.
func (c *Cache) Clear() {
	c.lock.Lock()
	clear(c.regs)
	c.lock.Unlock()
}
