package symbols

import (
	"slices"
	"sort"

	"dbg/dwarf"
	"dbg/dwarf/linetable"
	"dbg/image"
)

// LineAt returns the row of the line table for an address. Line is 0 where the
// compiler says that code belongs to no line. Of several rows at one address
// the last counts, but rows that are no statements give way to one that is, and
// a row of another file replaces those before it: as in gdb.
func (m *Module) LineAt(a image.Addr) (LineRange, bool) {
	u := m.unitAt(a)
	if u == nil {
		return m.goLineAt(a)
	}
	t := u.dw.Files()
	seq, ok := t.At(uint64(a))
	if !ok {
		return LineRange{}, false
	}
	rows := seq.Rows
	// The rows from first to next have the largest address that is not above a.
	// A row that repeats the line before it does not begin anything.
	next := sort.Search(len(rows), func(i int) bool { return rows[i].Addr > uint64(a) })
	first := next
	for counts := false; first > 0 && (!counts || rows[first-1].Addr == rows[first].Addr); {
		first--
		counts = counts || rows[first].Flags&linetable.Repeated == 0
	}
	last := next
	for next < len(rows) && rows[next].Flags&linetable.Repeated != 0 {
		next++
	}
	row := chooseRow(rows[first:last])
	hi := seq.Hi
	if next < len(rows) {
		hi = rows[next].Addr
	}
	return LineRange{
		Position: Position{File: t.File(uint64(row.File)), Line: int(row.Line), Column: int(row.Column)},
		Lo:       image.Addr(row.Addr), Hi: image.Addr(hi), IsStmt: row.Flags&linetable.IsStmt != 0,
	}, true
}

// chooseRow returns the row, of several with one address, that a lookup of the
// address means. gcc writes several where variables change between instructions
// (location views).
func chooseRow(rows []linetable.Row) linetable.Row {
	if len(rows) == 1 {
		return rows[0]
	}
	start, stmt := 0, false // start of the last file's rows
	best, bestIsStmt := -1, false
	for i, r := range rows {
		isStmt := r.Flags&linetable.IsStmt != 0
		if r.Line == 0 || r.Flags&linetable.Repeated != 0 {
			continue
		}
		if best >= 0 && r.File != rows[start].File {
			if !isStmt && stmt {
				continue
			}
			best, bestIsStmt = -1, false
		}
		if best < 0 {
			start = i
		}
		if isStmt || !bestIsStmt {
			best, bestIsStmt = i, isStmt
		}
		stmt = stmt || isStmt
	}
	if best < 0 {
		best = 0
	}
	return rows[best]
}

func (u *unit) hasLine(a uint64) bool { return u.dw.Files().Has(a) }

// SourceFiles returns the paths of all source files that the debug information
// names, sorted.
func (m *Module) SourceFiles() []string {
	d := m.dwarf()
	if d == nil {
		return nil
	}
	set := map[string]bool{}
	tables := map[*linetable.Table]bool{} // type units have those of others
	units, _ := d.Units()
	for _, du := range units {
		if du.Type != dwarf.UTCompile && du.Type != dwarf.UTPartial && du.Type != dwarf.UTSkeleton {
			continue
		}
		t := du.Files()
		if tables[t] {
			continue
		}
		tables[t] = true
		for n := range t.NumFiles() {
			if f := t.File(uint64(n)); f != "" {
				set[f] = true
			}
		}
	}
	out := make([]string, 0, len(set))
	for f := range set {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}
