package frames

import "dbg/image"

// ModuleOfJIT makes a module from a symbol file that a program published for generated code
// (image.FromObject). Its addresses are those of the process. The module does not use the file's
// copy of the code, because its relocations are not applied: it reads instructions from the
// process.
func ModuleOfJIT(f *image.File, p Placement) *Module {
	m := ModuleAt(f, nil, p)
	m.JIT = true
	m.Code, m.PLT, m.Entry, m.Go, m.hasMini = nil, nil, 0, false, false
	return m
}
