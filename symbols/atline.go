package symbols

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
	"dbg/dwarf"
	"dbg/image"
)

// LinesByFile returns where breakpoints on a line go. file is the end of a
// path, of whole components. If there is no code on the line, the next line of
// the file that has code is meant, and the positions say so; after the last one
// there is nothing.
//
// A line may have several blocks of code: the parts of a for statement, the clean-up after a return, copies of an inlined
// function. In code that is not optimised there is a place in each of them that begins a statement, so that a stop comes each time that
// the line is reached. Optimisers move a line's instructions between those of others and say of each that it begins a statement:
// in their code there is one place in each lexical block. An address in a prologue is moved to its end.
func (m *Module) LinesByFile(file string, line int) []Location {
	return m.linesByFile(file, line, 0)
}

// linesByFile is LinesByFile, and LinesAtColumn if column is not 0.
func (m *Module) linesByFile(file string, line, column int) []Location {
	d := m.dwarf()
	if d == nil || file == "" || line <= 0 {
		return nil
	}
	// Which units have the file is known without running their line programs.
	type candidate struct {
		u     *unit
		files map[uint32]string
	}
	var candidates []candidate
	tables := map[*dwarf.LineTable]int{} // the candidate, or -1: units may have a table together
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
			// dwz moves entries into partial units, which keep the table but have no code.
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
	// The line, or else the nearest one below it, and the column that is asked for.
	best, bestColumn := 0, 0
	for _, c := range candidates {
		c.u.dw.Files().Each(func(seq dwarf.Lines) bool {
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
	if best == 0 {
		return nil
	}
	var out []Location
	for _, c := range candidates {
		var addrs []uint64
		var runs []lineRun
		c.u.dw.Files().Each(func(seq dwarf.Lines) bool {
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
		out = append(out, m.onePerBlock(c.u, best, addrs, runs)...)
	}
	// Two units, or a file under two names, may have the same place.
	slices.SortStableFunc(out, func(a, b Location) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(out, func(a, b Location) bool { return a.Addr == b.Addr })
}

// counts reports whether a breakpoint on its line may be at a row: not if
// another file's row at the same address replaces it, see chooseRow.
func counts(rows []dwarf.Row, i int) bool {
	if rows[i].Flags&dwarf.IsStmt == 0 || rows[i].Flags&dwarf.Repeated != 0 {
		return false
	}
	for j := i + 1; j < len(rows) && rows[j].Addr == rows[i].Addr; j++ {
		if rows[j].File != rows[i].File && rows[j].Line != 0 && rows[j].Flags&dwarf.IsStmt != 0 {
			return false
		}
	}
	return true
}

// continues reports whether the code of a row follows code of the same line (and column, if that matters), and so is no place of its own.
func continues(rows []dwarf.Row, i int, byColumn bool) bool {
	for j := i - 1; j >= 0; j-- {
		if rows[j].Addr == rows[i].Addr {
			continue // it has no code
		}
		// The row that the code before this is of: the last at its address.
		return samePlace(&rows[j], &rows[i], byColumn)
	}
	return false
}

// lineRun is code of a line without any of another line in between.
type lineRun struct{ lo, hi uint64 }

// runEnd is where the code of a row's line ends, or of its line and column.
func runEnd(seq dwarf.Lines, i int, byColumn bool) uint64 {
	r := &seq.Rows[i]
	for j := i + 1; j < len(seq.Rows); j++ {
		if n := &seq.Rows[j]; n.Addr > r.Addr && !samePlace(n, r, byColumn) {
			return n.Addr
		}
	}
	return seq.Hi
}

// begins reports, for the first addresses of runs, whether a line is reached there. The code that returns from the function, after the clean-up of its locals, has the
// line of a return statement, of one of several perhaps: it is left out if the line has other code in the function.
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

// returns reports whether code has an instruction that returns, or does nothing: gcc puts a nop after a clean-up.
func (m *Module) returns(r lineRun) bool {
	const most = 4096
	code := make([]byte, min(r.hi-r.lo, most))
	n, _ := m.file.ReadAt(image.Addr(r.lo), code)
	code = code[:n]
	switch m.file.Arch() {
	case arch.AMD64:
		idle := len(code) > 0
		for len(code) > 0 {
			in, err := x86asm.Decode(code, 64)
			if err != nil || in.Len <= 0 {
				return false
			}
			if in.Op == x86asm.RET {
				return true
			}
			idle = idle && in.Op == x86asm.NOP
			code = code[in.Len:]
		}
		return idle
	case arch.ARM64:
		for ; len(code) >= 4; code = code[4:] {
			if string(code[:4]) == "\xc0\x03\x5f\xd6" { // ret
				return true
			}
		}
	}
	return false
}

// comesBack reports whether the code before an address is of an inlined call that is made from a line, outside of the call: the
// line goes on there.
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

// onePerBlock keeps the first address in each lexical block, and those at which one of runs is reached, and makes locations of them.
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
