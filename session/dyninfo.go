package session

import (
	"fmt"
	"slices"

	"dbg/cfi"
	"dbg/code"
	"dbg/dyninfo"
	"dbg/frames"
	"dbg/frames/module"
	"dbg/row"
	"dbg/target"
)

// dynCode is the code that the program made and registered with libunwind (package dyninfo).
// Several files of a program may contain libunwind, each with its own list.
//
// A list is read when a query asks about code that is in no file. At each later stop its head is read
// again, and the whole list if the head has changed.
type dynCode struct {
	lists    []*dynList
	examined bool // all modules were searched for lists
	aliases  int  // aliases that are being followed
}

// dynList is one list.
type dynList struct {
	module   *Module // the module with libunwind
	layout   dyninfo.Layout
	addr     target.Addr
	read     bool
	looked   uint64 // the number of the stop at the last check
	head     dyninfo.Header
	entries  []*dynEntry // newest first
	troubles []string
}

// dynEntry is one entry of a list.
type dynEntry struct {
	dyninfo.Info
	name   string
	opened bool
	unwind *frames.Module // nil if the entry can't be used
}

// registeredModule returns the unwinder's module for registered code at an address, or nil.
func (s *Session) registeredModule(a target.Addr) *frames.Module {
	l, x := s.registeredAt(a)
	if x == nil {
		return nil
	}
	if !x.opened {
		x.opened = true
		s.openRegistered(l, x)
	}
	return x.unwind
}

// registeredName returns the name and the start of the registered code at an address.
func (s *Session) registeredName(a target.Addr) (name string, lo target.Addr, ok bool) {
	_, x := s.registeredAt(a)
	if x == nil || x.name == "" {
		return "", 0, false
	}
	return x.name, target.Addr(x.Start), true
}

// registeredAt returns the newest entry that covers an address, as libunwind does; nil if there is none.
func (s *Session) registeredAt(a target.Addr) (*dynList, *dynEntry) {
	if s.tgt == nil || len(s.dyn.lists) == 0 && s.dyn.examined || !s.isMadeCode(a) {
		return nil, nil
	}
	if !s.dyn.examined {
		s.findLists()
	}
	for _, l := range s.dyn.lists {
		s.updateList(l)
		for _, x := range l.entries {
			if x.Covers(uint64(a)) {
				return l, x
			}
		}
	}
	return nil, nil
}

// findLists searches new modules for lists, and drops the lists of modules that were unmapped.
func (s *Session) findLists() {
	r := &s.dyn
	r.examined = true
	r.lists = slices.DeleteFunc(r.lists, func(l *dynList) bool { return !slices.Contains(s.modules.all, l.module) })
	for _, m := range s.modules.all {
		if m.dynSearched || m.Symbols == nil || m.Path == "[vdso]" {
			continue
		}
		m.dynSearched = true
		if a, ok := s.listAddress(m); ok {
			r.lists = append(r.lists, &dynList{module: m, layout: dyninfo.LayoutOf(s.tgt.Arch()), addr: a})
		}
	}
}

// listAddress returns the address of the list in a module. A stripped library hides the list, but not
// the function that returns its address.
func (s *Session) listAddress(m *Module) (target.Addr, bool) {
	if a, ok := m.Symbols.OwnLinkageAddr(dyninfo.ListSymbol); ok {
		return m.processAddr(a), true
	}
	fn, ok := m.Symbols.OwnLinkageAddr(dyninfo.ListAddressSymbol)
	if !ok {
		return 0, false
	}
	at := m.processAddr(fn)
	var b [16]byte
	n, _ := s.tgt.ReadMemory(at, b[:])
	a, ok := dyninfo.ListAddress(s.tgt.Arch(), b[:max(0, min(n, len(b)))], uint64(at))
	return target.Addr(a), ok
}

// updateList reads a list, if it may have changed since the last stop.
func (s *Session) updateList(l *dynList) {
	if l.read && (s.proc == nil || l.looked == s.stops) {
		return
	}
	l.looked = s.stops
	h, err := l.layout.ReadHeader(s.tgt, l.addr)
	if err == nil && l.read && h == l.head {
		return
	}
	l.read, l.head, l.entries = true, h, nil
	if err != nil {
		s.dynTrouble(l, err)
		return
	}
	list, err := l.layout.ReadList(s.tgt, h)
	if err != nil {
		s.dynTrouble(l, err)
	}
	for i := range list {
		l.entries = append(l.entries, &dynEntry{Info: list[i], name: list[i].ReadName(s.tgt)})
	}
}

// openRegistered makes the unwinder's module of an entry.
func (s *Session) openRegistered(l *dynList, x *dynEntry) {
	name := fmt.Sprintf("[registered %s]", x.Addr)
	if x.name != "" {
		name = fmt.Sprintf("[registered %s]", x.name)
	}
	m, err := frames.ModuleOfRegistered(module.Registration{Name: name, Arch: s.tgt.Arch(), Memory: s.tgt, Info: x.Info,
		InstructionLength: s.instructionLength, Alias: s.aliasRow})
	if err != nil {
		s.dynTrouble(l, err)
		return
	}
	x.unwind = m
}

// instructionLength returns the length of the instruction at an address, or 0.
func (s *Session) instructionLength(pc uint64) int {
	var b [16]byte
	n, _ := s.tgt.ReadMemory(target.Addr(pc), b[:])
	if n <= 0 || !code.Supported(s.tgt.Arch()) {
		return 0
	}
	i := code.Decode(s.tgt.Arch(), b[:min(n, len(b))])
	return int(i.Len)
}

// maxAliases limits the aliases of aliases.
const maxAliases = 8

// aliasRow fills r with the row at an address, from any table, with the process's addresses.
func (s *Session) aliasRow(pc uint64, r *row.Row) error {
	if s.dyn.aliases >= maxAliases {
		return fmt.Errorf("more than %d aliases of aliases", maxAliases)
	}
	s.dyn.aliases++
	defer func() { s.dyn.aliases-- }()
	m := s.space.FindModule(target.Addr(pc))
	if m == nil {
		return cfi.ErrNotCovered
	}
	if _, err := m.Origin(s.tgt.Arch(), pc-m.Bias(), r); err != nil {
		return err
	}
	r.Lo, r.Hi = r.Lo+m.Bias(), r.Hi+m.Bias()
	inRegs := slices.ContainsFunc(r.Regs, func(x row.RegRule) bool { return hasAddress(&x.Rule) })
	if m.Bias() != 0 && (inRegs || hasAddress(&r.CFA)) {
		return fmt.Errorf("the row depends on an address in %s", m.Name())
	}
	return nil
}

// hasAddress reports whether a rule may contain an address of its file: it has an expression.
func hasAddress(r *row.Rule) bool { return len(r.Expr) > 0 }

// dynTrouble reports a problem with a list.
func (s *Session) dynTrouble(l *dynList, err error) {
	const most = 20 // a program may have thousands of damaged entries
	text := fmt.Sprintf("%s: %v", l.module.Path, err)
	if len(l.troubles) == most || slices.Contains(l.troubles, text) {
		return
	}
	l.troubles = append(l.troubles, text)
	s.logf("%s", text)
	if len(l.troubles) == 1 {
		s.publish(LogMessage{Warning: true, Text: text})
	}
}
