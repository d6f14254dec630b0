package elfcore

import (
	"debug/elf"
	"fmt"

	"dbg/arch"
	"dbg/image"
	"dbg/image/elfheader"
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
	head    elfheader.Header

	files    []mappedFile
	threads  []thread
	auxv     []byte
	process  []byte // struct elf_prpsinfo, or nil
	codeBits uint8  // from NT_ARM_PAC_MASK
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
	h, err := elfheader.Parse(b[:n])
	return err == nil && h.Type == elf.ET_CORE, nil
}

// Open maps a core file. A damaged core is opened as far as possible, and Warnings reports the
// damage.
func Open(path string, opts Options) (*Core, error) {
	return corefile.OpenWith(path, func(f *corefile.File) (*Core, error) { return parse(f, opts) })
}

// parse makes a Core from f. The Core owns f, unless there is an error.
func parse(f *corefile.File, opts Options) (*Core, error) {
	c := &Core{base: f, options: opts, images: map[string]*localFile{}, local: map[string]string{}}
	path, data := f.Path(), f.Bytes()
	var err error
	if c.head, err = elfheader.Parse(data); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, err, ErrNotCore)
	}
	if t := c.head.Progs; t.Count > 0 && t.EntrySize < c.head.SegmentSize() {
		return nil, fmt.Errorf("%s: its program headers of %d bytes are too short: %w", path, t.EntrySize, ErrNotCore)
	}
	if c.head.Type != elf.ET_CORE {
		return nil, fmt.Errorf("%s is %s: %w", path, kindName(c.head.Type), ErrNotCore)
	}
	if c.arch = archOf(&c.head); c.arch == nil {
		return nil, fmt.Errorf("%s is a core for an unsupported processor: %s", path, c.head.MachineName())
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
	data := c.base.Bytes()
	wanted, have := c.head.Progs.Count, c.head.Progs.Within(uint64(len(data)))
	if have < wanted {
		c.warn("the core file is truncated: %d of %d program headers are missing", wanted-have, wanted)
	}
	short, loads := 0, 0
	var segments []corefile.Segment
	for i := range have {
		s, ok := c.head.Segment(data, i)
		if !ok {
			break
		}
		there := uint64(len(elfheader.CutSome(data, s.Off, s.FileSize)))
		switch s.Type {
		case elf.PT_NOTE:
			if there < s.FileSize {
				c.warn("the core file is truncated in its notes; threads or registers may be missing")
			}
			if !elfheader.EachNote(data[min(s.Off, uint64(len(data))):][:there], c.head.Order, 4, c.readNote) && there == s.FileSize {
				c.warn("the core file's notes are damaged; threads or registers may be missing")
			}
		case elf.PT_LOAD:
			loads++
			if there < s.FileSize {
				short++
				s.FileSize = there
			}
			s.MemSize = max(s.MemSize, s.FileSize)
			if s.MemSize == 0 || s.Addr+s.MemSize < s.Addr {
				continue
			}
			segments = append(segments, corefile.Segment{Addr: s.Addr, Size: s.MemSize, Off: s.Off, Have: s.FileSize,
				Read: target.Permit(s.Flags&elf.PF_R != 0), Write: target.Permit(s.Flags&elf.PF_W != 0), Exec: target.Permit(s.Flags&elf.PF_X != 0)})
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
	if c.arch == arch.AMD64 && !c.head.Wide {
		return 4
	}
	return c.arch.PtrSize
}

// word reads a word of the program. b must be long enough.
func (c *Core) word(b []byte) uint64 {
	if c.ptrSize() == 8 {
		return c.head.Order.Uint64(b)
	}
	return uint64(c.head.Order.Uint32(b))
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
