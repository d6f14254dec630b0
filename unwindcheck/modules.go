package unwindcheck

import (
	"os"
	"path/filepath"
	"sort"

	"dbg/cfi"
	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// module is a mapped file.
type module struct {
	unwind *frames.Module
	file   *image.File
	syms   *symbols.Module
	path   string
	lo, hi target.Addr
	bias   uint64
	golang bool // made by the Go compiler, whose functions preserve RBP only
}

// name is what messages call it.
func (m *module) name() string { return filepath.Base(m.path) }

// region is memory that can be executed.
type region struct {
	lo, hi target.Addr
	file   bool // it is a file's, so that its code does not change by itself
}

// space is the process's address space: frames.Space. It is brought up to date by refresh.
type space struct {
	proc    process
	dress   func(*frames.Module) // takes away what is not to be judged
	modules []*module            // by rising address
	regions []region
	files   map[string]*image.File
	version uint64

	compiler cfi.Compiler // of all modules

	lastModule *module
	lastRegion region
}

// process is what must be known of the process.
type process interface {
	target.Memory
	Mappings() ([]target.Mapping, error)
	Auxv(typ uint64) (uint64, bool)
}

// ReadMemory implements target.Memory. Of a large read that would cross into another page it gives the first
// page, which is all that is needed to find one caller; at the end of a stack it is all that there is, and to find that
// out would take another system call.
func (sp *space) ReadMemory(a target.Addr, buf []byte) (int, error) {
	const walkBegins = 2 * pageSize // the first block that package frames asks for
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

// Version implements frames.Versioned.
func (sp *space) Version() uint64 { return sp.version }

// FindModule implements frames.Space.
func (sp *space) FindModule(pc target.Addr) *frames.Module {
	if m := sp.module(pc); m != nil {
		return m.unwind
	}
	return nil
}

func (sp *space) module(pc target.Addr) *module {
	if m := sp.lastModule; m != nil && m.lo <= pc && pc < m.hi {
		return m
	}
	i := sort.Search(len(sp.modules), func(i int) bool { return sp.modules[i].hi > pc })
	if i < len(sp.modules) && sp.modules[i].lo <= pc {
		sp.lastModule = sp.modules[i]
		return sp.modules[i]
	}
	return nil
}

// Executable implements frames.Space.
func (sp *space) Executable(a target.Addr) bool {
	_, ok := sp.region(a)
	return ok
}

func (sp *space) region(a target.Addr) (region, bool) {
	if r := sp.lastRegion; r.lo <= a && a < r.hi {
		return r, true
	}
	i := sort.Search(len(sp.regions), func(i int) bool { return sp.regions[i].hi > a })
	if i < len(sp.regions) && sp.regions[i].lo <= a {
		sp.lastRegion = sp.regions[i]
		return sp.regions[i], true
	}
	return region{}, false
}

// refresh reads the memory map again. Modules that are still there stay the same.
func (sp *space) refresh() {
	maps, err := sp.proc.Mappings()
	if err != nil {
		return // the process is ending
	}
	type key struct {
		path string
		lo   target.Addr
	}
	old := map[key]*module{}
	for _, m := range sp.modules {
		old[key{m.path, m.lo}] = m
	}
	sp.modules, sp.regions = nil, sp.regions[:0]
	sp.lastModule, sp.lastRegion = nil, region{}
	sp.version++
	for i := 0; i < len(maps); {
		first, hi, exec := maps[i], maps[i].Hi, false
		j := i
		for ; j < len(maps) && (j == i || maps[j].Path == first.Path && maps[j].Offset != 0 || maps[j].Path == "" && follows(maps[j+1:], first.Path)); j++ {
			m := maps[j]
			hi = m.Hi
			if m.Exec {
				exec = true
				sp.regions = append(sp.regions, region{m.Lo, m.Hi, m.Inode != 0 || m.Path == "[vdso]"})
			}
		}
		i = j
		if !exec || first.Path == "" {
			continue
		}
		m := old[key{first.Path, first.Lo}]
		if m == nil {
			m = sp.load(first)
		}
		if m != nil {
			m.hi, m.unwind.Hi = hi, hi
			sp.modules = append(sp.modules, m)
		}
	}
}

// follows reports whether the next mapping with a name is a later part of the same file: its bss may lie in between.
func follows(maps []target.Mapping, path string) bool {
	return path != "" && len(maps) > 0 && maps[0].Path == path && maps[0].Offset != 0
}

// load makes the module of a file whose first mapping is given; nil if it is none.
func (sp *space) load(first target.Mapping) *module {
	m := &module{path: first.Path, lo: first.Lo}
	var err error
	switch {
	case first.Path == "[vdso]":
		data := make([]byte, first.Hi-first.Lo)
		n, _ := sp.proc.ReadMemory(first.Lo, data)
		m.file, err = image.FromMemory(first.Path, data[:n])
	case first.Path[0] == '/':
		m.file, err = sp.open(first)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	found := false
	for _, seg := range m.file.Segments() {
		const page = 4096
		if seg.FileOff&^(page-1) == first.Offset&^(page-1) {
			m.bias, found = uint64(first.Lo)-uint64(seg.Lo)&^(page-1), true
			break
		}
	}
	if !found {
		return nil
	}
	m.golang = m.file.HasSection(".gopclntab")
	m.syms = symbols.Load(m.file, symbols.Options{})
	m.unwind = frames.ModuleOf(m.file, m.syms.DebugFile())
	m.unwind.Name, m.unwind.Lo, m.unwind.Bias = m.path, m.lo, m.bias
	m.unwind.Compiler = &sp.compiler
	sp.dress(m.unwind)
	return m
}

// open opens a file once.
func (sp *space) open(m target.Mapping) (*image.File, error) {
	if f := sp.files[m.Path]; f != nil {
		return f, nil
	}
	if m.Deleted {
		return nil, os.ErrNotExist
	}
	f, err := image.Open(m.Path)
	if err == nil {
		sp.files[m.Path] = f
	}
	return f, err
}

// close closes the files. The modules may not be used any more.
func (sp *space) close() {
	for _, f := range sp.files {
		f.Close()
	}
}

// clear forgets what a program that is no more had mapped. The files stay.
func (sp *space) clear() {
	sp.modules = nil
	sp.refresh()
}

// function names the function at pc: its name, or "" if it has none, and the offset in it.
func (m *module) function(pc uint64) (name string, off uint64) {
	a := image.Addr(pc - m.bias)
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
