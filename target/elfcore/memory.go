package elfcore

import (
	"dbg/image/elfheader"
	"dbg/target"
	"dbg/target/corefile"
)

// ReadMemory implements target.Memory. It reads from the core, or where the core has no bytes,
// from the file that was mapped there if it is still the same.
func (c *Core) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return c.base.ReadMemory(addr, buf, c.inFile)
}

// inFile reads the contents of a mapped file at an address, up to the end of the mapping. It
// returns 0 if there are none.
func (c *Core) inFile(at uint64, buf []byte) int {
	f := c.fileAt(at)
	if f == nil || f.off+(at-f.lo) < f.off {
		return 0
	}
	im := c.open(f)
	c.base.RLock()
	defer c.base.RUnlock()
	if im == nil || c.base.Closed() || im.file == nil {
		return 0
	}
	n, _ := corefile.CopyMapped(buf, elfheader.CutSome(im.file.Bytes(), f.off+(at-f.lo), min(uint64(len(buf)), f.hi-at)))
	return n
}
