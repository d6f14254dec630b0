package dwarf

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// LineTable is a unit's line number table (section 6.2).
type LineTable struct {
	unit    *Unit
	rows    []Row // rows of the sequence that is being decoded
	files   []lineFile
	paths   []string // cached results of File
	dirs    [][]byte
	first   int // number of the first file: 0 in DWARF 5, 1 before
	compDir string
	header  *lineHeader // nil if there is no usable program
	program bytecursor.Cursor
	scanned bool
	spans   []lineSpan
	cache   lineCache
}

// Row is a row of the table.
type Row struct {
	Addr   uint64
	File   uint32 // file number; see LineTable.File
	Line   uint32 // 0: no source line
	Column uint16
	Flags  RowFlags
}

// RowFlags are the properties of a row.
type RowFlags uint8

const (
	IsStmt RowFlags = 1 << iota
	PrologueEnd
	EndSequence // marks the address after the last instruction
	// Repeated is set on a row with the same file and line as the previous row, if a discriminator
	// has occurred on that line: such a row separates blocks of one line, not lines. It is also
	// set on a row that is not a statement, in another file, at the address of a statement. gdb
	// omits both kinds.
	Repeated
)

type lineFile struct {
	name []byte // aliases its section
	dir  uint64
}

// maxLineRows limits the rows of one unit, so that a corrupt program of special opcodes cannot
// exhaust memory.
const maxLineRows = 1 << 26

// Files returns the unit's line table, which is never nil. It reads the header now; At and Each
// read the program when they need rows.
//
// A split unit uses the files and lines of its skeleton unit (section 3.1.3).
func (u *Unit) Files() *LineTable {
	if u.skeleton != nil {
		return u.skeleton.Files()
	}
	if u.lines == nil {
		u.lines, u.linesErr = u.lineTable()
	}
	return u.lines
}

// lineKey holds the inputs of a table. Type units share the tables of other units, and in a corrupt
// file all units may.
type lineKey struct {
	off, strOffsets uint64
	compDir         string
	addrSize        int
}

func (u *Unit) lineKey() lineKey {
	root := u.Root()
	return lineKey{root.lineOff, root.strOffsetsBase, root.CompDir, u.AddrSize}
}

// sharedLines is a table and its error.
type sharedLines struct {
	table *LineTable
	err   error
}

// lineTable returns the table of the unit, which other units may share.
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
		d.headerBytes += 2 * uint64(len(t.dirs)+len(t.files)) // each takes at least that many bytes
	}
	if err != nil {
		err = fmt.Errorf("%s table at 0x%x: %w", sectionNames[secLine], root.lineOff, err)
	}
	if root.hasLines {
		if d.lines == nil {
			d.lines = map[lineKey]sharedLines{}
		}
		d.lines[key] = sharedLines{t, err}
	}
	return t, err
}

// lineHeader holds the fields of a header that the program needs.
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
		return fmt.Errorf("length %d exceeds the section", length)
	}
	end := uint64(r.Pos) + length
	if r.Data, err = d.upTo(secLine, end); err != nil {
		return err
	}
	h := lineHeader{version: int(r.U16()), maxOps: 1, addrSize: u.AddrSize}
	if h.version < 2 || h.version > 5 {
		return fmt.Errorf("unsupported version %d", h.version)
	}
	if h.version >= 5 {
		h.addrSize = int(r.U8())
		r.U8() // segment selector size
	}
	headerLength := r.Offset(is64)
	if headerLength > uint64(r.Left()) {
		return fmt.Errorf("header length %d exceeds the table", headerLength)
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

// readFiles4 reads include_directories and file_names (DWARF 4, 6.2.4). Both count from 1;
// directory 0 is the compilation directory.
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

// readFiles5 reads the two tables of section 6.2.4.1, whose columns the header describes.
func (u *Unit) readFiles5(r *bytecursor.Cursor, t *LineTable, is64 bool) {
	// Columns use the forms of attributes, so readForm can read them.
	fu := Unit{Data: u.Data, Is64: is64, AddrSize: u.AddrSize, Version: 5, root: u.root}
	var v Value
	var room [255]struct {
		content uint64
		form    form.Form
	}
	for table := range 2 {
		columns := room[:r.U8()]
		for i := range columns {
			columns[i].content, columns[i].form = r.ULEB(), form.Form(r.ULEB())
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

// NumFiles returns the largest file number plus one.
func (t *LineTable) NumFiles() int { return len(t.files) + t.first }

// File returns the cleaned path of a file. It is absolute if the producer recorded an absolute
// directory for the file or the compilation. It is "" if no file has that number.
func (t *LineTable) File(n uint64) string {
	// DWARF 5 counts from 0. Some producers (gcc 11's assembler tables) assign both number 0 and 1
	// to the same file; that needs no special treatment.
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
	// Directory 0 is the compilation directory, which may itself be relative.
	if !path.IsAbs(name) && f.dir != 0 {
		// Builds that map their directory to a relative one (such as Debian's) record "./x" as
		// the compilation directory and again as the file's directory.
		if dir := path.Clean(t.compDir); path.IsAbs(dir) || !strings.HasPrefix(name, dir+"/") {
			name = path.Join(t.compDir, name)
		}
	}
	return name
}

// Base returns the last element of a file's path.
func (t *LineTable) Base(n uint64) string {
	i := n - uint64(t.first)
	if n < uint64(t.first) || i >= uint64(len(t.files)) {
		return ""
	}
	return path.Base(string(t.files[i].name))
}

// HasFile reports whether the unit's line table has a file whose path ends in the element base. It
// caches nothing: for most units this is the only question.
func (u *Unit) HasFile(base string) bool {
	if u.skeleton != nil {
		return u.skeleton.HasFile(base)
	}
	t := u.lines
	if t == nil {
		t = &u.Data.scratch
		if t.unit == nil || t.unit.lineKey() != u.lineKey() || !u.Root().hasLines {
			*t = LineTable{unit: u, files: t.files[:0], dirs: t.dirs[:0]}
			_ = u.readLineHeader(t) // Files returns the error; use the files that were read
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
