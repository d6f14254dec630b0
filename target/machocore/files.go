package machocore

import (
	"errors"
	"fmt"
	"runtime/debug"

	"dbg/image"
	"dbg/target"
)

// OpenFile opens the Mach-O file at a path. From a fat file it opens the slice with the UUID or,
// if uuid is "", the first slice for the architecture (arch.Arch.Name).
func OpenFile(path, uuid, arch string) (*image.File, error) {
	list, err := image.Slices(path)
	if err != nil {
		return nil, err
	}
	had := ""
	for _, s := range list {
		if s.Arch == nil || s.Arch.Name != arch {
			continue
		}
		f, err := image.OpenArch(path, s.Name)
		if err != nil {
			return nil, err
		}
		if uuid == "" || f.BuildID() == uuid {
			return f, nil
		}
		had = f.BuildID()
		f.Close()
	}
	if had == "" {
		return nil, fmt.Errorf("%s: it is not for %s", path, arch)
	}
	return nil, fmt.Errorf("%s: its UUID is %s, expected %s", path, had, uuid)
}

// candidates returns the local files that may be the file of an image.
func (c *Core) candidates(im *Image) []string {
	var out []string
	if c.options.Exe != "" && (im == c.main || im.kind == 0 || im.kind == typeExecute) {
		out = append(out, c.options.Exe)
	}
	if c.options.FindFile != nil {
		return append(out, c.options.FindFile(im.Path, im.UUID)...)
	}
	if im.Path != "" {
		out = append(out, im.Path)
	}
	return out
}

// openLocal opens the file of an image. The file is identified by its UUID or, if that is
// unknown, by its path. A dSYM's file is opened only if companion is set and there is no other
// file.
func (c *Core) openLocal(im *Image, companion bool) (*image.File, error) {
	var last *image.File
	var trouble error
	for _, path := range c.candidates(im) {
		f, err := OpenFile(path, im.UUID, c.arch.Name)
		switch {
		case err != nil:
			var e *image.OpenError
			if trouble == nil && !(errors.As(err, &e) && e.Reason == image.NotFound) {
				trouble = err
			}
		case f.Kind() == image.Companion:
			if last == nil && companion {
				last = f
			} else {
				f.Close()
			}
		default:
			last.Close()
			return f, nil
		}
	}
	if last == nil && trouble == nil {
		trouble = fmt.Errorf("there is no file with UUID %s", orNone(im.UUID))
	}
	return last, trouble
}

// OpenImage opens an image for its symbols and tables: the local file with its UUID, or else the
// image in the core's memory, or else the dSYM. slide is the number to add to the file's
// addresses. The caller closes the file. A file that is read from the core can be used until the
// core is closed.
func (c *Core) OpenImage(im *Image) (f *image.File, slide uint64, err error) {
	f, err = c.openLocal(im, !im.inCore)
	if f != nil && (!im.inCore || im.laidOutAs(f)) {
		return f, uint64(im.Header) - uint64(f.HeaderAddr()), nil
	}
	if !im.inCore {
		return nil, 0, err
	}
	f.Close()
	f, err = image.FromMapped(im.Path, func(a uint64, b []byte) (int, error) { return c.ReadMemory(target.Addr(a), b) }, uint64(im.Header))
	if err != nil {
		return nil, 0, err
	}
	return f, f.Slide(), nil
}

// laidOutAs reports whether the image's segments have the same distances as in the file. In a
// dyld shared cache they do not, and their contents differ from the file's.
func (im *Image) laidOutAs(f *image.File) bool {
	slide := uint64(im.Header) - uint64(f.HeaderAddr())
	for _, s := range f.Segments() {
		for _, p := range im.segments {
			if p.name == s.Name && p.lo != uint64(s.Lo)+slide {
				return false
			}
		}
	}
	return true
}

// inFile reads the contents of the image's file at an address, from segments that the process
// can't have changed. It returns 0 if there are none.
func (c *Core) inFile(at uint64, buf []byte) int {
	e := c.extentAt(at)
	if e == nil || e.segment.write || e.segment.sizeUnknown {
		return 0
	}
	c.base.Lock()
	defer c.base.Unlock()
	if c.base.Closed() {
		return 0
	}
	im := e.image
	if !im.looked {
		im.looked = true
		f, _ := c.openLocal(im, false)
		if f != nil && (im.UUID == "" || !im.laidOutAs(f)) {
			f.Close()
			f = nil
		}
		im.local = f
	}
	off := at - e.lo
	if im.local == nil || im.UUID == "" || off >= e.segment.fileSize {
		return 0
	}
	return readFile(im.local, image.Addr(e.segment.fileAddr+off), buf[:min(uint64(len(buf)), e.segment.fileSize-off)])
}

// readFile reads from a mapped file that may be truncated meanwhile.
func readFile(f *image.File, at image.Addr, buf []byte) (n int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			n = 0
		}
	}()
	n, _ = f.ReadAt(at, buf)
	return n
}
