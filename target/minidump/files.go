package minidump

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"dbg/image"
	"dbg/target"
	"dbg/target/machocore"
)

// candidates returns the local files that may be the file of a module.
func (d *Dump) candidates(m *Module) []string {
	var out []string
	if d.options.Exe != "" && (len(d.modules) == 0 || m == d.modules[0]) {
		out = append(out, d.options.Exe)
	}
	if d.options.FindFile != nil {
		return append(out, d.options.FindFile(m.Path, m.UUID)...)
	}
	return append(out, m.Path)
}

// openAs opens a file, and checks that it is the file of a module. The result is nil if there is an
// error.
func (d *Dump) openAs(path string, m *Module) (*image.File, error) {
	if d.system.apple() {
		return machocore.OpenFile(path, m.UUID, d.arch.Name)
	}
	f, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	if f.Arch() != d.arch {
		// A hybrid image of Windows has a view for each of two processors.
		if view, verr := image.OpenArch(path, d.arch.Name); verr == nil && view.Arch() == d.arch {
			f.Close()
			f = view
		}
	}
	switch {
	case f.Arch() != d.arch:
		err = fmt.Errorf("%s: it is not for %s", path, d.arch.Name)
	case m.identified(d) && !m.isFile(f):
		err = fmt.Errorf("%s: it is another file (id %s, the minidump has %s)", path, idOf(f), m.idText())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// idOf returns the id of a file, for messages.
func idOf(f *image.File) string {
	if id := f.BuildID(); id != "" {
		return id
	}
	if stamp, size := f.StampAndSize(); size != 0 {
		return stampText(stamp, size)
	}
	return "none"
}

// idText returns the id of a module, for messages.
func (m *Module) idText() string {
	if m.UUID != "" {
		return m.UUID
	}
	return stampText(m.Stamp, m.Size)
}

// stampText writes the time stamp and the size of an image as symbol servers do.
func stampText(stamp, size uint32) string { return fmt.Sprintf("%08X%x", stamp, size) }

// openLocal opens the file of a module. If the dump has no id of the module, the file at its path is
// taken.
func (d *Dump) openLocal(m *Module) (*image.File, error) {
	var trouble error
	for _, path := range d.candidates(m) {
		f, err := d.openAs(path, m)
		if err == nil {
			return f, nil
		}
		var e *image.OpenError
		if trouble == nil && !(errors.As(err, &e) && e.Reason == image.NotFound) {
			trouble = err
		}
	}
	if trouble == nil {
		trouble = fmt.Errorf("no file with id %s was found", m.idText())
	}
	return nil, trouble
}

// OpenListed opens a module of ListImages for its symbols and tables: the local file with its id, or
// else the image in the dump's memory. slide is the number to add to the file's addresses. The caller
// closes the file. A file that is read from the dump can be used until the dump is closed.
func (d *Dump) OpenListed(im target.Image) (f *image.File, slide uint64, err error) {
	m := d.moduleAt(uint64(im.Lo))
	if m == nil || m.Lo != im.Lo {
		return nil, 0, fmt.Errorf("%s: the minidump has no such module at %s", im.Path, im.Lo)
	}
	if f, err = d.openLocal(m); f != nil {
		if slide, ok := d.slide(m, f); ok {
			return f, slide, nil
		}
		f.Close()
		err = fmt.Errorf("%s: it is not mapped as the file describes", m.Path)
	}
	if f, slide, ok := d.openInDump(m); ok {
		return f, slide, nil
	}
	return nil, 0, err
}

// openInDump reads the image of a module from the memory in the dump.
func (d *Dump) openInDump(m *Module) (f *image.File, slide uint64, ok bool) {
	if d.system.windows() {
		f, ok := d.fromMemory(m)
		return f, 0, ok
	}
	read := func(a uint64, b []byte) (int, error) { return d.inDump(target.Addr(a), b) }
	f, err := image.FromMapped(m.Path, read, uint64(m.Lo))
	if err != nil || f.Arch() != d.arch || f.Format() == image.ELF && !f.HasSection(".dynsym") &&
		!f.HasSection(".eh_frame") {
		return nil, 0, false
	}
	return f, f.Slide(), true
}

// slide returns the number to add to the addresses of a module's file. It returns false if the module
// is not where a segment of the file begins.
func (d *Dump) slide(m *Module, f *image.File) (uint64, bool) {
	switch f.Format() {
	case image.PE:
		return uint64(m.Lo) - uint64(f.ImageBase()), true
	case image.MachO:
		return uint64(m.Lo) - uint64(f.HeaderAddr()), true
	}
	off := uint64(0)
	if r := d.regionAt(uint64(m.Lo)); r != nil && r.lo == uint64(m.Lo) && r.path == m.Path {
		off = r.offset
	}
	for _, s := range f.Segments() {
		if start := s.FileOff &^ (pageSize - 1); off >= start && off-start < s.FileSize+pageSize {
			return uint64(m.Lo) - off - (uint64(s.Lo) - s.FileOff), true
		}
	}
	return 0, false
}

const pageSize = 4096

// file returns the file of a module for its contents, once opened, or nil. The caller holds d.opening.
func (d *Dump) file(m *Module) *image.File {
	if !m.looked {
		m.looked = true
		if m.identified(d) {
			m.local, _ = d.openLocal(m)
		}
	}
	return m.local
}

// inFile reads the contents of a module's file at an address, from segments that the process can't
// have changed. It returns 0 if there are none.
func (d *Dump) inFile(at uint64, buf []byte) int {
	m := d.moduleAt(at)
	if m == nil {
		return 0
	}
	d.opening.Lock()
	defer d.opening.Unlock()
	f := d.file(m)
	if f == nil {
		return 0
	}
	slide, ok := d.slide(m, f)
	if !ok {
		return 0
	}
	addr := image.Addr(at - slide)
	for _, s := range f.Segments() {
		if addr < s.Lo || addr >= s.Hi || s.Write || uint64(addr-s.Lo) >= s.FileSize {
			continue
		}
		n := min(uint64(len(buf)), s.FileSize-uint64(addr-s.Lo))
		if f.Format() == image.PE {
			n = min(n, unchanged(f, &s, addr, slide != 0))
		}
		return readFile(f, addr, buf[:n])
	}
	return 0
}

// unchanged returns the number of bytes at an address of a PE file that the loader has not changed.
// It writes addresses of imports into read-only sections, so only code counts. If the image is not
// at its preferred base, the loader also changes the places in the table of relocations: it has
// blocks with the address of a page, a size, and an entry of 16 bits for each place ("PE Format",
// The .reloc Section). The pages with places are left out.
func unchanged(f *image.File, s *image.Segment, addr image.Addr, moved bool) uint64 {
	if !s.Exec {
		return 0
	}
	n := uint64(s.Hi - addr)
	if !moved {
		return n
	}
	table, ok := f.Section(".reloc")
	if !ok {
		return 0
	}
	for b := table.Data; len(b) >= 8; {
		page, size := f.ImageBase()+image.Addr(le.Uint32(b)), uint64(le.Uint32(b[4:]))
		if size < 8 || size > uint64(len(b)) {
			break
		}
		// The last place of a page may extend into the next one.
		if end := page + pageSize + 8; addr < end && size > 8 {
			if page <= addr {
				return 0
			}
			n = min(n, uint64(page-addr))
		}
		b = b[size:]
	}
	return n
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

// BaseName returns the last part of a path of any system.
func BaseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
