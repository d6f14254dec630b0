package symbols

import (
	"sort"

	"dbg/code"
	"dbg/dwarf"
	"dbg/dwarf/linetable"
	"dbg/image"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// AfterPrologue returns the location for a breakpoint on a function, where its parameters can be
// read. The rules are those of gdb 13, so that both debuggers stop at the same instruction:
//
//   - gcc code whose variables have location lists: the entry, since the lists are valid from the
//     first instruction on;
//   - other code with a line table: the end of the line in which the prologue's instructions
//     (x86: push %rbp; mov %rsp,%rbp) end, or the entry if there is no such prologue;
//   - code of other compilers: the row with prologue_end, or else the second line;
//   - without debug information: after the prologue's instructions.
func (m *Module) AfterPrologue(f *Function) Location {
	if f == nil {
		return Location{}
	}
	a := m.skipPrologue(f.Lo)
	loc := Location{Addr: a, Function: f}
	if line, ok := m.LineAt(a); ok {
		loc.Position = line.Position
	}
	return loc
}

// BreakLocations returns the locations for a breakpoint on the functions with a name: one place
// after the prologue in each of them, and in each inlined copy. See FunctionsByName. A place from
// a saved index has no description yet: see Location.Describe.
func (m *Module) BreakLocations(name string) []Location {
	q, ok := spelling.ParseQuery(name)
	if !ok {
		return nil
	}
	var out []Location
	seen := map[image.Addr]bool{}
	add := func(l Location) {
		if !seen[l.Addr] {
			seen[l.Addr] = true
			out = append(out, l)
		}
	}
	after := func(fn *Function) {
		if fn != nil {
			add(m.AfterPrologue(fn))
		}
	}
	m.names.Load()
	n := 0
	symbols := m.functionSymbols(q)
	places := m.manyPlaces(symbols)
	for _, s := range symbols {
		if a, ok := places[s.Addr]; ok {
			add(Location{Addr: a, m: m})
			continue
		}
		if x := m.names.Present(); x != nil {
			if at, ok := x.BreakPlace(uint64(s.Addr)); ok {
				add(Location{Addr: image.Addr(at), m: m})
				continue
			}
		}
		m.functionsOf(s, after)
		if n++; n%64 == 0 && m.files.Here() {
			m.dwarf().Release()
		}
	}
	if len(out) == 0 {
		m.functionsNamed(q, after)
	}
	if len(out) == 0 {
		m.goFunctionsNamed(q, after)
	}
	return out
}

// Describe fills in Function and Position, if they are not set. Call it before reading them. Like
// all methods of the module, it must be called by one goroutine at a time.
func (l *Location) Describe() {
	m := l.m
	if m == nil {
		return
	}
	l.m = nil
	l.Function = m.FunctionAt(l.Addr)
	if line, ok := m.LineAt(l.Addr); ok {
		l.Position = line.Position
	}
}

// skipPrologue moves an address in the prologue of its function to the end of the prologue.
func (m *Module) skipPrologue(a image.Addr) image.Addr {
	fn := m.functionAt(a)
	if fn == nil {
		lo := a
		if f := m.elfFunctionAt(a); f != nil {
			lo = f.Lo
		}
		return max(a, m.afterInstructions(lo))
	}
	return max(a, m.prologueEnd(fn))
}

func (m *Module) prologueEnd(fn *function) image.Addr {
	return m.endOfPrologue(fn.u, fn.entry(), fn.entryEnd())
}

// entryEnd returns the end of the code range that contains the entry.
func (fn *function) entryEnd() uint64 {
	entry := fn.entry()
	end := entry
	for _, r := range fn.ranges {
		if r.Lo <= entry && entry < r.Hi {
			end = r.Hi
		}
	}
	return end
}

// endOfPrologue is prologueEnd of a function whose code around its entry ends at end.
func (m *Module) endOfPrologue(u *unit, entry, end uint64) image.Addr {
	if u.goodFromEntry() {
		return image.Addr(entry)
	}
	seq, ok := u.dw.Files().At(entry)
	if !ok {
		return m.afterInstructions(image.Addr(entry))
	}
	return m.prologueEndIn(u, seq, entry, end)
}

// goodFromEntry reports whether the variables of a unit's functions are valid in the prologues,
// too.
func (u *unit) goodFromEntry() bool { return u.gcc && u.lang != lang.Asm && u.hasLocationLists() }

// prologueEndIn is endOfPrologue according to the rows of the sequence that contains the entry.
func (m *Module) prologueEndIn(u *unit, seq linetable.Sequence, entry, end uint64) image.Addr {
	rows := seq.Rows
	var pc uint64
	if u.gcc || u.lang == lang.Asm {
		pc = uint64(m.afterInstructions(image.Addr(entry)))
	} else {
		for _, r := range rows[sort.Search(len(rows), func(i int) bool { return rows[i].Addr >= entry }):] {
			if r.Addr >= end {
				break
			}
			if r.Flags&linetable.PrologueEnd != 0 {
				return image.Addr(r.Addr)
			}
		}
		pc = secondLine(rows, seq.Hi, entry, end)
	}
	// In the middle of a line: use its end, if that is still in the function.
	if lo, hi := lineRange(rows, seq.Hi, pc); lo != pc && hi < end && hi > pc {
		pc = hi
	}
	return image.Addr(pc)
}

// secondLine returns the start of the second line of a function. It returns the entry if there
// are two rows for the entry (a prologue without instructions), or if there is no second line.
func secondLine(rows []linetable.Row, seqHi, entry, end uint64) uint64 {
	n := 0
	for _, r := range rows {
		if r.Addr == entry && r.Line != 0 && r.Flags&linetable.Repeated == 0 {
			n++
		}
	}
	_, hi := lineRange(rows, seqHi, entry)
	if n > 1 || hi >= end {
		return entry
	}
	return hi
}

// lineRange returns the addresses of the line that contains pc. Rows without a line, and rows
// that repeat the line before them, are ignored.
func lineRange(rows []linetable.Row, seqHi, pc uint64) (lo, hi uint64) {
	hi = seqHi
	for _, r := range rows {
		if r.Line == 0 || r.Flags&linetable.Repeated != 0 {
			continue
		}
		if r.Addr > pc {
			return lo, r.Addr
		}
		lo = r.Addr
	}
	return lo, hi
}

// hasLocationLists reports whether a variable or parameter of the unit has a location list. gcc
// writes location lists when it optimises, and then variables are valid at every instruction,
// also in the prologue.
func (u *unit) hasLocationLists() bool {
	if u.lists != 0 {
		return u.lists > 0
	}
	u.lists = -1
	// Entries of a kind share an abbreviation. Usually no abbreviation allows a location list.
	if !u.dw.DeclaresList(dwarf.AttrLocation, dwarf.TagVariable, dwarf.TagFormalParameter) {
		return false
	}
	c, err := u.dw.Cursor(u.dw.First)
	if err != nil {
		return false
	}
	for c.Next() {
		var v dwarf.Value
		if (c.Tag() == dwarf.TagVariable || c.Tag() == dwarf.TagFormalParameter) && c.Has()&dwarf.HasLocation != 0 &&
			c.Value(dwarf.AttrLocation, &v) && u.dw.IsList(&v) {
			u.lists = 1
			break
		}
	}
	return u.lists > 0
}

// afterInstructions returns the end of the instructions that set up a frame. If there are none, it
// returns the entry.
func (m *Module) afterInstructions(entry image.Addr) image.Addr {
	var text [16]byte
	n, _ := m.file.ReadAt(entry, text[:])
	return entry + image.Addr(code.FrameSetup(m.file.Arch(), text[:n]))
}
