package frames

import "dbg/image"

// ModuleOfJIT makes a module from a symbol file that a program made for code in its memory (image.FromObject). Its
// addresses are those of the process. The file's copy of the code is not used, since its relocations are not applied:
// instructions are read from the process.
func ModuleOfJIT(f *image.File, p Placement) *Module {
	m := ModuleAt(f, nil, p)
	m.JIT = true
	m.Code, m.PLT, m.Entry, m.Go, m.hasMini = nil, nil, 0, false, false
	return m
}
