package dwarf

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"dbg/internal/bytecursor"
)

// LineTable is a unit's line number table (section 6.2).
type LineTable struct {
	unit     *Unit
	rows     []Row // of the sequences that are being decoded
	files    []lineFile
	paths    []string // of files that were asked for
	dirs     [][]byte
	first    int // number of the first file: 0 in DWARF 5, 1 before
	compDir  string
	header   *lineHeader // nil if there is no program that can be run
	program  bytecursor.Cursor
	surveyed bool
	spans    []lineSpan
	cache    lineCache
}

// Row is a row of the table.
type Row struct {
	Addr   uint64
	File   uint32 // number of a file; see LineTable.File
	Line   uint32 // 0: no source line
	Column uint16
	Flags  RowFlags
}

// RowFlags are the properties of a row.
type RowFlags uint8

const (
	IsStmt RowFlags = 1 << iota
	PrologueEnd
	EndSequence // the row only gives the address after the last instruction
	// Repeated is set on a row of the same file and line as the one before,
	// when a discriminator has been seen on that line: the row tells blocks of
	// one line apart, not lines. It is also set on a row of another file that is no statement,
	// at the address of one: gdb leaves both out.
	Repeated
)

type lineFile struct {
	name []byte // in its section
	dir  uint64
}

// maxLineRows bounds the rows of one unit, so that a corrupt program of
// special opcodes can't fill the memory.
const maxLineRows = 1 << 26

// Files returns the unit's line table. Its header is read now, its program when At or Each ask
// for rows. It is never nil.
//
// A split unit has the files and lines of its skeleton unit (section 3.1.3).
func (u *Unit) Files() *LineTable {
	if u.skeleton != nil {
		return u.skeleton.Files()
	}
	if u.lines == nil {
		u.lines, u.linesErr = u.lineTable()
	}
	return u.lines
}

// lineKey is what a table depends on: type units have the tables of others, and those of a corrupt
// file may be all one.
type lineKey struct {
	off, strOffsets uint64
	compDir         string
	addrSize        int
}

func (u *Unit) lineKey() lineKey {
	root := u.Root()
	return lineKey{root.lineOff, root.strOffsetsBase, root.CompDir, u.AddrSize}
}

// sharedLines is a table and what is wrong with it.
type sharedLines struct {
	table *LineTable
	err   error
}

// lineTable returns the table of the unit, which other units may have as well.
func (u *Unit) lineTable() (*LineTable, error) {
	d, root := u.Data, u.Root()
	key := u.lineKey()
	if s, ok := d.lines[key]; ok && root.hasLines {
		return s.table, s.err
	}
	t := &LineTable{unit: u}
	var err error
	if d.headerBytes > 8*uint64(len(d.section(secLine, 0)))+1<<20 {
		err = errors.New("tables overlap too often")
	} else {
		err = u.readLineHeader(t)
		d.headerBytes += 2 * uint64(len(t.dirs)+len(t.files)) // each has as many at least
	}
	if err != nil {
		err = fmt.Errorf("the line table at 0x%x of %s: %w", root.lineOff, sectionNames[secLine], err)
	}
	if root.hasLines {
		if d.lines == nil {
			d.lines = map[lineKey]sharedLines{}
		}
		d.lines[key] = sharedLines{t, err}
	}
	return t, err
}

// lineHeader is what the program needs from its header.
type lineHeader struct {
	version     int
	minInst     uint64
	maxOps      uint64
	defaultStmt bool
	lineBase    int
	lineRange   int
	opcodeBase  int
	lengths     []byte
	addrSize    int
}

func (u *Unit) readLineHeader(t *LineTable) error {
	root := u.Root()
	t.compDir = root.CompDir
	if !root.hasLines {
		return nil
	}
	d := u.Data
	r, err := d.at(secLine, root.lineOff, 16)
	if err != nil {
		return err
	}
	length, is64 := r.InitialLength()
	if r.Err() != nil {
		return r.Err()
	}
	if length > uint64(r.Left()) {
		return fmt.Errorf("its %d bytes are not in the section", length)
	}
	end := uint64(r.Pos) + length
	if r.Data, err = d.upTo(secLine, end); err != nil {
		return err
	}
	h := lineHeader{version: int(r.U16()), maxOps: 1, addrSize: u.AddrSize}
	if h.version < 2 || h.version > 5 {
		return fmt.Errorf("it has version %d", h.version)
	}
	if h.version >= 5 {
		h.addrSize = int(r.U8())
		r.U8() // segment selector size
	}
	headerLength := r.Offset(is64)
	if headerLength > uint64(r.Left()) {
		return fmt.Errorf("it has a header of %d bytes", headerLength)
	}
	program := r.Pos + int(headerLength)
	h.minInst = uint64(r.U8())
	if h.version >= 4 {
		h.maxOps = max(1, uint64(r.U8()))
	}
	h.defaultStmt = r.U8() != 0
	h.lineBase = int(int8(r.U8()))
	h.lineRange = int(r.U8())
	h.opcodeBase = int(r.U8())
	if h.opcodeBase > 0 {
		h.lengths = r.Block(uint64(h.opcodeBase - 1))
	}
	if h.version >= 5 {
		u.readFiles5(&r, t, is64)
	} else {
		readFiles4(&r, t)
	}
	if r.Err() != nil {
		return r.Err()
	}
	r.Pos = program
	t.program, t.header = r, &h
	return nil
}

