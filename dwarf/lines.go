package dwarf

import (
	"dbg/dwarf/form"
	"dbg/dwarf/linetable"
)

// lineSource is the view that linetable has of a Data.
type lineSource Data

func (s *lineSource) Lines(n uint64) []byte { return (*Data)(s).section(secLine, n) }

func (s *lineSource) Release(lo, hi uint64) { (*Data)(s).release(secLine, lo, hi) }

func (s *lineSource) Text(f form.Form, num, strOffsets uint64, is64 bool) []byte {
	switch f {
	case form.Strx, form.Strx1, form.Strx2, form.Strx3, form.Strx4, form.GNUStrIndex:
		return (*Data)(s).indexedText(num, strOffsets, is64)
	}
	return (*Data)(s).textAt(f, num)
}

// lineUnit returns what the unit's line table depends on.
func (u *Unit) lineUnit() linetable.Unit {
	root := u.Root()
	return linetable.Unit{Offset: root.lineOff, StrOffsets: root.strOffsetsBase, CompDir: root.CompDir, AddrSize: u.AddrSize}
}

// Files returns the unit's line table, which is never nil, and empty if the unit has none. Data.Errors
// returns the error of a table.
//
// A split unit uses the files and lines of its skeleton unit (section 3.1.3).
func (u *Unit) Files() *linetable.Table {
	if u.skeleton != nil {
		return u.skeleton.Files()
	}
	if u.lines == nil {
		if u.Root().hasLines {
			u.lines, u.linesErr = u.Data.lines.Table(u.lineUnit())
		} else {
			u.lines = &linetable.Table{}
		}
	}
	return u.lines
}

// HasFile reports whether the unit's line table has a file whose path ends in the element base. It
// caches nothing: for most units this is the only question.
func (u *Unit) HasFile(base string) bool {
	if u.skeleton != nil {
		return u.skeleton.HasFile(base)
	}
	return u.Root().hasLines && u.Data.lines.HasFile(u.lineUnit(), u.lines, base)
}
