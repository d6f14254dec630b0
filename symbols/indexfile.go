package symbols

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
	"sync/atomic"
	"time"
	"unsafe"

	"dbg/dwarf"
	"dbg/image"
	"dbg/internal/fault"
)

// A name index is kept in a file that is called after the build id of what it is of: a header, the names, the functions. It is for the
// machine that wrote it: the records are as they are in memory, and so it is mapped and not read. Each file is written under another name and
// then renamed, so that any number of programs can use the folder at once.

const (
	indexMagic   = "dbgnames"
	indexVersion = 2       // also to be changed with what a breakpoint's place is
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

// IndexDir is where indexes of names are kept unless told otherwise: in the user's cache directory; "" if there is none.
func IndexDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "dbg", "names")
}

// SaveIndex makes the index of names, with the places of breakpoints on all functions, and keeps it in Options.IndexDir.
// The module must not be used while that goes on. It returns the path of the file, "" if there is one already.
func (m *Module) SaveIndex() (string, error) {
	d := m.dwarf()
	path, want, err := m.indexPath()
	if err != nil {
		return "", err
	}
	if m.names == nil && m.loadIndex() && m.mapped != nil {
		return "", nil
	}
	if d == nil {
		return "", errors.New("there is no debug information")
	}
	if d.HasSkeletons() {
		return "", errors.New("its debug information is in many files")
	}
	x := m.nameIndex()
	m.placeBreakpoints(x)
	return path, x.write(path, want)
}

// placeBreakpoints finds where breakpoints on all functions go, unit by unit. Nothing that is found out on the way is kept.
func (m *Module) placeBreakpoints(x *nameIndex) {
	order := make([]uint32, len(x.funcs))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		f, g := &x.funcs[a], &x.funcs[b]
		return cmp.Or(cmp.Compare(f.unit(), g.unit()), cmp.Compare(f.lo, g.lo))
	})
	var p placing
	for len(order) > 0 {
		n := 1
		for n < len(order) && x.funcs[order[n]].unit() == x.funcs[order[0]].unit() {
			n++
		}
		m.placeInUnit(x, order[:n], &p)
		order = order[n:]
	}
}

// placing is what is used again from unit to unit.
type placing struct {
	e     dwarf.Entry
	addrs []uint64   // where functions begin
	ends  []uint64   // where the code around their entries ends
	funcs []*funcRef // they themselves
	rows  []dwarf.Row
	spent atomic.Int64
}

// placeInUnit does it for the functions of one unit, which are sorted by address.
func (m *Module) placeInUnit(x *nameIndex, order []uint32, p *placing) {
	p.addrs, p.ends, p.funcs = p.addrs[:0], p.ends[:0], p.funcs[:0]
	var du *dwarf.Unit
	for _, i := range order {
		f := &x.funcs[i]
		d, ok := x.at(f.unit(), f.off)
		if !ok || f.skip != notKnown || d.Unit.Read(d.Off, &p.e) != nil || p.e.Has(dwarf.AttrEntryPC) {
			continue
		}
		end, first := uint64(0), true
		p.e.EachRange(func(lo, hi uint64) {
			if lo != 0 && first {
				first, end = false, hi
			}
		})
		if end > f.lo {
			du = d.Unit
			p.addrs, p.ends, p.funcs = append(p.addrs, f.lo), append(p.ends, end), append(p.funcs, f)
		}
	}
	if du == nil {
		return
	}
	u := m.unit(du)
	defer du.Release()
	place := func(i int, at image.Addr) {
		if skip := uint64(at) - p.addrs[i]; skip < notKnown {
			p.funcs[i].skip = uint32(skip)
		}
	}
	if u.goodFromEntry() {
		for i, lo := range p.addrs {
			place(i, image.Addr(lo))
		}
		return
	}
	all := u.dw.Files().EachAt(p.addrs, &p.rows, &p.spent, func(i int, l dwarf.Lines) {
		place(i, m.prologueEndIn(u, l, p.addrs[i], p.ends[i]))
	})
	for i, lo := range p.addrs { // those that have no lines
		if all && p.funcs[i].skip == notKnown {
			place(i, m.afterInstructions(image.Addr(lo)))
		}
	}
}

// keepIndex does the same as SaveIndex in the background, for an index that has just been built, if it is worth it: with a module
// of its own, as this one goes on being used.
func (m *Module) keepIndex() {
	d := m.dwarf()
	if m.opt.IndexDir == "" || d == nil || d.Size() < worthKeeping || d.HasSkeletons() {
		return
	}
	f := m.files.InfoFile()
	built, id, size, opt := m.names, f.BuildID(), d.Size(), m.opt
	opt.Fetcher, opt.Arrived, opt.Progress, opt.Cancelled = nil, nil, nil, nil
	path := f.Path()
	keep := func() {
		f, err := image.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		m := Load(f, opt)
		defer m.Close()
		path, h, err := m.indexPath()
		if err != nil || f.BuildID() != id || h.size != size {
			return
		}
		x := &nameIndex{m: m, units: m.files.Units(), names: built.names, funcs: slices.Clone(built.funcs)}
		if len(x.units) != len(built.units) {
			return
		}
		m.placeBreakpoints(x)
		_ = x.write(path, h)
	}
	go func() { _ = fault.Catch(keep) }() // a cache: without it the next one takes longer
}

// worthKeeping is how many bytes of debug information an index is kept of without being asked.
const worthKeeping = 4 << 20

// indexPath is where the index is, and the header that it begins with, as far as that is known before.
func (m *Module) indexPath() (string, indexHeader, error) {
	var h indexHeader
	if m.opt.IndexDir == "" {
		return "", h, errors.New("there is no folder for indexes")
	}
	d := m.dwarf()
	if d == nil {
		return "", h, errors.New("there is no debug information")
	}
	f := m.files.InfoFile()
	id, err := hex.DecodeString(f.BuildID())
	if err != nil || len(id) == 0 || len(id) > len(h.id) {
		return "", h, fmt.Errorf("%s has no build id", f.Path())
	}
	copy(h.magic[:], indexMagic)
	copy(h.id[:], id)
	h.version, h.order, h.size = indexVersion, 1, d.Size()
	return filepath.Join(m.opt.IndexDir, f.BuildID()), h, nil
}

func (x *nameIndex) write(path string, h indexHeader) error {
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

// checksum is that of the header's fields, without the last two.
func (h indexHeader) checksum() uint32 {
	h.head = 0
	return crc32.Checksum(bytesOf([]indexHeader{h}), castagnoli)
}

// bytesOf is the memory of a slice of records without pointers.
func bytesOf[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// recordsOf is the other way round; false if they are not all there.
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

// forgetIndexes keeps the folder small: the files that have not been used for longest go.
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

// loadIndex maps the index that is kept, if there is one that fits; the module has it then.
func (m *Module) loadIndex() bool {
	if m.names != nil {
		return true
	}
	if m.indexTried || m.opt.IndexDir == "" {
		return false
	}
	m.indexTried = true
	path, want, err := m.indexPath()
	if err != nil {
		return false
	}
	b, err := image.Map(path, indexLimit)
	if err != nil {
		return false
	}
	x := parseIndex(b, want)
	if x == nil {
		b.Close()
		return false
	}
	x.m = m
	now := time.Now()
	os.Chtimes(path, now, now) // it has been used
	m.names, m.mapped = x, b
	return true
}

// parseIndex checks a file against what its header must say.
func parseIndex(file *image.Mapping, want indexHeader) *nameIndex {
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
	x := &nameIndex{count: h.units}
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
