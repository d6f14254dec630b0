package machocore

import "dbg/target"

// ReadMemory implements target.Memory. It reads from the core and, for code and constants that
// the core does not contain, from the image's file.
func (c *Core) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	return c.base.ReadMemory(addr, buf, c.inFile)
}
