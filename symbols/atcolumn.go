package symbols

import "dbg/dwarf"

// LinesAtColumn is LinesByFile for one column of a line: it returns the places whose column is the nearest at or after the wanted
// one, or, where there is none, the nearest before it. If there is no code on the line, the column has no meaning, and the places of the
// next line with code are returned.
func (m *Module) LinesAtColumn(file string, line, column int) []Location {
	return m.linesByFile(file, line, max(column, 0))
}

// columnOf returns the column that a lookup of the row's address gives: of several rows at one address the last counts, see
// chooseRow. It is 0 if that row is of another line: optimisers leave statements without an instruction.
func columnOf(rows []dwarf.Row, i int) int {
	r := &rows[i]
	column := r.Column
	for j := i + 1; j < len(rows) && rows[j].Addr == r.Addr; j++ {
		if n := &rows[j]; n.Line != 0 && n.Flags&dwarf.IsStmt != 0 && n.Flags&dwarf.Repeated == 0 {
			if n.Line != r.Line || n.File != r.File {
				return 0
			}
			column = n.Column
		}
	}
	return int(column)
}

// nearerColumn reports whether column a answers a wish for column want better than b does; a b of 0 is no answer at all.
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

// samePlace reports whether two rows are of the same line, and of the same column if that matters.
func samePlace(a, b *dwarf.Row, byColumn bool) bool {
	return a.Line == b.Line && a.File == b.File && (!byColumn || a.Column == b.Column)
}
