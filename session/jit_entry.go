package session

import (
	"fmt"
	"slices"

	"dbg/frames"
	"dbg/image"
	"dbg/jit"
	"dbg/symbols"
	"dbg/target"
)

// jitEntry is one symbol file of a list.
type jitEntry struct {
	jit.Entry
	file   *image.File
	bytes  int // the size of the file
	ranges []codeRange
	seen   bool    // some of its code is not covered by newer code, valid while madeCode is sorted
	module *Module // nil until a query needs it
}

// addEntry reads the headers of a new entry's symbol file. It returns false if the file can't be
// used.
func (s *Session) addEntry(l *jitList, e jit.Entry) bool {
	if len(l.entries) >= jit.MaxEntries || s.made.bytes+int(min(e.Size, jit.MaxFile)) > maxJITBytes {
		s.jitTrouble(l, fmt.Errorf("the symbol file of the JIT code entry at %s is not used: there are too many", e.Addr))
		return false
	}
	data, err := jit.ReadFile(s.tgt, e)
	if err != nil {
		s.jitTrouble(l, err)
		return false
	}
	f, err := image.FromObject(fmt.Sprintf("[jit %s]", e.File), data)
	if err != nil {
		s.jitTrouble(l, err)
		return false
	}
	if f.Arch() != s.tgt.Arch() {
		s.jitTrouble(l, fmt.Errorf("the symbol file at %s is for %s", e.File, f.Machine()))
		return false
	}
	x := &jitEntry{Entry: e, file: f, bytes: len(data)}
	for _, seg := range f.Segments() {
		if seg.Exec {
			x.ranges = append(x.ranges, codeRange{target.Addr(seg.Lo), target.Addr(seg.Hi), x})
		}
	}
	l.entries, l.byAddr[e.Addr] = append(l.entries, x), x
	s.made.bytes += len(data)
	s.made.insert(x)
	return true
}

// dropEntry removes the entry at an address. It returns false if there is none.
func (s *Session) dropEntry(l *jitList, at target.Addr) bool {
	x := l.byAddr[at]
	if x == nil {
		return false
	}
	delete(l.byAddr, at)
	i := len(l.entries) - 1
	for l.entries[i] != x { // programs mostly remove new entries
		i--
	}
	l.entries = slices.Delete(l.entries, i, i+1)
	s.made.bytes -= x.bytes
	s.made.delete(x)
	if x.module != nil {
		for _, b := range s.breakpoints.all {
			delete(b.found, x.module.Symbols)
		}
	}
	return true
}

// openEntry returns the module of an entry, which it makes at the first call.
func (s *Session) openEntry(x *jitEntry) *Module {
	if x.module != nil {
		return x.module
	}
	m := &Module{Path: x.file.Path(), file: x.file}
	for i, r := range x.ranges {
		if i == 0 || r.lo < m.Lo {
			m.Lo = r.lo
		}
		m.Hi = max(m.Hi, r.hi)
	}
	// The file is complete: nothing is searched for on disk.
	m.Symbols = symbols.Load(x.file, symbols.Options{DebugDirs: []string{}, Progress: s.cfg.Indexing, Cancelled: s.group.cutShort})
	m.jit = x
	m.unwind = frames.ModuleOfJIT(x.file, frames.Placement{Name: m.Path, Lo: m.Lo, Hi: m.Hi, FunctionAt: functionAt(m.Symbols), Compiler: &s.compiler})
	x.module = m
	return m
}

// has reports whether an address is in the entry's code.
func (x *jitEntry) has(a target.Addr) bool {
	for _, r := range x.ranges {
		if r.lo <= a && a < r.hi {
			return true
		}
	}
	return false
}
