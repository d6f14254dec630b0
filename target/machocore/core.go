package machocore

import (
	"fmt"

	"dbg/arch"
	"dbg/image"
	"dbg/target"
	"dbg/target/corefile"
)

// Options specifies where the files of the images are.
type Options struct {
	// Exe is the file of the main program, or "" if unknown.
	Exe string

	// FindFile maps the path that an image had, and its UUID (32 hex digits, or "" if unknown),
	// to candidate local files, the likeliest first. If it is nil, the path itself is tried.
	FindFile func(path, uuid string) []string
}

// Core is a Mach-O core file. Its methods may be called from any goroutine.
type Core struct {
	options Options
	base    *corefile.File // its lock also guards files that are opened on first use
	arch    *arch.Arch
	head    header

	threads  []thread
	images   []*Image // by the address of their header
	extents  []extent // memory of the images, by address, not overlapping
	main     *Image   // nil if unknown
	notes    notes
	platform string
}

var _ target.Target = (*Core)(nil)

// IsCore reports whether a file is a Mach-O core.
func IsCore(path string) (bool, error) {
	b := make([]byte, 32)
	n, err := image.Peek(path, b)
	if err != nil {
		return false, corefile.NotRegular(err)
	}
	h, err := parseHeader(b[:n])
	return err == nil && h.kind == typeCore, nil
}

// Open maps a core file. A damaged core is opened as far as possible, and Warnings reports the
// damage.
func Open(path string, opts Options) (*Core, error) {
	return corefile.OpenWith(path, func(f *corefile.File) (*Core, error) { return parse(f, opts) })
}

// parse makes a Core from f. The Core owns f, unless there is an error.
func parse(f *corefile.File, opts Options) (*Core, error) {
	c := &Core{base: f, options: opts}
	path, data := f.Path(), f.Bytes()
	var err error
	if c.head, err = parseHeader(data); err != nil {
		return nil, fmt.Errorf("%s %w: %w", path, err, ErrNotCore)
	}
	if c.head.kind != typeCore {
		return nil, fmt.Errorf("%s is %s: %w", path, c.head.kindName(), ErrNotCore)
	}
	if c.arch = c.head.arch(); c.arch == nil {
		return nil, fmt.Errorf("%s is a core for an unsupported processor: %s", path, c.head.machine())
	}
	c.readCommands()
	if len(c.threads) == 0 {
		c.warn("the core file has no threads: none of its load commands has registers")
	}
	c.nameThreads()
	c.findImages()
	c.findSignals()
	return c, nil
}

// mostThreads limits the number of threads that a file may have.
const mostThreads = 1 << 16

// readCommands reads the load commands.
func (c *Core) readCommands() {
	if uint64(len(c.head.commands)) < c.head.wanted {
		c.warn("the core file is truncated in its load commands; threads and memory are missing")
	}
	short, loads, bad := 0, 0, 0
	var segments []corefile.Segment
	for cmd, b := range c.head.each() {
		switch cmd {
		case 0:
			c.warn("the core file is damaged: a load command has an impossible size; threads and memory may be missing")
		case lcSegment, lcSegment64:
			loads++
			s, ok := parseSegment(cmd, b)
			if !ok {
				bad++
				continue
			}
			if there := uint64(len(cutSome(c.base.Bytes(), s.Off, s.Have))); there < s.Have {
				short++
				s.Have = there
			}
			if s.Size > 0 {
				segments = append(segments, s)
			}
		case lcThread, lcUnixThread:
			if len(c.threads) < mostThreads {
				c.readThread(b[8:])
			}
		case lcNote:
			c.readNote(b)
		case lcBuildVersion:
			c.readBuildVersion(b)
		}
	}
	if bad > 0 {
		c.warn("the core file is damaged: %d of %d segments are invalid", bad, loads)
	}
	if short > 0 {
		c.warn("the core file is truncated: %d of %d segments are incomplete", short, loads)
	}
	c.base.Arrange(segments)
}

// readBuildVersion reads LC_BUILD_VERSION: the platform, then the version of the system as
// xxxx.yy.zz in nibbles.
func (c *Core) readBuildVersion(b []byte) {
	if len(b) < 16 || c.platform != "" {
		return
	}
	v := le.Uint32(b[12:])
	c.platform = fmt.Sprintf("%s %d.%d", platformName(le.Uint32(b[8:])), v>>16, v>>8&0xff)
	if v&0xff != 0 {
		c.platform += fmt.Sprintf(".%d", v&0xff)
	}
}

// platformName names a PLATFORM_ constant of <mach-o/loader.h>.
func platformName(n uint32) string {
	names := [...]string{1: "macOS", 2: "iOS", 3: "tvOS", 4: "watchOS", 5: "bridgeOS", 6: "Mac Catalyst", 7: "iOS Simulator",
		8: "tvOS Simulator", 9: "watchOS Simulator", 10: "DriverKit", 11: "visionOS", 12: "visionOS Simulator"}
	if n > 0 && int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("platform %d", n)
}

// Platform returns the name and version of the system on which the process ran, such as "macOS
// 14.5", from LC_BUILD_VERSION or the note "main bin spec". It returns "" if the core does not
// contain it.
func (c *Core) Platform() string { return c.platform }

func (c *Core) warn(format string, args ...any) { c.base.Warnf(format, args...) }

// Warnings returns sentences about problems with the core and its files, as found so far. Reading
// memory may add more.
func (c *Core) Warnings() []string { return c.base.Warnings() }

func (c *Core) Arch() *arch.Arch  { return c.arch }
func (c *Core) Kind() target.Kind { return target.Core }

// PID returns 0: the file does not contain the process id.
func (c *Core) PID() int { return 0 }

// SetRegister and WriteMemory return target.ErrReadOnly.
func (c *Core) SetRegister(target.ThreadID, arch.Reg, uint64) error { return target.ErrReadOnly }
func (c *Core) WriteMemory(a target.Addr, data []byte) (int, error) { return 0, target.ErrReadOnly }

// Auxv implements target.Target. It returns false: this system has no auxiliary vector.
func (c *Core) Auxv(typ uint64) (uint64, bool) { return 0, false }

// Close implements target.Target.
func (c *Core) Close() error {
	c.base.Lock()
	defer c.base.Unlock()
	for _, im := range c.images {
		_ = im.local.Close()
		im.local = nil
	}
	return c.base.Close()
}
