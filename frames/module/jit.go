package module

import "dbg/image"

// OfJIT makes a module from a symbol file that a program made for code in its memory
// (image.FromObject). Its addresses are those of the process. The file's copy of the code is not
// used, because its relocations are not applied: instructions are read from the process.
func OfJIT(f *image.File, p Placement) *Module {
	c := ContentsAt(f, nil, p)
	c.JIT = true
	c.Code, c.PLT, c.Entry, c.Go, c.hasMini = nil, nil, 0, false, false
	return New(c)
}
