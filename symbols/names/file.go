package names

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"dbg/dwarf"
	"dbg/image"
)

// A saved index is a file whose name is the build id of the file that it describes: a header, the
// names, the functions. It is for the machine that wrote it: the records are as they are in memory,
// so that the file is mapped and not read. Each file is written under another name and then
// renamed, so that any number of programs can use the folder at once.

const (
	indexMagic   = "dbgnames"
	indexVersion = 2       // changes also when the rules for a breakpoint's place change
	indexLimit   = 1 << 30 // bytes of a file, and of all files
	newPrefix    = "new-"
)

// indexHeader begins a file.
type indexHeader struct {
	magic   [8]byte
	version uint32
	order   uint32 // 1
	size    uint64 // of .debug_info and .debug_types
	units   uint64
	names   uint64
	funcs   uint64
	sum     uint32 // CRC-32C of what follows the header
	head    uint32 // of the header before this
	id      [32]byte
}

const headerSize = int(unsafe.Sizeof(indexHeader{}))

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// DefaultDir returns the folder of saved indexes in the user's cache directory; "" if there is
// none.
func DefaultDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "dbg", "names")
}

// Placer finds where the breakpoints of functions go.
type Placer interface {
	// Place calls set with the place of each function of one unit that is known. starts are the
	// functions' first addresses, sorted; ends are where the code around these ends. Address and
	// index go to set; it reports whether the index can hold the place.
	Place(u *dwarf.Unit, starts, ends []uint64, set func(i int, at uint64) bool)
}

// Save builds the index of all names, with the places of the breakpoints on all functions, and
// saves it in Options.Dir. The debug information must not be used while it runs. It returns the
// path of the file, "" if there is one already.
func (l *Lookup) Save(p Placer) (string, error) {
	d := l.source.Data()
	path, want, err := l.path()
	if err != nil {
		return "", err
	}
	if l.index == nil && l.load() && l.mapped != nil {
		return "", nil
	}
	if d.HasSkeletons() {
		return "", errors.New("its debug information is in many files")
	}
	x := l.Index()
	x.place(p)
	return path, x.write(path, want)
}

// SaveCopy saves an index that another Lookup has built of the same debug information. That one may
// be in use while SaveCopy runs.
func (l *Lookup) SaveCopy(built *Index, p Placer) error {
	path, want, err := l.path()
	if err != nil {
		return err
	}
	x := &Index{source: l.source, units: l.source.Units(), names: built.names, funcs: slices.Clone(built.funcs)}
	if len(x.units) != len(built.units) {
		return errors.New("the index is of other debug information")
	}
	x.place(p)
	return x.write(path, want)
}

// place finds the places of all functions, unit by unit.
func (x *Index) place(p Placer) {
	order := make([]uint32, len(x.funcs))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		f, g := &x.funcs[a], &x.funcs[b]
		return cmp.Or(cmp.Compare(f.unit(), g.unit()), cmp.Compare(f.lo, g.lo))
	})
	var batch placing
	for len(order) > 0 {
		n := 1
		for n < len(order) && x.funcs[order[n]].unit() == x.funcs[order[0]].unit() {
			n++
		}
		batch.unit(x, order[:n], p)
		order = order[n:]
	}
}

// placing is memory that is reused from unit to unit.
type placing struct {
	e      dwarf.Entry
	starts []uint64   // of the functions
	ends   []uint64   // of the code around the starts
	funcs  []*funcRef // the functions
}

// unit finds the places of the functions of one unit, which are sorted by address.
func (b *placing) unit(x *Index, order []uint32, p Placer) {
	b.starts, b.ends, b.funcs = b.starts[:0], b.ends[:0], b.funcs[:0]
	var du *dwarf.Unit
	for _, i := range order {
		f := &x.funcs[i]
		d, ok := x.at(f.unit(), f.off)
		if !ok || f.skip != notKnown || d.Unit.Read(d.Off, &b.e) != nil || b.e.Has(dwarf.AttrEntryPC) {
			continue
		}
		end, first := uint64(0), true
		b.e.EachRange(func(lo, hi uint64) {
			if lo != 0 && first {
				first, end = false, hi
			}
		})
		if end > f.lo {
			du = d.Unit
			b.starts, b.ends, b.funcs = append(b.starts, f.lo), append(b.ends, end), append(b.funcs, f)
		}
	}
	if du == nil {
		return
	}
	defer du.Release()
	p.Place(du, b.starts, b.ends, func(i int, at uint64) bool {
		skip := at - b.starts[i]
		if skip >= notKnown {
			return false
		}
		b.funcs[i].skip = uint32(skip)
		return true
	})
}

