package compare

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"dbg/arch"
	"dbg/frames/module"
	"dbg/image"
	"dbg/row"
)

// File is a file whose tables are compared. It belongs to one goroutine.
type File struct {
	img    *image.File
	debug  *image.File
	arch   *arch.Arch
	module *module.Module
	tables []*module.Source
}

// Open finds the tables of a file. The file stays the caller's. Call Close when done.
func Open(img *image.File) (*File, error) {
	f := &File{img: img, arch: img.Arch()}
	if f.arch == nil {
		return nil, fmt.Errorf("%s: it is for %s, of which dbg knows no registers", img.Path(), img.Machine())
	}
	if img.Kind() == image.Relocatable {
		return nil, fmt.Errorf("%s: tables of relocatable files can't be compared", img.Path())
	}
	if !img.HasSection(".debug_frame") {
		f.debug, _, _ = img.DebugFile(nil)
	}
	f.module = module.Of(img, f.debug)
	for _, s := range f.module.AllSources(f.arch) {
		if !s.IsDerived() && s.Entries() > 0 {
			f.tables = append(f.tables, s)
		}
	}
	return f, nil
}

// Close closes what Open opened.
func (f *File) Close() { f.debug.Close() }

// Arch returns the architecture of the file.
func (f *File) Arch() *arch.Arch { return f.arch }

// Tables returns the names of the file's tables, those of their sections, in the order in which the
// unwinder uses them.
func (f *File) Tables() (names []string) {
	for _, s := range f.tables {
		names = append(names, s.Name())
	}
	return names
}

// table returns the table with a name: that of its section, with or without the dots or underscores
// before it, or the command line's word for it.
func (f *File) table(name string) (*module.Source, error) {
	section := map[string]string{"compact": "__unwind_info", "exidx": ".ARM.exidx", "orc": ".orc_unwind"}[name]
	for _, s := range f.tables {
		if n := s.Name(); n == name || n == section || strings.TrimLeft(n, "._") == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: it has no table %s: expected one of %s", f.img.Path(), name, strings.Join(f.Tables(), ", "))
}

// span is a range of addresses with one row.
type span struct {
	lo, hi uint64
	bad    bool // the table has no row that can be read
	row    row.Row
}

var errOutOfOrder = errors.New("the table is out of order")

// spans iterates over the rows of a table by ascending address. Ranges do not overlap. The span
// belongs to the iterator. A table that is out of order ends with an error.
func spans(s *module.Source) iter.Seq2[*span, error] {
	return func(yield func(*span, error) bool) {
		var x span
		last, stopped, disorder := uint64(0), false, false
		s.EachRow(0, s.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
			if lo < last || hi < lo {
				disorder = true
				return false
			}
			if lo == hi {
				return true
			}
			last = hi
			x.lo, x.hi, x.bad = lo, hi, r == nil
			if r != nil {
				x.row.CopyFrom(r)
			}
			stopped = !yield(&x, nil)
			return !stopped
		})
		if disorder && !stopped {
			yield(nil, fmt.Errorf("%s: %w", s.Name(), errOutOfOrder))
		}
	}
}
