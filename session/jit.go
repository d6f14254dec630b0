package session

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"dbg/jit"
	"dbg/target"
)

// madeCode is the code that the program generated while it ran, if it reports it to debuggers
// through the GDB JIT interface (package jit). Several files of a program may have the interface,
// each with its own list.
//
// A list is read when a query asks about code that is in no file. From then on, the program's
// reports keep it up to date: see followJIT. A list that was not read yet is always current, since
// it is read from memory when it is needed.
type madeCode struct {
	lists    []*jitList
	examined bool // all modules were searched for the interface
	noCode   bool // there is no code outside files: nothing must be searched
	bytes    int  // total size of the symbol files in memory

	codeMap

	// changes holds reports of the program that were not handled yet. The tracer's thread adds
	// them.
	changes struct {
		sync.Mutex // guards the other fields
		list       []jitChange
		lost       bool // there were too many reports: the lists must be read again
	}
}

// jitList is one list of the interface.
type jitList struct {
	module     *Module // the module with the interface
	layout     jit.Layout
	descriptor target.Addr
	register   target.Addr // called by the program after each change; 0 if there is none
	followed   bool
	read       bool
	first      target.Addr // the head of the list at the last check
	looked     uint64      // the number of the stop at the last check
	troubles   []string    // problems of the list and its files
	entries    []*jitEntry // oldest first
	byAddr     map[target.Addr]*jitEntry
}

// jitChange is a report of the program: it added an entry to a list or removed one.
type jitChange struct {
	descriptor target.Addr
	action     jit.Action
	entry      target.Addr
}

// Limits for all lists together.
const (
	maxJITBytes   = 128 << 20       // of symbol files
	maxJITTime    = 5 * time.Second // to read a list
	maxJITReports = 1 << 12         // that were not handled yet
)

// jitModule returns the module of the code at an address that is in no file, or nil.
func (s *Session) jitModule(a target.Addr) *Module {
	if s.tgt == nil || len(s.made.lists) == 0 && s.made.examined || !s.isMadeCode(a) {
		return nil
	}
	s.updateJIT()
	s.sortJIT()
	if x := s.made.at(a); x != nil {
		return s.openEntry(x)
	}
	return nil
}

func (s *Session) sortJIT() {
	if !s.made.sorted {
		s.made.sort(s.made.lists)
	}
}

// jitModules returns the modules of all code that is in no file, the newest first.
func (s *Session) jitModules() []*Module {
	if s.tgt == nil || len(s.made.lists) == 0 && (s.made.examined || !s.hasMadeCode()) {
		return nil
	}
	s.updateJIT()
	s.sortJIT()
	var out []*Module
	for _, l := range s.made.lists {
		for i := len(l.entries) - 1; i >= 0; i-- {
			if x := l.entries[i]; x.seen {
				out = append(out, s.openEntry(x))
			}
		}
	}
	return out
}

// isMadeCode reports whether an address is in executable memory that does not belong to a file with
// symbols.
func (s *Session) isMadeCode(a target.Addr) bool {
	maps := s.mappings()
	i := sort.Search(len(maps), func(i int) bool { return maps[i].Hi > a })
	return i < len(maps) && maps[i].Lo <= a && s.mayBeMade(&maps[i])
}

// hasMadeCode reports whether there is any executable memory like that.
func (s *Session) hasMadeCode() bool {
	if s.made.noCode {
		return false
	}
	maps := s.mappings()
	for i := range maps {
		if s.mayBeMade(&maps[i]) {
			return true
		}
	}
	s.made.noCode = true
	return false
}

func (s *Session) mayBeMade(m *target.Mapping) bool {
	if m.Exec == target.Denied || m.Path == "[vdso]" || m.Path == "[vsyscall]" {
		return false
	}
	mod := s.modules.mapped(m.Lo)
	return mod == nil || mod.Symbols == nil
}

// searchAtOnce limits the symbol names, in bytes, of files that are searched before a query asks
// about code in no file. Files with more names are large programs, and few of them generate code.
const searchAtOnce = 4 << 20

