// Package corefile implements the parts that core files of every format share: the mapped file,
// the memory in it, and warnings about damage. The packages elfcore and machocore, which read the
// formats, are built on it.
package corefile

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sort"
	"sync"

	"dbg/image"
	"dbg/target"
)

// ErrNotCore is wrapped by the error of opening a file that is not a core.
var ErrNotCore = errors.New("not a core file")

// maxWarnings limits the number of warnings about one core.
const maxWarnings = 100

// Segment is a range of memory that the core contains or describes.
type Segment struct {
	Addr, Size        uint64 // Addr+Size does not wrap around
	Off, Have         uint64 // the bytes in the file; Have is at most Size
	Read, Write, Exec target.Permission
}

// End returns the first address after the segment.
func (s *Segment) End() uint64 { return s.Addr + s.Size }

// File is a core file. Its lock guards the mapping against Close, the warnings, and the state
// that its owner computes later. The comments of methods say if the lock must be held.
type File struct {
	sync.RWMutex

	path     string
	mapping  *image.Mapping // nil if the bytes belong to the caller of New
	data     []byte
	segments []Segment // by address, not overlapping, once Arrange was called
	closed   bool
	warnings []string
}

// Open maps a core file. The error is one sentence for the user. It wraps ErrNotCore if the file
// can't be a core of any format.
func Open(path string) (*File, error) {
	m, err := image.Map(path)
	if err != nil {
		var e *image.OpenError
		if errors.As(err, &e) {
			switch e.Reason {
			case image.IsDirectory:
				return nil, fmt.Errorf("%s is a directory: %w", path, ErrNotCore)
			case image.IsEmpty:
				return nil, fmt.Errorf("%s is empty: %w", path, ErrNotCore)
			case image.UnknownFormat:
				return nil, fmt.Errorf("%s is not a regular file: %w", path, ErrNotCore)
			}
		}
		return nil, err
	}
	f := New(path, m.Bytes())
	f.mapping = m
	return f, nil
}

// OpenWith opens a core file and calls parse with it. If parse returns an error, it closes the
// file.
func OpenWith[Core any](path string, parse func(*File) (Core, error)) (c Core, err error) {
	f, err := Open(path)
	if err != nil {
		return c, err
	}
	if c, err = parse(f); err != nil {
		f.Close()
	}
	return c, err
}

// NotRegular returns nil if an error of image.Peek means that the path is not a regular file:
// then it is not a core. It returns other errors unchanged.
func NotRegular(err error) error {
	var e *image.OpenError
	if errors.As(err, &e) && (e.Reason == image.IsDirectory || e.Reason == image.UnknownFormat) {
		return nil
	}
	return err
}

// New makes a File from data, which belongs to the caller and must not change.
func New(path string, data []byte) *File { return &File{path: path, data: data} }

// Path returns the path with which the core was opened.
func (f *File) Path() string { return f.path }

// Bytes returns the whole file. The lock must be held, unless the File is not shared yet.
func (f *File) Bytes() []byte { return f.data }

// Closed reports whether Close was called. The lock must be held.
func (f *File) Closed() bool { return f.closed }

// Close unmaps the file. The lock must be held. A second Close does nothing.
func (f *File) Close() error {
	f.closed, f.data = true, nil
	return f.mapping.Close()
}

// Warnf adds a warning, unless the same warning exists already. The lock must be held, unless the
// File is not shared yet.
func (f *File) Warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(f.warnings) < maxWarnings && !slices.Contains(f.warnings, text) {
		f.warnings = append(f.warnings, text)
	}
}

// Warnings returns the warnings so far. It takes the lock.
func (f *File) Warnings() []string {
	f.RLock()
	defer f.RUnlock()
	return slices.Clone(f.warnings)
}

// Arrange sets the segments, which it takes in file order. The segments of a valid core do not
// overlap. Of segments that overlap, Arrange keeps the one with the lowest address and adds a
// warning.
func (f *File) Arrange(segments []Segment) {
	slices.SortStableFunc(segments, func(a, b Segment) int { return cmp.Compare(a.Addr, b.Addr) })
	end, overlaps := uint64(0), 0
	f.segments = slices.DeleteFunc(segments, func(s Segment) bool {
		if s.Addr < end {
			overlaps++
			return true
		}
		end = s.End()
		return false
	})
	if overlaps > 0 {
		f.Warnf("the core file is damaged: %d segments overlap others and are ignored", overlaps)
	}
}

// Segments lists the segments by address. The caller must not change the slice.
func (f *File) Segments() []Segment { return f.segments }

// SegmentAt returns the segment at an address, or nil.
func (f *File) SegmentAt(at uint64) *Segment {
	i := sort.Search(len(f.segments), func(i int) bool { return f.segments[i].Addr > at }) - 1
	if i < 0 || at-f.segments[i].Addr >= f.segments[i].Size {
		return nil
	}
	return &f.segments[i]
}

// At returns the core's bytes from an address to the end of the contents of its segment, or
// nothing if the core has no bytes there. The lock must be held, unless the File is not shared
// yet.
func (f *File) At(at uint64) []byte {
	s := f.SegmentAt(at)
	if s == nil || f.closed || at-s.Addr >= s.Have {
		return nil
	}
	off, n := s.Off+(at-s.Addr), s.Have-(at-s.Addr)
	if off > uint64(len(f.data)) || n > uint64(len(f.data))-off {
		return nil
	}
	return f.data[off : off+n]
}

// Some is At with a limit of n bytes.
func (f *File) Some(at, n uint64) []byte {
	b := f.At(at)
	return b[:min(n, uint64(len(b)))]
}

// Next returns the lowest address, at or above at, for which the core has bytes.
func (f *File) Next(at uint64) (uint64, bool) {
	i := sort.Search(len(f.segments), func(i int) bool { return f.segments[i].Addr > at })
	for ; i < len(f.segments); i++ {
		if f.segments[i].Have > 0 {
			return f.segments[i].Addr, true
		}
	}
	return 0, false
}

// ReadMemory reads like target.Memory. Where the core has no bytes it calls missing, which fills
// the start of its buffer from elsewhere and returns how many bytes it had. ReadMemory takes the
// lock, and does not hold it while it calls missing.
func (f *File) ReadMemory(addr target.Addr, buf []byte, missing func(at uint64, buf []byte) int) (int, error) {
	n := 0
	for n < len(buf) {
		at := uint64(addr) + uint64(n)
		if at < uint64(addr) {
			break // past the end of the address space
		}
		got, whole := f.readSome(at, buf[n:], missing)
		n += got
		if got == 0 || !whole {
			break
		}
	}
	if n < len(buf) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: "not in the core file"}
	}
	return n, nil
}

// readSome reads one piece. whole is false if the file was truncated.
func (f *File) readSome(at uint64, buf []byte, missing func(at uint64, buf []byte) int) (n int, whole bool) {
	f.RLock()
	from := f.At(at)
	n, whole = CopyMapped(buf, from)
	f.RUnlock()
	if len(from) > 0 {
		return n, whole
	}
	if next, ok := f.Next(at); ok {
		buf = buf[:min(uint64(len(buf)), next-at)]
	}
	return missing(at, buf), true
}

// CopyMapped copies from a mapped file. If the file was truncated after it was mapped, an access
// beyond its new end faults: then the copy ends before that byte, and whole is false.
func CopyMapped(to, from []byte) (n int, whole bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			n, whole = 0, false
		}
	}()
	return copy(to, from), true
}
