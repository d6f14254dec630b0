package unwindcheck

import (
	"os"
	"path/filepath"

	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// module is a mapped file.
type module struct {
	*frames.Image
	syms   *symbols.Module
	golang bool // made by the Go compiler, whose functions preserve only RBP
}

// name returns the module's name for messages.
func (m *module) name() string { return filepath.Base(m.Path) }

// space is the process's address space, a frames.Space. refresh updates it.
type space struct {
	*frames.AddressSpace
	proc    frames.MappedTarget
	files   map[string]*image.File
	syms    map[*image.File]*symbols.Module
	modules map[*frames.Image]*module
	last    *module
}

// newSpace reads the mappings of a process. variant returns the module to use in place of a file's
// own, without the tables that are not judged.
func newSpace(p frames.MappedTarget, variant func(*frames.Module) *frames.Module) (*space, error) {
	sp := &space{proc: p, files: map[string]*image.File{}, syms: map[*image.File]*symbols.Module{}, modules: map[*frames.Image]*module{}}
	made := func(im *frames.Image) {
		im.Module = variant(im.Module)
		sp.modules[im] = &module{Image: im, syms: sp.symbolsOf(im.File), golang: im.File.HasSection(".gopclntab")}
	}
	var err error
	sp.AddressSpace, err = frames.NewAddressSpace(p, frames.AddressSpaceOptions{Open: sp.open, Made: made})
	return sp, err
}

// open opens a file once.
func (sp *space) open(g *frames.Mapped) (f, debug *image.File, err error) {
	if f = sp.files[g.Path]; f == nil {
		if g.First.Deleted {
			return nil, nil, os.ErrNotExist
		}
		if f, err = image.Open(g.Path); err != nil {
			return nil, nil, err
		}
		sp.files[g.Path] = f
	}
	return f, sp.symbolsOf(f).DebugFile(), nil
}

func (sp *space) symbolsOf(f *image.File) *symbols.Module {
	m := sp.syms[f]
	if m == nil {
		m = symbols.Load(f, symbols.Options{})
		sp.syms[f] = m
	}
	return m
}

// close closes the files. The space can't be used afterwards.
func (sp *space) close() {
	for _, m := range sp.syms {
		m.Close()
	}
	for _, f := range sp.files {
		f.Close()
	}
	sp.Close()
}

// ReadMemory implements target.Memory. From a large read that would cross into another page it
// returns only the first page. That is enough to find one caller. At the end of a stack there is no
// second page, and finding that out would take another system call.
func (sp *space) ReadMemory(a target.Addr, buf []byte) (int, error) {
	const walkBegins = 2 * pageSize // the first block that package frames reads
	if len(buf) != walkBegins || a%pageSize != 0 {
		return sp.proc.ReadMemory(a, buf)
	}
	n, err := sp.proc.ReadMemory(a, buf[:pageSize])
	if err == nil {
		err = errOnePage
	}
	return n, err
}

var errOnePage error = &target.MemoryError{Why: "not read"}

// module returns the module at pc, or nil.
func (sp *space) module(pc target.Addr) *module {
	im := sp.Image(pc)
	if im == nil {
		return nil
	}
	if sp.last == nil || sp.last.Image != im {
		sp.last = sp.modules[im]
	}
	return sp.last
}

// isFile reports whether the code at an address belongs to a file, so it does not change by itself.
func (sp *space) isFile(a target.Addr) bool {
	m := sp.Mapping(a)
	return m != nil && m.Exec == target.Allowed && (m.Inode != 0 || m.Path == "[vdso]")
}

// function returns the name of the function at pc, or "", and the offset in it.
func (m *module) function(pc uint64) (name string, off uint64) {
	a := image.Addr(pc - m.Bias)
	f := m.syms.FunctionAt(a)
	if f == nil {
		return "", 0
	}
	lo := f.Lo
	for _, r := range f.Ranges {
		if r.Lo <= a && a < r.Hi {
			lo = r.Lo
		}
	}
	return f.Name, uint64(a - lo)
}
