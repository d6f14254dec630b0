package elfcore

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/internal/fault"
	"dbg/target"
)

// Options says where a core's files are.
type Options struct {
	// Exe is the program that dumped the core, if the user knows it.
	Exe string

	// FindFile maps a path that the core has recorded to a local file; buildID is
	// what the core knows of it, or "". nil, and a result of "", leave the path as it is.
	FindFile func(path, buildID string) string
}

// Core is a core file. Its methods may be called from any goroutine.
type Core struct {
	path    string
	options Options
	data    []byte // the file, mapped
	arch    *arch.Arch
	head    header

	segments []segment // PT_LOAD, by address, not overlapping
	files    []mappedFile
	threads  []thread
	auxv     []byte
	codeBits uint8 // of NT_ARM_PAC_MASK
	pid      int
	name     string // pr_fname
	exe      string

	// lock guards what is found out late: files that are opened on first use,
	// and the warnings that this gives; and closing against reading.
	lock     sync.RWMutex
	closed   bool
	images   map[string]*image
	local    map[string]string // of files that were placed: where they are here
	warnings []string
}

var _ target.Target = (*Core)(nil)

// IsCore reports whether a file is an ELF core.
func IsCore(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not be waited for
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	b := make([]byte, 64)
	n, _ := f.ReadAt(b, 0)
	h, err := parseHeader(b[:n])
	return err == nil && h.kind == elf.ET_CORE, nil
}

// Open maps a core file. A damaged one is opened as far as it goes, and Warnings
// says what is amiss.
func Open(path string, opts Options) (*Core, error) {
	data, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(path, data, opts)
	if err != nil {
		unmap(data)
		return nil, err
	}
	return c, nil
}

// parse makes a Core of a file's bytes, which it keeps.
func parse(path string, data []byte, opts Options) (*Core, error) {
	c := &Core{path: path, options: opts, data: data, images: map[string]*image{}, local: map[string]string{}}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s is empty: %w", path, ErrNotCore)
	}
	var err error
	if c.head, err = parseHeader(data); err != nil {
		return nil, fmt.Errorf("%s %w: %w", path, err, ErrNotCore)
	}
	if c.head.kind != elf.ET_CORE {
		return nil, fmt.Errorf("%s is %s: %w", path, kindName(c.head.kind), ErrNotCore)
	}
	if c.arch = archOf(&c.head); c.arch == nil {
		return nil, fmt.Errorf("%s is a core of a processor that is not supported: %s", path, machineName(&c.head))
	}
	c.readSegments()
	if len(c.threads) == 0 {
		c.warn("the core file has no threads: none of its notes has registers")
	}
	c.placeFiles()
	c.findExe()
	return c, nil
}

// readSegments goes through the program headers.
func (c *Core) readSegments() {
	if c.head.phnum < c.head.wantedHeaders {
		c.warn("the core file is truncated: %d of %d program headers are not there", c.head.wantedHeaders-c.head.phnum, c.head.wantedHeaders)
	}
	short, loads := 0, 0
	for i := range c.head.phnum {
		s := c.head.segment(c.data, i)
		there := uint64(len(cutSome(c.data, s.off, s.filesz)))
		switch s.kind {
		case elf.PT_NOTE:
			if there < s.filesz {
				c.warn("the core file is truncated in its notes; threads or registers may be missing")
			}
			if !notes(c.data[min(s.off, uint64(len(c.data))):][:there], c.head.order, 4, c.readNote) && there == s.filesz {
				c.warn("the core file's notes are damaged; threads or registers may be missing")
			}
		case elf.PT_LOAD:
			loads++
			if there < s.filesz {
				short++
				s.filesz = there
			}
			s.memsz = max(s.memsz, s.filesz)
			if s.memsz == 0 || s.addr+s.memsz < s.addr {
				continue
			}
			c.segments = append(c.segments, s)
		}
	}
	if short > 0 {
		c.warn("the core file is truncated: %d of %d segments are not all there", short, loads)
	}
	slices.SortStableFunc(c.segments, func(a, b segment) int { return cmp.Compare(a.addr, b.addr) })
	// Segments of a sound core don't overlap. The first one wins.
	end, overlaps := uint64(0), 0
	c.segments = slices.DeleteFunc(c.segments, func(s segment) bool {
		if s.addr < end {
			overlaps++
			return true
		}
		end = s.addr + s.memsz
		return false
	})
	if overlaps > 0 {
		c.warn("the core file is damaged: %d segments overlap others and are ignored", overlaps)
	}
}

func (c *Core) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(c.warnings) < 100 && !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

// Warnings returns sentences on what is amiss with the core and its files, as
// far as that has been found out; reading memory may add to it.
func (c *Core) Warnings() []string {
	c.lock.RLock()
	defer c.lock.RUnlock()
	return slices.Clone(c.warnings)
}

func (c *Core) Arch() *arch.Arch  { return c.arch }
func (c *Core) Kind() target.Kind { return target.Core }
func (c *Core) PID() int          { return c.pid }
func (c *Core) Exe() string       { return c.exe }

// SetRegister and WriteMemory give target.ErrReadOnly.
func (c *Core) SetRegister(target.ThreadID, arch.Reg, uint64) error { return target.ErrReadOnly }
func (c *Core) WriteMemory(a target.Addr, data []byte) (int, error) { return 0, target.ErrReadOnly }

// Auxv implements target.Target.
func (c *Core) Auxv(typ uint64) (uint64, bool) {
	n := c.ptrSize()
	for b := c.auxv; len(b) >= 2*n; b = b[2*n:] {
		switch t := c.word(b); t {
		case typ:
			return c.word(b[n:]), true
		case 0:
			return 0, false
		}
	}
	return 0, false
}

// ptrSize returns the size of a pointer of the program in bytes. Programs of x32 have the registers and the stack words of x86-64, and
// pointers of 4 bytes (System V ABI, AMD64 supplement, "ILP32 Programming Model").
func (c *Core) ptrSize() int {
	if c.arch == arch.AMD64 && !c.head.wide {
		return 4
	}
	return c.arch.PtrSize
}

// word reads a word of the program; b has one.
func (c *Core) word(b []byte) uint64 {
	if c.ptrSize() == 8 {
		return c.head.order.Uint64(b)
	}
	return uint64(c.head.order.Uint32(b))
}

// Close implements target.Target.
func (c *Core) Close() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	for _, im := range c.images {
		unmap(im.data)
	}
	unmap(c.data)
	c.images, c.data = nil, nil
	return nil
}

// mapFile maps a whole file.
func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not be waited for
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: %w", path, ErrNotCore)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file: %w", path, ErrNotCore)
	case info.Size() == 0:
		return nil, nil
	case int64(int(info.Size())) != info.Size():
		return nil, fmt.Errorf("%s is too large to be mapped", path)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%s can't be mapped: %w", path, err)
	}
	fault.Mapped(data, path)
	return data, nil
}

func unmap(data []byte) {
	if data != nil {
		fault.Unmapped(data)
		_ = unix.Munmap(data)
	}
}
