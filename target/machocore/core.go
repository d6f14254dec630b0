package machocore

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/internal/fault"
	"dbg/target"
)

// Options says where the images' files are.
type Options struct {
	// Exe is the main program's file, if the user knows it.
	Exe string

	// FindFile maps the path that an image had, and its UUID (32 hex digits, ""
	// if not known), to local files that may be it, the likeliest first. nil
	// means that the path itself is tried.
	FindFile func(path, uuid string) []string
}

// Core is a Mach-O core file. Its methods may be called from any goroutine.
type Core struct {
	path    string
	options Options
	data    []byte // the file, mapped
	arch    *arch.Arch
	head    header

	segments []segment // by address, not overlapping
	threads  []thread
	images   []*Image // by the address of their header
	extents  []extent // of the images, by address, not overlapping
	main     *Image   // nil if not known
	notes    notes
	platform string

	// lock guards what is found out late, files that are opened on first use
	// and the warnings that this gives, and closing against reading.
	lock     sync.RWMutex
	closed   bool
	warnings []string
}

var _ target.Target = (*Core)(nil)

// IsCore reports whether a file is a Mach-O core.
func IsCore(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not be waited for
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	h, err := parseHeader(b[:n])
	return err == nil && h.kind == typeCore, nil
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
	c := &Core{path: path, options: opts, data: data}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s is empty: %w", path, ErrNotCore)
	}
	var err error
	if c.head, err = parseHeader(data); err != nil {
		return nil, fmt.Errorf("%s %w: %w", path, err, ErrNotCore)
	}
	if c.head.kind != typeCore {
		return nil, fmt.Errorf("%s is %s: %w", path, c.head.kindName(), ErrNotCore)
	}
	if c.arch = c.head.arch(); c.arch == nil {
		return nil, fmt.Errorf("%s is a core of a processor that is not supported: %s", path, c.head.machine())
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

// mostThreads bounds what is believed of a file.
const mostThreads = 1 << 16

// readCommands goes through the load commands.
func (c *Core) readCommands() {
	if uint64(len(c.head.commands)) < c.head.wanted {
		c.warn("the core file is truncated in its load commands; threads and memory are missing")
	}
	short, loads, bad := 0, 0, 0
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
			if there := uint64(len(cutSome(c.data, s.off, s.have))); there < s.have {
				short++
				s.have = there
			}
			if s.size > 0 {
				c.segments = append(c.segments, s)
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
		c.warn("the core file is damaged: %d of %d segments make no sense", bad, loads)
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
		end = s.end()
		return false
	})
	if overlaps > 0 {
		c.warn("the core file is damaged: %d segments overlap others and are ignored", overlaps)
	}
}

// readBuildVersion reads LC_BUILD_VERSION: platform, then the version of the
// system as xxxx.yy.zz in nibbles.
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

// Platform names the system that the process ran on, as LC_BUILD_VERSION or the note
// "main bin spec" has it: "macOS 14.5". It is "" if the core does not say.
func (c *Core) Platform() string { return c.platform }

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

// PID is 0: no part of the file has it.
func (c *Core) PID() int { return 0 }

// SetRegister and WriteMemory give target.ErrReadOnly.
func (c *Core) SetRegister(target.ThreadID, arch.Reg, uint64) error { return target.ErrReadOnly }
func (c *Core) WriteMemory(a target.Addr, data []byte) (int, error) { return 0, target.ErrReadOnly }

// Auxv implements target.Target: there is no such thing on this system.
func (c *Core) Auxv(typ uint64) (uint64, bool) { return 0, false }

// Close implements target.Target.
func (c *Core) Close() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	for _, im := range c.images {
		_ = im.local.Close()
		im.local = nil
	}
	unmap(c.data)
	c.data = nil
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
