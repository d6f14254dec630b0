package elfcore

import (
	"debug/elf"
	"fmt"

	"dbg/arch"
	"dbg/image"
	"dbg/target"
	"dbg/target/corefile"
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
	options Options
	base    *corefile.File // its segments are PT_LOAD
	arch    *arch.Arch
	head    header

	files    []mappedFile
	threads  []thread
	auxv     []byte
	codeBits uint8 // of NT_ARM_PAC_MASK
	pid      int
	name     string // pr_fname
	exe      string

	// Files that are opened on first use; base guards them.
	images map[string]*localFile
	local  map[string]string // of files that were placed: where they are here
}

var _ target.Target = (*Core)(nil)

// IsCore reports whether a file is an ELF core.
func IsCore(path string) (bool, error) {
	b := make([]byte, 64)
	n, err := image.Peek(path, b)
	if err != nil {
		return false, corefile.NotRegular(err)
	}
	h, err := parseHeader(b[:n])
	return err == nil && h.kind == elf.ET_CORE, nil
}

// Open maps a core file. A damaged one is opened as far as it goes, and Warnings
// says what is amiss.
func Open(path string, opts Options) (*Core, error) {
	f, err := corefile.Open(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(f, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// parse makes a Core of a file, which becomes its own.
func parse(f *corefile.File, opts Options) (*Core, error) {
	c := &Core{base: f, options: opts, images: map[string]*localFile{}, local: map[string]string{}}
	path, data := f.Path(), f.Bytes()
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
	data := c.base.Bytes()
	var segments []corefile.Segment
	for i := range c.head.phnum {
		s := c.head.segment(data, i)
		there := uint64(len(cutSome(data, s.off, s.filesz)))
		switch s.kind {
		case elf.PT_NOTE:
			if there < s.filesz {
				c.warn("the core file is truncated in its notes; threads or registers may be missing")
			}
			if !notes(data[min(s.off, uint64(len(data))):][:there], c.head.order, 4, c.readNote) && there == s.filesz {
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
			segments = append(segments, corefile.Segment{Addr: s.addr, Size: s.memsz, Off: s.off, Have: s.filesz,
				Read: target.Permit(s.flags&elf.PF_R != 0), Write: target.Permit(s.flags&elf.PF_W != 0), Exec: target.Permit(s.flags&elf.PF_X != 0)})
		}
	}
	if short > 0 {
		c.warn("the core file is truncated: %d of %d segments are not all there", short, loads)
	}
	c.base.Arrange(segments)
}

func (c *Core) warn(format string, args ...any) { c.base.Warnf(format, args...) }

// Warnings returns sentences on what is amiss with the core and its files, as
// far as that has been found out; reading memory may add to it.
func (c *Core) Warnings() []string { return c.base.Warnings() }

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
	c.base.Lock()
	defer c.base.Unlock()
	for _, im := range c.images {
		_ = im.file.Close()
	}
	c.images = nil
	return c.base.Close()
}
