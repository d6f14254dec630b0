package symbols

import "dbg/dwarf/linetable"

// LinesAtColumn is LinesByFile for one column of a line. It returns the places with the nearest
// column at or after the requested one or, if there is none, the nearest column before it. If the
// line has no code, the column is ignored, and the places of the next line with code are
// returned.
func (m *Module) LinesAtColumn(file string, line, column int) []Location {
	return m.linesByFile(file, line, max(column, 0))
}

// columnOf returns the column that a lookup of the row's address returns: of several rows at one
// address the last counts, see chooseRow. It is 0 if that row is for another line: optimisers
// leave statements without an instruction.
func columnOf(rows []linetable.Row, i int) int {
	r := &rows[i]
	column := r.Column
	for j := i + 1; j < len(rows) && rows[j].Addr == r.Addr; j++ {
		if n := &rows[j]; n.Line != 0 && n.Flags&linetable.IsStmt != 0 && n.Flags&linetable.Repeated == 0 {
			if n.Line != r.Line || n.File != r.File {
				return 0
			}
			column = n.Column
		}
	}
	return int(column)
}

// nearerColumn reports whether column a matches the requested column want better than b does. A b
// of 0 matches nothing.
func nearerColumn(a, b, want int) bool {
	switch {
	case a == 0 || b == 0:
		return a != 0
	case (a >= want) != (b >= want):
		return a >= want
	case a >= want:
		return a < b
	}
	return a > b
}

// samePlace reports whether two rows have the same line and, with byColumn, the same column.
func samePlace(a, b *linetable.Row, byColumn bool) bool {
	return a.Line == b.Line && a.File == b.File && (!byColumn || a.Column == b.Column)
}