// path returns the path of the saved index, and the part of its header that is known before it is
// built.
func (l *Lookup) path() (string, indexHeader, error) {
	var h indexHeader
	if l.opt.Dir == "" {
		return "", h, errors.New("there is no folder for indexes")
	}
	d := l.source.Data()
	if d == nil {
		return "", h, errors.New("there is no debug information")
	}
	f := l.source.InfoFile()
	id, err := hex.DecodeString(f.BuildID())
	if err != nil || len(id) == 0 || len(id) > len(h.id) {
		return "", h, fmt.Errorf("%s has no build id", f.Path())
	}
	copy(h.magic[:], indexMagic)
	copy(h.id[:], id)
	h.version, h.order, h.size = indexVersion, 1, d.Size()
	return filepath.Join(l.opt.Dir, f.BuildID()), h, nil
}

func (x *Index) write(path string, h indexHeader) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	names, funcs := bytesOf(x.names), bytesOf(x.funcs)
	h.units, h.names, h.funcs = uint64(len(x.units)), uint64(len(x.names)), uint64(len(x.funcs))
	h.sum = crc32.Update(crc32.Checksum(names, castagnoli), castagnoli, funcs)
	h.head = h.checksum()
	f, err := os.CreateTemp(dir, newPrefix+"*")
	if err != nil {
		return err
	}
	for _, part := range [][]byte{bytesOf([]indexHeader{h}), names, funcs} {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	forgetIndexes(dir, path)
	return nil
}

// checksum returns the checksum of the fields before head.
func (h indexHeader) checksum() uint32 {
	h.head = 0
	return crc32.Checksum(bytesOf([]indexHeader{h}), castagnoli)
}

// bytesOf returns the memory of a slice of records without pointers.
func bytesOf[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// recordsOf returns the n records at the start of b, and the rest; false if b is too short.
func recordsOf[T any](b []byte, n uint64) (list []T, rest []byte, ok bool) {
	var one T
	size := uint64(unsafe.Sizeof(one))
	if n > uint64(len(b))/size {
		return nil, nil, false
	}
	if n > 0 {
		list = unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
	}
	return list, b[n*size:], true
}

// forgetIndexes keeps the folder small: it removes the files that were not used for the longest
// time.
func forgetIndexes(dir, keep string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			if strings.HasPrefix(e.Name(), newPrefix) {
				if time.Since(info.ModTime()) > time.Hour { // its writer has been ended
					os.Remove(filepath.Join(dir, e.Name()))
				}
				continue
			}
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if path := filepath.Join(dir, f.Name()); total > indexLimit && path != keep {
			if os.Remove(path) == nil {
				total -= f.Size()
			}
		}
	}
}

// load maps the saved index and reports whether l has an index then.
func (l *Lookup) load() bool {
	if l.index != nil {
		return true
	}
	if l.tried || l.opt.Dir == "" {
		return false
	}
	l.tried = true
	path, want, err := l.path()
	if err != nil {
		return false
	}
	b, err := image.MapUpTo(path, indexLimit)
	if err != nil {
		return false
	}
	x := parseIndex(b, want)
	if x == nil {
		b.Close()
		return false
	}
	x.source = l.source
	now := time.Now()
	os.Chtimes(path, now, now) // it has been used
	l.index, l.mapped = x, b
	return true
}

// parseIndex checks a file against the header that it must have; nil if it does not fit or is
// damaged.
func parseIndex(file *image.Mapping, want indexHeader) *Index {
	b := file.Bytes()
	if len(b) < headerSize || uintptr(unsafe.Pointer(&b[0]))%8 != 0 {
		return nil
	}
	h := *(*indexHeader)(unsafe.Pointer(&b[0]))
	want.units, want.names, want.funcs, want.sum, want.head = h.units, h.names, h.funcs, h.sum, h.head
	if h != want || h.head != h.checksum() {
		return nil
	}
	body := b[headerSize:]
	x := &Index{count: h.units}
	var ok1, ok2 bool
	var rest []byte
	x.names, rest, ok1 = recordsOf[nameRef](body, h.names)
	if ok1 {
		x.funcs, rest, ok2 = recordsOf[funcRef](rest, h.funcs)
	}
	if !ok1 || !ok2 || len(rest) != 0 {
		return nil
	}
	sum := uint32(0)
	const atATime = 1 << 20 // it need not all be in memory
	for from := 0; from < len(b); from += atATime {
		to := min(from+atATime, len(b))
		sum = crc32.Update(sum, castagnoli, b[max(from, headerSize):to])
		file.Release(from, to)
	}
	if sum != h.sum {
		return nil
	}
	return x
}
