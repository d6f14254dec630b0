package symbols

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"dbg/code"
	"dbg/dwarf"
	"dbg/dwarf/linetable"
	"dbg/image"
)

// LinesByFile returns the locations for breakpoints on a line. file is the last part of a path,
// made of whole components. If the line has no code, the next line of the file that has code is
// used, and the positions show that line. After the last line with code the result is empty.
//
// A line may have several blocks of code: the parts of a for statement, the clean-up after a
// return, copies of an inlined function. In unoptimised code each block has a location that
// begins a statement, so that the program stops each time that the line is reached. Optimisers
// mix a line's instructions with those of other lines, and mark each as the beginning of a
// statement. In their code there is one location in each lexical block. A location in a prologue
// is moved to the end of the prologue.
func (m *Module) LinesByFile(file string, line int) []Location {
	return m.linesByFile(file, line, 0)
}

// linesByFile is LinesByFile if column is 0, and otherwise LinesAtColumn.
func (m *Module) linesByFile(file string, line, column int) []Location {
	d := m.dwarf()
	if d == nil || file == "" || line <= 0 {
		return nil
	}
	// The units that have the file are found without running their line programs.
	type candidate struct {
		u     *unit
		files map[uint32]string
	}
	var candidates []candidate
	tables := map[*linetable.Table]int{} // the candidate, or -1: units may share a table
	base := path.Base(file)
	if !d.MentionsFile(base) {
		return nil
	}
	units, _ := d.Units()
	for _, du := range units {
		if du.Type != dwarf.UTCompile && du.Type != dwarf.UTSkeleton {
			continue
		}
		if !du.HasFile(base) {
			continue
		}
		t := du.Files()
		if i, seen := tables[t]; seen {
			// dwz moves entries into partial units, which share the table but have no code.
			if i >= 0 && candidates[i].u.dw.Root().Tag == dwarf.TagPartialUnit {
				candidates[i].u = m.unit(du)
			}
			continue
		}
		tables[t] = -1
		var files map[uint32]string
		for n := range t.NumFiles() {
			if t.Base(uint64(n)) != base {
				continue
			}
			if p := t.File(uint64(n)); matchPath(p, file) {
				if files == nil {
					files = map[uint32]string{}
				}
				files[uint32(n)] = p
			}
		}
		if files != nil {
			tables[t] = len(candidates)
			candidates = append(candidates, candidate{m.unit(du), files})
		}
	}
	// The line or the nearest line after it, and the requested column.
	best, bestColumn := 0, 0
	for _, c := range candidates {
		c.u.dw.Files().Each(func(seq linetable.Sequence) bool {
			for i := range seq.Rows {
				r := &seq.Rows[i]
				if n := int(r.Line); n >= line && (best == 0 || n < best) && c.files[r.File] != "" && counts(seq.Rows, i) {
					best, bestColumn = n, 0
				}
				if column > 0 && best == line && int(r.Line) == line && c.files[r.File] != "" && counts(seq.Rows, i) {
					if at := columnOf(seq.Rows, i); nearerColumn(at, bestColumn, column) {
						bestColumn = at
					}
				}
			}
			return true
		})
	}
	hidden := false // all rows of the line are replaced by others
	if best != line && column == 0 {
		last := best == 0 // a row that is replaced is better than none
		for _, c := range candidates {
			c.u.dw.Files().Each(func(seq linetable.Sequence) bool {
				for i := range seq.Rows {
					r := &seq.Rows[i]
					if int(r.Line) == line && c.files[r.File] != "" && c.u.beginsHere(seq.Rows, i, last) {
						best, hidden = line, true
						return false
					}
				}
				return true
			})
		}
		if best == 0 {
			return nil
		}
	}
	var out []Location
	for _, c := range candidates {
		counts := counts
		if hidden {
			counts = func(rows []linetable.Row, i int) bool { return c.u.beginsHere(rows, i, true) }
		}
		var addrs []uint64
		var runs []lineRun
		c.u.dw.Files().Each(func(seq linetable.Sequence) bool {
			for i := range seq.Rows {
				r := &seq.Rows[i]
				if int(r.Line) == best && c.files[r.File] != "" && counts(seq.Rows, i) && (bestColumn == 0 || columnOf(seq.Rows, i) == bestColumn) {
					addrs = append(addrs, r.Addr)
					if !continues(seq.Rows, i, bestColumn != 0) {
						runs = append(runs, lineRun{r.Addr, runEnd(seq, i, bestColumn != 0)})
					}
				}
			}
			return true
		})
		if c.u.hasLocationLists() {
			runs = nil
		}
		found := m.onePerBlock(c.u, best, addrs, runs)
		if hidden { // the line table shows another line there
			for i := range found {
				found[i].Position.Line = best
				for _, f := range c.files {
					found[i].Position.File = f
				}
			}
		}
		out = append(out, found...)
	}
	// Two units, or a file with two names, may have the same place.
	slices.SortStableFunc(out, func(a, b Location) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(out, func(a, b Location) bool { return a.Addr == b.Addr })
}

// counts reports whether a breakpoint on a row's line may be at the row. It may not if another
// file's row at the same address replaces it, see chooseRow.
func counts(rows []linetable.Row, i int) bool {
	if rows[i].Flags&linetable.IsStmt == 0 || rows[i].Flags&linetable.Repeated != 0 {
		return false
	}
	for j := i + 1; j < len(rows) && rows[j].Addr == rows[i].Addr; j++ {
		if rows[j].File != rows[i].File && rows[j].Line != 0 && rows[j].Flags&linetable.IsStmt != 0 {
			return false
		}
	}
	return true
}

// beginsHere reports whether a statement of a row's line begins at the row, although rows of other files
// at the same address replace it: in optimised code, those of a function that is inlined there. It does
// if the code at the address is the line's after all, or if an inlined call from the line begins there.
// any accepts every row that begins a statement.
func (u *unit) beginsHere(rows []linetable.Row, i int, any bool) bool {
	r := &rows[i]
	if r.Flags&linetable.IsStmt == 0 || any {
		return any && r.Flags&linetable.IsStmt != 0
	}
	last := i
	for last+1 < len(rows) && rows[last+1].Addr == r.Addr {
		last++
	}
	if rows[last].Line == r.Line && rows[last].File == r.File {
		return true
	}
	fn := u.functionAt(r.Addr)
	if fn == nil {
		return false
	}
	for b := fn.body().at(r.Addr); b != nil; b = b.parent {
		if !b.inlined || b.callLine != int(r.Line) {
			continue
		}
		for _, c := range b.ranges {
			if c.Lo == r.Addr {
				return true
			}
		}
	}
	return false
}

// continues reports whether the code of a row follows code of the same line (and, with byColumn,
// the same column), so that the row is not a separate place.
func continues(rows []linetable.Row, i int, byColumn bool) bool {
	for j := i - 1; j >= 0; j-- {
		if rows[j].Addr == rows[i].Addr {
			continue // it has no code
		}
		// The row of the code before this one: the last at its address.
		return samePlace(&rows[j], &rows[i], byColumn)
	}
	return false
}

// lineRun is a range of code of one line, without code of other lines in between.
type lineRun struct{ lo, hi uint64 }

// runEnd returns the end of the code of a row's line or, with byColumn, of its line and column.
func runEnd(seq linetable.Sequence, i int, byColumn bool) uint64 {
	r := &seq.Rows[i]
	for j := i + 1; j < len(seq.Rows); j++ {
		if n := &seq.Rows[j]; n.Addr > r.Addr && !samePlace(n, r, byColumn) {
			return n.Addr
		}
	}
	return seq.Hi
}

// begins reports, for the first addresses of runs, whether a line is reached there. The code that
// returns from a function, after the clean-up of its locals, has the line of a return statement,
// perhaps one of several. It is left out if the line has other code in the function.
func (m *Module) begins(u *unit, runs []lineRun) map[uint64]bool {
	out := map[uint64]bool{}
	var ends []lineRun
	others := map[uint64]bool{} // functions
	for _, r := range runs {
		fn := u.functionAt(r.lo)
		if fn != nil && m.returns(r) {
			ends = append(ends, r)
			continue
		}
		out[r.lo] = true
		if fn != nil {
			others[fn.off] = true
		}
	}
	for _, r := range ends {
		out[r.lo] = !others[u.functionAt(r.lo).off]
	}
	return out
}

// returns reports whether a run of lines returns, or does nothing.
func (m *Module) returns(r lineRun) bool {
	const most = 4096
	text := make([]byte, min(r.hi-r.lo, most))
	n, _ := m.file.ReadAt(image.Addr(r.lo), text)
	return code.ReturnsOrIdles(m.file.Arch(), text[:n])
}

// comesBack reports whether an inlined call from a line ends directly before an address that is
// outside the call: the line continues there.
func (fn *function) comesBack(a uint64, line int) bool {
	if a == 0 {
		return false
	}
	around := map[*block]bool{}
	for b := fn.body().at(a); b != nil; b = b.parent {
		around[b] = true
	}
	for b := fn.body().at(a - 1); b != nil && !around[b]; b = b.parent {
		if b.inlined && b.callLine == line {
			return true
		}
	}
	return false
}

// onePerBlock makes locations from the first address in each lexical block, and from the
// addresses at which one of runs is reached.
func (m *Module) onePerBlock(u *unit, line int, addrs []uint64, runs []lineRun) []Location {
	slices.Sort(addrs)
	begins := m.begins(u, runs)
	seen := map[*block]bool{}
	var out []Location
	for _, a := range addrs {
		loc := Location{Addr: image.Addr(a)}
		if fn := u.functionAt(a); fn != nil {
			b := fn.body().at(a)
			for b.parent != nil && !b.symbols {
				b = b.parent
			}
			reached, run := begins[a]
			if run && !reached || seen[b] && (!reached || fn.comesBack(a, line)) {
				continue
			}
			seen[b] = true
			loc.Function = b.function().public()
			loc.Addr = m.skipPrologue(loc.Addr)
		}
		if l, ok := m.LineAt(loc.Addr); ok {
			loc.Position = l.Position
		}
		out = append(out, loc)
	}
	return out
}

// matchPath reports whether path ends in suffix, at a component boundary.
func matchPath(full, suffix string) bool {
	suffix = path.Clean(suffix)
	for strings.HasPrefix(suffix, "../") {
		suffix = suffix[3:]
	}
	if full == suffix {
		return true
	}
	rest, ok := strings.CutSuffix(full, suffix)
	return ok && (strings.HasSuffix(rest, "/") || rest == "")
}
