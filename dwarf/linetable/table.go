package linetable

import (
	"fmt"
	"path"
	"strings"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// Table is a unit's line number table (section 6.2). It reads the header when it is made; At and Each
// read the program when they need rows.
type Table struct {
	in      *Section
	unit    Unit
	rows    []Row // rows of the sequence that is being decoded
	files   []file
	paths   []string // cached results of File
	dirs    [][]byte
	first   int     // number of the first file: 0 in DWARF 5, 1 before
	header  *header // nil if there is no usable program
	program bytecursor.Cursor
	scanned bool
	spans   []span
	cache   cache
}

// Row is a row of the table.
type Row struct {
	Addr   uint64
	File   uint32 // file number; see Table.File
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

type file struct {
	name []byte // aliases its section
	dir  uint64
}

// maxRows limits the rows of one unit, so that a corrupt program of special opcodes cannot
// exhaust memory.
const maxRows = 1 << 26

// header holds the fields of a header that the program needs.
type header struct {
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

// read reads the header. An error leaves the files that were read before it.
func (t *Table) read() error {
	off := t.unit.Offset
	b := t.in.src.Lines(off + 16)
	if off > uint64(len(b)) || off+16 < off {
		return fmt.Errorf("offset 0x%x is beyond the end of %s", off, sectionName)
	}
	r := bytecursor.Cursor{Data: b, Pos: int(off), Big: t.in.big}
	length, is64 := r.InitialLength()
	if r.Err() != nil {
		return r.Err()
	}
	if length > uint64(r.Left()) {
		return fmt.Errorf("length %d exceeds the section", length)
	}
	end := uint64(r.Pos) + length
	if r.Data = t.in.src.Lines(end); end > uint64(len(r.Data)) {
		return fmt.Errorf("%s is readable only up to 0x%x", sectionName, len(r.Data))
	}
	r.Data = r.Data[:end]
	h := header{version: int(r.U16()), maxOps: 1, addrSize: t.unit.AddrSize}
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
		t.readFiles5(&r, is64)
	} else {
		t.readFiles4(&r)
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
func (t *Table) readFiles4(r *bytecursor.Cursor) {
	t.first = 1
	t.dirs = append(t.dirs, []byte(t.unit.CompDir))
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
		t.files = append(t.files, file{s, r.ULEB()})
		r.ULEB() // time
		r.ULEB() // length
	}
}

// readFiles5 reads the two tables of section 6.2.4.1, whose columns the header describes.
func (t *Table) readFiles5(r *bytecursor.Cursor, is64 bool) {
	sizes := form.Sizes{Addr: t.unit.AddrSize, Is64: is64}
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
			var f file
			for _, c := range columns {
				v := form.Value{Form: c.form}
				v.Read(r, sizes, 0)
				if r.Err() != nil {
					return
				}
				switch c.content {
				case lnctPath:
					if f.name = v.Block; v.Form != form.String {
						f.name = t.in.src.Text(v.Form, v.Num, t.unit.StrOffsets, is64)
					}
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
func (t *Table) NumFiles() int { return len(t.files) + t.first }

// File returns the cleaned path of a file. It is absolute if the producer recorded an absolute
// directory for the file or the compilation. It is "" if no file has that number.
func (t *Table) File(n uint64) string {
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
func (t *Table) path(f *file) string {
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
		if dir := path.Clean(t.unit.CompDir); path.IsAbs(dir) || !strings.HasPrefix(name, dir+"/") {
			name = path.Join(t.unit.CompDir, name)
		}
	}
	return name
}

// Base returns the last element of a file's path.
func (t *Table) Base(n uint64) string {
	i := n - uint64(t.first)
	if n < uint64(t.first) || i >= uint64(len(t.files)) {
		return ""
	}
	return path.Base(string(t.files[i].name))
}

// hasFile reports whether a file's path ends in the element base.
func (t *Table) hasFile(base string) bool {
	for i := range t.files {
		name := t.files[i].name
		if cut := len(name) - len(base); cut >= 0 && string(name[cut:]) == base && (cut == 0 || name[cut-1] == '/') {
			return true
		}
	}
	return false
}
