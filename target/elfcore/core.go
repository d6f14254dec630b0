package elfcore

import (
	"debug/elf"
	"fmt"

	"dbg/arch"
	"dbg/image"
	"dbg/target"
	"dbg/target/corefile"
)

// Options specifies where the files of a core are.
type Options struct {
	// Exe is the program that dumped the core, or "" if unknown.
	Exe string

	// FindFile maps a path recorded in the core to a local file. buildID is the build id in the
	// core, or "". If FindFile is nil or returns "", the path itself is used.
	FindFile func(path, buildID string) string
}

// Core is a core file. Its methods may be called from any goroutine.
type Core struct {
	options Options
	base    *corefile.File // its segments are the PT_LOAD segments
	arch    *arch.Arch
	head    header

	files    []mappedFile
	threads  []thread
	auxv     []byte
	codeBits uint8 // from NT_ARM_PAC_MASK
	pid      int
	name     string // pr_fname
	exe      string

	// Files that are opened on first use, guarded by base.
	images map[string]*localFile
	local  map[string]string // local paths of placed files
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

// Open maps a core file. A damaged core is opened as far as possible, and Warnings reports the
// damage.
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

// parse makes a Core from f, and takes ownership of f.
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
		return nil, fmt.Errorf("%s is a core for an unsupported processor: %s", path, machineName(&c.head))
	}
	c.readSegments()
	if len(c.threads) == 0 {
		c.warn("the core file has no threads: none of its notes has registers")
	}
	c.placeFiles()
	c.findExe()
	return c, nil
}

// readSegments reads the program headers.
func (c *Core) readSegments() {
	if c.head.phnum < c.head.wantedHeaders {
		c.warn("the core file is truncated: %d of %d program headers are missing", c.head.wantedHeaders-c.head.phnum, c.head.wantedHeaders)
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
		c.warn("the core file is truncated: %d of %d segments are incomplete", short, loads)
	}
	c.base.Arrange(segments)
}

func (c *Core) warn(format string, args ...any) { c.base.Warnf(format, args...) }

// Warnings returns sentences about problems with the core and its files, as found so far. Reading
// memory may add more.
func (c *Core) Warnings() []string { return c.base.Warnings() }

func (c *Core) Arch() *arch.Arch  { return c.arch }
func (c *Core) Kind() target.Kind { return target.Core }
func (c *Core) PID() int          { return c.pid }
func (c *Core) Exe() string       { return c.exe }

// SetRegister and WriteMemory return target.ErrReadOnly.
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

// ptrSize returns the program's pointer size in bytes. x32 programs have the registers and the
// stack words of x86-64, but pointers of 4 bytes (System V ABI, AMD64 supplement, "ILP32
// Programming Model").
func (c *Core) ptrSize() int {
	if c.arch == arch.AMD64 && !c.head.wide {
		return 4
	}
	return c.arch.PtrSize
}

// word reads a word of the program. b must be long enough.
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
