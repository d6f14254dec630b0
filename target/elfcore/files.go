package elfcore

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"dbg/image"
	"dbg/image/elfheader"
	"dbg/target"
	"dbg/target/corefile"
)

// mappedFile is one entry in NT_FILE.
type mappedFile struct {
	lo, hi, off uint64
	path        string
	deleted     bool
}

// localFile is the local copy of a mapped file. file is nil if the copy can't be opened, or is
// not the file that the process had mapped.
type localFile struct {
	file *image.Mapping
	at   string // the local path
}

// sortFiles sorts the files by address.
func (c *Core) sortFiles() {
	slices.SortStableFunc(c.files, func(a, b mappedFile) int { return cmp.Compare(a.lo, b.lo) })
}

// fileAt returns the file mapped at an address, or nil.
func (c *Core) fileAt(at uint64) *mappedFile {
	i := sort.Search(len(c.files), func(i int) bool { return c.files[i].lo > at }) - 1
	if i < 0 || at >= c.files[i].hi {
		return nil
	}
	return &c.files[i]
}

// open finds and opens the local copy of a mapped file, once. It may panic if the core is
// truncated while the build id is read.
func (c *Core) open(f *mappedFile) *localFile {
	c.base.Lock()
	defer c.base.Unlock()
	if c.base.Closed() {
		return nil
	}
	im := c.images[f.path]
	if im == nil {
		im = c.find(f)
		c.images[f.path] = im
	}
	return im
}

func (c *Core) find(f *mappedFile) *localFile {
	want, known := c.buildIDOf(f.path)
	im := &localFile{at: f.path}
	given := c.options.Exe != "" && f.path == c.recordedExe()
	if given {
		im.at = c.options.Exe
	} else if at := c.local[f.path]; at != "" {
		im.at = at
	} else if c.options.FindFile != nil {
		if at := c.options.FindFile(f.path, want); at != "" {
			im.at = at
		}
	}
	file, err := image.Map(im.at)
	if err != nil {
		return im
	}
	have, ok := fileBuildID(file.Bytes())
	switch {
	case known && have != want:
		if !given { // else findExe has reported it
			c.warn("%s is not the file that was mapped in the core (%s)", im.at, idClause(have, ok, want))
		}
		_ = file.Close()
	case !known && f.deleted && im.at == f.path:
		// The path now has another file, and no build id to compare.
		c.warn("%s had been deleted or replaced when the core was made", f.path)
		_ = file.Close()
	default:
		im.file = file
	}
	return im
}

func idClause(have string, ok bool, want string) string {
	if !ok {
		return fmt.Sprintf("it has no build id, the core has %s", want)
	}
	return fmt.Sprintf("build id %s, the core has %s", have, want)
}

// buildIDOf returns the build id of a mapped file according to the core. It is in the file's
// first page, which the kernel dumps for this purpose (core(5), bit 4 of coredump_filter).
func (c *Core) buildIDOf(path string) (string, bool) {
	for i := range c.files {
		f := &c.files[i]
		if f.path != path || f.off != 0 {
			continue
		}
		head := c.base.Some(f.lo, min(f.hi-f.lo, 1<<16))
		id := elfheader.BuildID(head, func(s elfheader.Segment) []byte {
			if s.Off >= f.hi-f.lo {
				return nil
			}
			return c.base.Some(f.lo+s.Off, s.FileSize)
		})
		return id, id != ""
	}
	return "", false
}

// fileBuildID returns the build id of a file on disk.
func fileBuildID(data []byte) (id string, ok bool) {
	id = elfheader.BuildID(data, func(s elfheader.Segment) []byte { return elfheader.CutSome(data, s.Off, s.FileSize) })
	return id, id != ""
}

// recordedExe returns the path of the program recorded in the core: the file that contains the
// entry point or the program headers.
func (c *Core) recordedExe() string {
	for _, typ := range []uint64{auxENTRY, auxPHDR} {
		if v, ok := c.Auxv(typ); ok {
			if f := c.fileAt(v); f != nil {
				return f.path
			}
		}
	}
	return ""
}

// findExe determines the main program, and compares the given program with the core.
func (c *Core) findExe() {
	recorded := c.recordedExe()
	c.exe = c.options.Exe
	if c.exe == "" {
		c.exe = recorded
		return
	}
	want, known := c.buildIDOf(recorded)
	if !known {
		return
	}
	file, err := image.Map(c.exe)
	if err != nil {
		c.warn("%s can't be read: %v", c.exe, err)
		return
	}
	defer file.Close()
	if have, ok := fileBuildID(file.Bytes()); have != want {
		c.warn("%s is not the program of this core (%s)", c.exe, idClause(have, ok, want))
	}
}

// Mappings implements target.Target. It returns the segments, split where a mapped file begins or
// ends, with the files' names, and files that no segment covers.
func (c *Core) Mappings() ([]target.Mapping, error) {
	parts := make([]corefile.Part, len(c.files))
	for i, f := range c.files {
		parts[i] = corefile.Part{Lo: f.lo, Hi: f.hi, Path: f.path, Offset: f.off, Deleted: f.deleted}
	}
	list := c.base.Mappings(parts)
	if at, ok := c.Auxv(auxVDSO); ok {
		for i := range list {
			if m := &list[i]; uint64(m.Lo) == at && m.Path == "" {
				m.Path = "[vdso]"
			}
		}
	}
	return list, nil
}
