package elfcore

import (
	"bytes"
	"debug/elf"
	"path/filepath"

	"dbg/image"
	"dbg/image/elfheader"
	"dbg/target"
)

// A core may not name its mapped files: the cores of QEMU's user mode, and of gdb on some
// machines, have no NT_FILE. Then the program, which the user gives or AT_EXECFN names, is placed
// according to the auxiliary vector. The libraries are placed according to the dynamic linker's
// own list in the core's memory (System V gABI, "Dynamic Linking": DT_DEBUG; <link.h>: struct
// r_debug, struct link_map).

// Types in the auxiliary vector, <elf.h>.
const (
	auxPHDR   = 3
	auxPHNUM  = 5
	auxPAGESZ = 6
	auxENTRY  = 9
	auxEXECFN = 31
	auxVDSO   = 33 // AT_SYSINFO_EHDR
)

// Limits on the data read from a core's memory.
const (
	maxDynamic  = 4096 // entries
	maxLinkMaps = 10_000
	maxPath     = 4096
)

// layout describes how a file is mapped, according to its headers.
type layout struct {
	head    elfheader.Header
	loads   []elfheader.Segment
	dynamic uint64 // address of PT_DYNAMIC, or 0
	phdr    uint64 // address of the program headers, or 0 if they are not mapped
	entry   uint64
}

// layoutOf reads the headers of a program or a library.
func layoutOf(data []byte) (l layout, ok bool) {
	var err error
	if l.head, err = elfheader.Parse(data); err != nil || l.head.Type != elf.ET_EXEC && l.head.Type != elf.ET_DYN {
		return l, false
	}
	l.entry = l.head.Entry
	at := l.head.Progs.Off
	for i := range l.head.Progs.Within(uint64(len(data))) {
		s, ok := l.head.Segment(data, i)
		if !ok {
			break
		}
		switch s.Type {
		case elf.PT_LOAD:
			l.loads = append(l.loads, s)
			if l.phdr == 0 && s.Off <= at && at-s.Off < s.FileSize {
				l.phdr = s.Addr + (at - s.Off)
			}
		case elf.PT_DYNAMIC:
			l.dynamic = s.Addr
		}
	}
	return l, len(l.loads) > 0
}

// placeFiles determines where files were mapped if the core does not name them.
func (c *Core) placeFiles() {
	if len(c.files) > 0 || c.options.Exe == "" && len(c.auxv) == 0 {
		return
	}
	path, local := c.options.Exe, c.options.Exe
	if abs, err := filepath.Abs(path); path != "" && err == nil {
		path = abs // cores have absolute paths
	}
	if path == "" {
		at, ok := c.Auxv(auxEXECFN)
		if path = c.text(at); !ok || path == "" || path[0] != '/' {
			c.warn("the core names no files; give the program that dumped it")
			return
		}
		local = c.findFile(path)
	}
	file, err := image.Map(local)
	if err != nil {
		if c.options.Exe == "" {
			c.warn("the core names no files, and its program %s was not found", path)
		}
		return // a wrong program is reported when it is opened
	}
	defer file.Close()
	l, ok := layoutOf(file.Bytes())
	if !ok || l.head.Machine != c.head.Machine {
		c.warn("%s is not a program for the core's processor, %s", local, c.head.MachineName())
		return
	}
	bias, ok := c.biasOf(&l)
	if !ok {
		c.warn("%s is not the program of this core: its program headers and entry point do not match the core", local)
		return
	}
	c.exe = path
	c.place(path, local, &l, bias)
	c.sortFiles()
	if l.dynamic != 0 {
		c.placeLibraries(l.dynamic + bias)
	}
	c.warn("the core names no files: the local copies of %s and its libraries are used", path)
}

// biasOf returns the load bias of the program. The core's auxiliary vector has the addresses of
// its program headers and its entry point, and the number of headers. All must agree.
func (c *Core) biasOf(l *layout) (uint64, bool) {
	phdr, hasPHDR := c.Auxv(auxPHDR)
	entry, hasEntry := c.Auxv(auxENTRY)
	num, hasNum := c.Auxv(auxPHNUM)
	if hasNum && num != l.head.Progs.Count {
		return 0, false
	}
	switch {
	case hasPHDR && phdr != 0 && l.phdr != 0:
		bias := phdr - l.phdr
		return bias, (!hasEntry || entry == l.entry+bias) && c.plausible(l, bias)
	case hasEntry:
		bias := entry - l.entry
		return bias, c.plausible(l, bias)
	}
	return 0, l.head.Type == elf.ET_EXEC && c.plausible(l, 0)
}

