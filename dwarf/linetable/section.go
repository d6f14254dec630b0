package linetable

import (
	"errors"
	"fmt"
	"sync/atomic"

	"dbg/dwarf/form"
)

const sectionName = ".debug_line"

// Source is what the tables need of their file. dwarf.Data implements it.
type Source interface {
	// Lines returns .debug_line. The slice has the length of the whole section, and at least its
	// first n bytes are valid.
	Lines(n uint64) []byte
	// Text returns the string that a number of the form f stands for, or nil. strOffsets is
	// Unit.StrOffsets. The string aliases its section.
	Text(f form.Form, num, strOffsets uint64, is64 bool) []byte
	// Release says that the bytes of the section from lo to hi are not needed soon.
	Release(lo, hi uint64)
}

// Unit holds the facts about a unit that its table depends on. Units with the same facts share a
// table: type units have those of other units, and in a corrupt file all units may.
type Unit struct {
	Offset     uint64 // of the table in the section (DW_AT_stmt_list)
	StrOffsets uint64 // offset of the unit's part of .debug_str_offsets (DW_AT_str_offsets_base)
	CompDir    string // DW_AT_comp_dir
	AddrSize   int    // in bytes
}

// maxAddr returns the largest address. It marks discarded code.
func (u *Unit) maxAddr() uint64 {
	if u.AddrSize == 8 {
		return ^uint64(0)
	}
	return 1<<(8*u.AddrSize) - 1
}

// Section is the .debug_line section of one file, with the tables that were read.
type Section struct {
	src Source
	big bool

	tables      map[Unit]result
	headerBytes uint64       // lower bound of the size of the tables' file lists
	scanned     atomic.Int64 // bytes of programs that were scanned
	spans       []span       // buffer for the next scan
	scratch     Table        // see HasFile
}

type result struct {
	table *Table
	err   error
}

// New returns the section of a source. It reads nothing yet.
func New(src Source, bigEndian bool) *Section { return &Section{src: src, big: bigEndian} }

// Table returns the table of a unit, which other units may share. It is never nil: with an error it
// has the files that could be read, and no rows. The error names the section and the offset.
func (s *Section) Table(u Unit) (*Table, error) {
	if r, ok := s.tables[u]; ok {
		return r.table, r.err
	}
	t := &Table{in: s, unit: u}
	var err error
	if s.headerBytes > 8*uint64(len(s.src.Lines(0)))+1<<20 {
		err = errors.New("tables overlap too often")
	} else {
		err = t.read()
		s.headerBytes += 2 * uint64(len(t.dirs)+len(t.files)) // each takes at least that many bytes
	}
	if err != nil {
		err = fmt.Errorf("%s table at 0x%x: %w", sectionName, u.Offset, err)
	}
	if s.tables == nil {
		s.tables = map[Unit]result{}
	}
	s.tables[u] = result{t, err}
	return t, err
}

// HasFile reports whether the table of a unit has a file whose path ends in the element base. t is
// the unit's table, or nil if it was not read yet. HasFile caches nothing: for most units this is
// the only question.
func (s *Section) HasFile(u Unit, t *Table, base string) bool {
	if t == nil {
		if t = &s.scratch; t.in == nil || t.unit != u {
			*t = Table{in: s, unit: u, files: t.files[:0], dirs: t.dirs[:0]}
			_ = t.read() // Table returns the error; use the files that were read
		}
	}
	return t.hasFile(base)
}