// readFiles4 reads include_directories and file_names (DWARF 4, 6.2.4). Both
// count from 1; directory 0 is that of the compilation.
func readFiles4(r *bytecursor.Cursor, t *LineTable) {
	t.first = 1
	t.dirs = append(t.dirs, []byte(t.compDir))
	for r.Err() == nil {
		s := r.CString()
		if len(s) == 0 {
			break
		}
		t.dirs = append(t.dirs, s)
	}
	for r.Err() == nil {
		s := r.CString()
		if len(s) == 0 {
			break
		}
		t.files = append(t.files, lineFile{s, r.ULEB()})
		r.ULEB() // time
		r.ULEB() // length
	}
}

// readFiles5 reads the two tables of section 6.2.4.1, whose columns the header
// describes.
func (u *Unit) readFiles5(r *bytecursor.Cursor, t *LineTable, is64 bool) {
	// The columns' forms are those of attributes, so they are read as such.
	fu := Unit{Data: u.Data, Is64: is64, AddrSize: u.AddrSize, Version: 5, root: u.root}
	var v Value
	var room [255]struct {
		content uint64
		form    Form
	}
	for table := range 2 {
		columns := room[:r.U8()]
		for i := range columns {
			columns[i].content, columns[i].form = r.ULEB(), Form(r.ULEB())
		}
		at := r.Pos
		count := r.ULEB()
		if len(columns) == 0 && count > 0 || count > uint64(r.Left()) {
			r.Malformed(at, fmt.Sprintf("a file table of %d entries", count))
			return
		}
		for range count {
			start := r.Pos
			var f lineFile
			for _, c := range columns {
				v = Value{Attr: AttrName, Form: c.form}
				fu.readForm(r, &v, 0)
				if r.Err() != nil {
					return
				}
				switch c.content {
				case lnctPath:
					f.name = fu.text(&v)
				case lnctDirectoryIndex:
					f.dir = v.Num
				}
			}
			if r.Pos == start {
				r.Malformed(at, "a file table of empty entries")
				return
			}
			if table == 0 {
				t.dirs = append(t.dirs, f.name)
			} else {
				t.files = append(t.files, f)
			}
		}
	}
}

// NumFiles returns one more than the largest file number.
func (t *LineTable) NumFiles() int { return len(t.files) + t.first }

// File returns the path of a file by its number: absolute if the producer gave
// its directory or the directory of the compilation, cleaned; "" for a number
// that there is no file for.
func (t *LineTable) File(n uint64) string {
	// DWARF 5 counts from 0. Producers that are not sure (gcc 11's assembler
	// tables) give number 0 and 1 to the same file, which needs nothing here.
	i := n - uint64(t.first)
	if n < uint64(t.first) || i >= uint64(len(t.files)) {
		return ""
	}
	if i < uint64(len(t.paths)) && t.paths[i] != "" {
		return t.paths[i]
	}
	name := t.path(&t.files[i])
	if len(t.paths) < len(t.files) {
		t.paths = append(t.paths, make([]string, len(t.files)-len(t.paths))...)
	}
	t.paths[i] = name
	return name
}

// path joins a file's directories and its name.
func (t *LineTable) path(f *lineFile) string {
	name := string(f.name)
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	if f.dir < uint64(len(t.dirs)) {
		name = path.Join(string(t.dirs[f.dir]), name)
	}
	// Directory 0 is that of the compilation, which may itself be relative.
	if !path.IsAbs(name) && f.dir != 0 {
		// Builds that map their folder to a relative one (Debian's do) say "./x" for
		// the compilation's folder and, again, for the file's.
		if dir := path.Clean(t.compDir); path.IsAbs(dir) || !strings.HasPrefix(name, dir+"/") {
			name = path.Join(t.compDir, name)
		}
	}
	return name
}

// Base returns the last element of a file's name, without joining it.
func (t *LineTable) Base(n uint64) string {
	i := n - uint64(t.first)
	if n < uint64(t.first) || i >= uint64(len(t.files)) {
		return ""
	}
	return path.Base(string(t.files[i].name))
}

// HasFile reports whether the unit's line table has a file whose path ends in an element. It keeps nothing: most
// units are asked only this.
func (u *Unit) HasFile(base string) bool {
	if u.skeleton != nil {
		return u.skeleton.HasFile(base)
	}
	t := u.lines
	if t == nil {
		t = &u.Data.scratch
		if t.unit == nil || t.unit.lineKey() != u.lineKey() || !u.Root().hasLines {
			*t = LineTable{unit: u, files: t.files[:0], dirs: t.dirs[:0]}
			_ = u.readLineHeader(t) // Files says so; what was read counts
		}
	}
	for i := range t.files {
		name := t.files[i].name
		if cut := len(name) - len(base); cut >= 0 && string(name[cut:]) == base && (cut == 0 || name[cut-1] == '/') {
			return true
		}
	}
	return false
}
