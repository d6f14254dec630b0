package session

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"dbg/frames"
	"dbg/frames/module"
	"dbg/image"
	"dbg/registry"
	"dbg/target"
)

// regCode is the code for which the program registered call frame information with its runtime library
// (package registry). Several files of a program may contain such a library, each with its own lists.
//
// The lists are read when a query asks about code that nothing else describes, and again at later stops.
type regCode struct {
	lists    []regList
	examined bool // all modules were searched for lists
	read     bool
	looked   uint64 // the number of the stop at the last check
	entries  map[registry.Entry]*regEntry
	ranges   []regRange // by address; they do not overlap
	troubles []string
}

// regList is a list of a module.
type regList struct {
	module *Module
	read   func(l registry.Layout, mem target.Memory) ([]registry.Entry, error)
}

// regEntry is one entry of a list.
type regEntry struct {
	registry.Entry
	looked  uint64 // the number of the stop at which the information was read
	unwind  *frames.Module
	covered []module.Range
}

// regRange is a range of an entry's code.
type regRange struct {
	module.Range
	entry *regEntry
}

// maxRegisteredBytes limits the registered call frame information that is read at one stop.
const maxRegisteredBytes = 64 << 20

// registeredFrames returns the unwinder's module for code whose call frame information the program
// registered, or nil.
func (s *Session) registeredFrames(a target.Addr) *frames.Module {
	r := &s.reg
	if s.tgt == nil || len(r.lists) == 0 && r.examined || !s.isMadeCode(a) {
		return nil
	}
	if !r.examined {
		s.findRegistries()
	}
	s.updateRegistered()
	i, ok := slices.BinarySearchFunc(r.ranges, uint64(a), func(x regRange, a uint64) int {
		switch {
		case x.Hi <= a:
			return -1
		case x.Lo > a:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	x := r.ranges[i].entry
	s.refreshRegistered(x)
	return x.unwind
}

// findRegistries searches new modules for lists, and drops those of modules that were unmapped.
func (s *Session) findRegistries() {
	r := &s.reg
	r.examined = true
	r.lists = slices.DeleteFunc(r.lists, func(l regList) bool { return !slices.Contains(s.modules.all, l.module) })
	for _, m := range s.modules.all {
		if !m.regSearched && m.Symbols != nil && m.Path != "[vdso]" {
			m.regSearched = true
			s.findRegistry(m)
		}
	}
}

// findRegistry finds the lists of a module by their symbols. A stripped library hides them, but not the
// functions that use them.
func (s *Session) findRegistry(m *Module) {
	add := func(read func(l registry.Layout, mem target.Memory) ([]registry.Entry, error)) {
		s.reg.lists = append(s.reg.lists, regList{m, read})
	}
	at := func(name string) (target.Addr, bool) {
		a, ok := m.Symbols.OwnLinkageAddr(name)
		return m.processAddr(a), ok
	}
	known := len(s.reg.lists)
	for _, name := range []string{registry.UnseenSymbol, registry.SeenSymbol} {
		if a, ok := at(name); ok {
			add(func(l registry.Layout, mem target.Memory) ([]registry.Entry, error) { return l.ReadList(mem, a) })
		}
	}
	if a, ok := at(registry.TreeSymbol); ok {
		add(func(l registry.Layout, mem target.Memory) ([]registry.Entry, error) { return l.ReadTree(mem, a) })
	}
	if buffer, ok := at(registry.CacheSymbol); ok {
		if used, ok := at(registry.CacheUsedSymbol); ok {
			add(func(l registry.Layout, mem target.Memory) ([]registry.Entry, error) {
				return l.ReadCache(mem, buffer, used)
			})
		}
	}
	if len(s.reg.lists) > known {
		return
	}
	for _, a := range s.cacheReferences(m) {
		add(func(l registry.Layout, mem target.Memory) ([]registry.Entry, error) {
			return l.ReadAnyCache(mem, a), nil
		})
	}
	for _, a := range s.registryReferences(m) {
		add(func(l registry.Layout, mem target.Memory) ([]registry.Entry, error) { return l.ReadAny(mem, a), nil })
	}
}

// registryReferences returns the addresses to which the functions of a stripped libgcc refer.
func (s *Session) registryReferences(m *Module) (list []target.Addr) {
	for _, name := range registry.Functions {
		a, ok := m.Symbols.OwnLinkageAddr(name)
		if !ok {
			continue
		}
		if lo, hi, ok := m.Symbols.CodeBounds(a); ok && lo == a {
			list = append(list, s.referencesOf(m, lo, int(min(hi-lo, image.Addr(registry.MaxFunction))))...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// cacheReferences returns the places of two words in a stripped libunwind of LLVM, to both of which its
// function refers.
func (s *Session) cacheReferences(m *Module) (list []target.Addr) {
	a, ok := m.Symbols.OwnLinkageAddr(registry.CacheFunction)
	if !ok {
		return nil
	}
	all := s.referencesOf(m, a, registry.CacheFunctionSize)
	for _, x := range all {
		if slices.Contains(all, x+target.Addr(s.tgt.Arch().PtrSize)) {
			list = append(list, x)
		}
	}
	return list
}

// referencesOf returns the addresses of the module itself to which n bytes of its code refer.
func (s *Session) referencesOf(m *Module, lo image.Addr, n int) (list []target.Addr) {
	b := make([]byte, n)
	got, _ := s.tgt.ReadMemory(m.processAddr(lo), b)
	for _, x := range registry.References(s.tgt.Arch(), b[:max(0, min(got, len(b)))], uint64(m.processAddr(lo))) {
		if x := target.Addr(x); x >= m.Lo && x < m.Hi {
			list = append(list, x)
		}
	}
	return list
}

// updateRegistered reads the lists if they may have changed since the last stop.
func (s *Session) updateRegistered() {
	r := &s.reg
	if r.read && (s.proc == nil || r.looked == s.stops) {
		return
	}
	old, layout, size, deadline := r.entries, registry.LayoutOf(s.tgt.Arch()), 0, time.Now().Add(maxJITTime)
	r.read, r.looked, r.entries, r.ranges = true, s.stops, map[registry.Entry]*regEntry{}, nil
	for i := range r.lists {
		l := &r.lists[i]
		list, err := l.read(layout, s.tgt)
		if err != nil {
			s.registeredTrouble(fmt.Errorf("%s: %w", l.module.Path, err))
		}
		for _, e := range list {
			if r.entries[e] != nil {
				continue
			}
			x := old[e]
			if x == nil {
				x = &regEntry{Entry: e}
			}
			r.entries[e] = x
			if e.Lo < e.Hi {
				r.ranges = append(r.ranges, regRange{module.Range{Lo: e.Lo, Hi: e.Hi}, x})
				continue
			}
			s.refreshRegistered(x)
			for _, c := range x.covered {
				r.ranges = append(r.ranges, regRange{c, x})
			}
			if x.unwind != nil {
				size += len(x.unwind.Contents().EHFrame.Data)
			}
			if size > maxRegisteredBytes || time.Now().After(deadline) {
				s.registeredTrouble(fmt.Errorf("%s: not all registered call frame information is used: there is too much",
					l.module.Path))
				break
			}
		}
	}
	r.ranges = withoutOverlaps(r.ranges)
}

// withoutOverlaps sorts ranges. Of two that overlap it drops the later one.
func withoutOverlaps(list []regRange) []regRange {
	slices.SortStableFunc(list, func(a, b regRange) int { return cmp.Compare(a.Lo, b.Lo) })
	end := uint64(0)
	return slices.DeleteFunc(list, func(x regRange) bool {
		if x.Lo < end {
			return true
		}
		end = x.Hi
		return false
	})
}

// refreshRegistered reads the information of an entry, once at each stop. The program may have changed it.
func (s *Session) refreshRegistered(x *regEntry) {
	if x.looked == s.stops+1 || x.looked != 0 && s.proc == nil {
		return
	}
	x.looked = s.stops + 1
	m, covered, err := frames.ModuleOfRegisteredFrames(s.tgt.Arch(), s.tgt, x.Entry)
	if err != nil {
		s.registeredTrouble(err)
		x.unwind, x.covered = nil, nil
		return
	}
	if x.unwind == nil || !bytes.Equal(x.unwind.Contents().EHFrame.Data, m.Contents().EHFrame.Data) {
		x.unwind = m
	}
	x.covered = covered
}

// registeredTrouble reports a problem with a list or an entry.
func (s *Session) registeredTrouble(err error) {
	const most = 20 // a program may have thousands of damaged entries
	r, text := &s.reg, err.Error()
	if len(r.troubles) == most || slices.Contains(r.troubles, text) {
		return
	}
	r.troubles = append(r.troubles, text)
	s.logf("%s", text)
	if len(r.troubles) == 1 {
		s.publish(LogMessage{Warning: true, Text: text})
	}
}