// findJIT searches new modules for the interface and, in a process that runs under the session,
// follows it. Large modules are searched only if all is true; otherwise they are left for later.
func (s *Session) findJIT(all bool) {
	s.made.examined = true
	for _, m := range s.modules.all {
		if m.jitSearched || m.Symbols == nil || m.Path == "[vdso]" {
			continue
		}
		if !all && m.Symbols.File().SymbolTable().NamesSize() > searchAtOnce {
			s.made.examined = false
			continue
		}
		m.jitSearched = true
		d, ok := m.Symbols.OwnLinkageAddr(jit.DescriptorSymbol)
		if !ok {
			continue
		}
		l := &jitList{module: m, layout: jit.LayoutOf(s.tgt.Arch()), descriptor: m.processAddr(d), byAddr: map[target.Addr]*jitEntry{}}
		if r, ok := m.Symbols.OwnLinkageAddr(jit.RegisterSymbol); ok {
			l.register = m.processAddr(r)
		}
		s.made.lists = append(s.made.lists, l)
	}
	if s.linked {
		s.followLists()
	}
}

// updateJIT updates the lists from the program's reports, and returns whether they have changed. It
// may be called during a walk, which asks for a module. Answers about generated code are never
// outdated, since each query comes here first.
func (s *Session) updateJIT() (changed bool) {
	if !s.made.examined {
		s.findJIT(true)
	}
	changes, lost := s.made.take()
	for _, l := range s.made.lists {
		switch {
		case !l.read, lost:
			changed = s.readList(l) || changed
		default:
			changed = s.followList(l, changes) || changed
		}
	}
	return changed
}

// followList applies reports to a list. Some programs change their lists without a report: if the
// head has changed without one, the list is read again.
func (s *Session) followList(l *jitList, changes []jitChange) (changed bool) {
	reported := false
	for _, c := range changes {
		if c.descriptor == l.descriptor {
			changed, reported = s.change(l, c) || changed, true
		}
	}
	if s.proc == nil || l.looked == s.stops && !reported {
		return changed
	}
	l.looked = s.stops
	d, err := l.layout.ReadDescriptor(s.tgt, l.descriptor)
	switch {
	case err != nil || d.First == l.first:
	case reported:
		l.first = d.First
	default:
		changed = s.readList(l) || changed
	}
	return changed
}

// take returns the reports that were not handled yet.
func (c *madeCode) take() (list []jitChange, lost bool) {
	c.changes.Lock()
	defer c.changes.Unlock()
	list, lost = c.changes.list, c.changes.lost
	c.changes.list, c.changes.lost = nil, false
	return list, lost
}

// readList reads a whole list again.
func (s *Session) readList(l *jitList) (changed bool) {
	changed = len(l.entries) > 0
	for len(l.entries) > 0 {
		s.dropEntry(l, l.entries[len(l.entries)-1].Addr)
	}
	l.read, l.first, l.looked = true, 0, s.stops
	d, err := l.layout.ReadDescriptor(s.tgt, l.descriptor)
	if err != nil {
		s.jitTrouble(l, err)
		return changed
	}
	l.first = d.First
	deadline := time.Now().Add(maxJITTime)
	list, err := l.layout.Entries(s.tgt, d.First, deadline)
	if err != nil {
		s.jitTrouble(l, err)
	}
	// The newest entry is the first of the list.
	bytes := 0
	for i, e := range list {
		if bytes += int(min(e.Size, jit.MaxFile)); bytes > maxJITBytes || i%64 == 63 && time.Now().After(deadline) {
			s.jitTrouble(l, fmt.Errorf("only the newest %d of %d symbol files of JIT code are used: there are too many", i, len(list)))
			list = list[:i]
			break
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		changed = s.addEntry(l, list[i]) || changed
	}
	return changed
}

// change applies one report to a list.
func (s *Session) change(l *jitList, c jitChange) (changed bool) {
	changed = s.dropEntry(l, c.entry) // its memory may have been used again
	if c.action != jit.Registered {
		return changed
	}
	e, err := l.layout.ReadEntry(s.tgt, c.entry)
	if err != nil {
		s.jitTrouble(l, err)
		return changed
	}
	return s.addEntry(l, e) || changed
}

// jitTrouble reports a problem with a list.
func (s *Session) jitTrouble(l *jitList, err error) {
	const most = 20 // a program may have thousands of damaged entries
	if len(l.troubles) == most {
		return
	}
	text := fmt.Sprintf("%s: %v", l.module.Path, err)
	if slices.Contains(l.troubles, text) {
		return
	}
	l.troubles = append(l.troubles, text)
	s.logf("%s", text)
	if len(l.troubles) == 1 {
		s.publish(LogMessage{Warning: true, Text: text})
	}
}

// forgetJIT drops all generated code of a process that has ended.
func (s *Session) forgetJIT() {
	s.perf, s.dyn, s.reg = perfMap{}, dynCode{}, regCode{}
	s.made.take()
	s.made.lists, s.made.codeMap, s.made.bytes = nil, codeMap{}, 0
	s.made.examined, s.made.noCode = false, false
}
