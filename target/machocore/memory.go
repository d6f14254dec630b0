package machocore

import "dbg/target"

// ReadMemory implements target.Memory: what the core has, and of code and constants that
// it lacks, what the image's file has.
func (c *Core) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return c.base.ReadMemory(addr, buf, c.inFile)
}
