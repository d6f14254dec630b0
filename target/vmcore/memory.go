package vmcore

import (
	"encoding/binary"
	"fmt"

	"dbg/target"
)

// The kernel's own mapping of its image (Documentation/arch/x86/x86_64/mm.rst), and page tables of x86-64 (Intel SDM,
// volume 3, chapter 4.5).
const (
	imageMap  = 0xffffffff80000000 // __START_KERNEL_map
	pageSize  = 4096
	present   = 1
	large     = 1 << 7
	frameMask = 1<<52 - pageSize
)

// maxCached bounds the translations that are kept.
const maxCached = 1 << 16

// physical returns n bytes at a physical address, or as many as the dump has.
func (c *Core) physical(at, n uint64) []byte { return c.base.Some(at, n) }

// entry reads an entry of a page table.
func (c *Core) entry(table uint64, index uint64) (uint64, bool) {
	b := c.physical(table+8*index, 8)
	if len(b) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// translate returns the physical address for an address of the kernel, and the number of bytes up to the end of
// the page, which may be a large one. why tells why there is none.
func (c *Core) translate(at uint64) (phys, n uint64, why string) {
	page := at &^ (pageSize - 1)
	c.pages.Lock()
	p, ok := c.pages.known[page]
	c.pages.Unlock()
	if ok {
		return p + at - page, pageSize - (at - page), ""
	}
	table := c.root
	for level := c.levels - 1; level >= 0; level-- {
		shift := uint(12 + 9*level)
		e, ok := c.entry(table, at>>shift&511)
		switch {
		case !ok:
			return 0, 0, "its page table is not in the dump"
		case e&present == 0:
			return 0, 0, "not mapped by the kernel"
		}
		e &^= c.encryption
		if level == 0 || e&large != 0 && level <= 2 {
			size := uint64(1) << shift
			phys = e&frameMask&^(size-1) + at&(size-1)
			break
		}
		table = e & frameMask
	}
	c.pages.Lock()
	if len(c.pages.known) >= maxCached {
		clear(c.pages.known)
	}
	c.pages.known[page] = phys - (at - page)
	c.pages.Unlock()
	return phys, pageSize - (at - page), ""
}

// ReadMemory implements target.Memory, for addresses of the kernel.
func (c *Core) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	return c.read(uint64(addr), buf)
}

// read is ReadMemory with the lock held.
func (c *Core) read(addr uint64, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		at := addr + uint64(n)
		if at < addr {
			return n, &target.MemoryError{Addr: target.Addr(at), Why: "past the end of the address space"}
		}
		phys, left, why := c.translate(at)
		if why != "" {
			return n, &target.MemoryError{Addr: target.Addr(at), Why: why}
		}
		b := c.physical(phys, min(left, uint64(len(buf)-n)))
		if len(b) == 0 {
			return n, &target.MemoryError{Addr: target.Addr(at), Why: "its page is not in the dump"}
		}
		n += copy(buf[n:], b)
	}
	return n, nil
}

// bytesAt reads n bytes that must all be there. The caller bounds n.
func (c *Core) bytesAt(at, n uint64) ([]byte, error) {
	b := make([]byte, n)
	if got, err := c.read(at, b); err != nil {
		return nil, fmt.Errorf("reading %d bytes at 0x%x: %d are there: %w", n, at, got, err)
	}
	return b, nil
}

func (c *Core) word(at uint64) (uint64, error) {
	var b [8]byte
	_, err := c.read(at, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func (c *Core) half(at uint64) (uint32, error) {
	var b [4]byte
	_, err := c.read(at, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}