// plausible reports whether a loader can have chosen a bias.
func (c *Core) plausible(l *layout, bias uint64) bool {
	return bias%c.page() == 0 && (bias == 0 || l.head.Type == elf.ET_DYN)
}

func (c *Core) page() uint64 {
	if p, ok := c.Auxv(auxPAGESZ); ok && p >= 4096 && p <= 1<<20 && p&(p-1) == 0 {
		return p
	}
	return 4096
}

// place adds the mappings of a file's segments, as a loader would map them.
func (c *Core) place(path, local string, l *layout, bias uint64) {
	page := c.page()
	end := uint64(0)
	for _, s := range l.loads {
		if s.FileSize == 0 || s.Off+s.FileSize < s.Off || s.Addr%page != s.Off%page {
			continue
		}
		lo := (s.Addr + bias) &^ (page - 1)
		hi := (s.Addr + bias + s.FileSize + page - 1) &^ (page - 1)
		f := mappedFile{lo: max(lo, end), hi: hi, path: path}
		if f.lo >= f.hi || hi < lo {
			continue
		}
		f.off = s.Off&^(page-1) + (f.lo - lo)
		c.files = append(c.files, f)
		end = f.hi
	}
	c.local[path] = local
}

// findFile returns the local file for a path in the core.
func (c *Core) findFile(path string) string {
	if c.options.FindFile != nil {
		if at := c.options.FindFile(path, ""); at != "" {
			return at
		}
	}
	return path
}

// placeLibraries reads the dynamic linker's list. dynamic is the address of the program's dynamic
// section.
func (c *Core) placeLibraries(dynamic uint64) {
	w := uint64(c.ptrSize())
	debug := uint64(0)
	for i := range uint64(maxDynamic) {
		tag, ok1 := c.wordAt(dynamic + 2*w*i)
		value, ok2 := c.wordAt(dynamic + 2*w*i + w)
		if !ok1 || !ok2 || tag == uint64(elf.DT_NULL) {
			break
		}
		if tag == uint64(elf.DT_DEBUG) {
			debug = value
		}
	}
	if debug == 0 {
		return // the program was killed before its libraries were loaded
	}
	at, ok := c.wordAt(debug + w) // r_map
	seen := map[uint64]bool{}
	for first := true; ok && at != 0 && !seen[at] && len(seen) < maxLinkMaps; first = false {
		seen[at] = true
		addr, ok1 := c.wordAt(at)       // l_addr
		name, ok2 := c.wordAt(at + w)   // l_name
		ld, ok3 := c.wordAt(at + 2*w)   // l_ld
		next, ok4 := c.wordAt(at + 3*w) // l_next
		if !ok1 || !ok2 || !ok3 {
			c.warn("the core contains only a part of the dynamic linker's list of libraries")
			break
		}
		if path := c.text(name); path != "" && !first {
			c.placeLibrary(path, addr, ld)
		}
		at, ok = next, ok4
	}
	c.sortFiles()
}

// placeLibrary places a library with load bias bias, whose dynamic section was at ld.
func (c *Core) placeLibrary(path string, bias, ld uint64) {
	if vdso, ok := c.Auxv(auxVDSO); ok && vdso == bias && bias != 0 { // it is not a file
		return
	}
	local := c.findFile(path)
	file, err := image.Map(local)
	if err != nil {
		c.warn("%s was not found: its contents are unknown", path)
		return
	}
	defer file.Close()
	l, ok := layoutOf(file.Bytes())
	if !ok || l.head.Machine != c.head.Machine || l.dynamic+bias != ld || bias%c.page() != 0 {
		c.warn("%s is not the library of this core: it is not used", local)
		return
	}
	c.place(path, local, &l, bias)
}

// wordAt reads a word in the program's memory.
func (c *Core) wordAt(at uint64) (uint64, bool) {
	var b [8]byte
	n, _ := c.ReadMemory(target.Addr(at), b[:c.ptrSize()])
	return c.word(b[:c.ptrSize()]), n == c.ptrSize()
}

// text reads a string in the program's memory. It returns "" if the string is missing, or too
// long for a path.
func (c *Core) text(at uint64) string {
	b := make([]byte, maxPath)
	n, _ := c.ReadMemory(target.Addr(at), b)
	if i := bytes.IndexByte(b[:n], 0); i > 0 {
		return string(b[:i])
	}
	return ""
}
