package module

import (
	"sync"
	"sync/atomic"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
	"dbg/row/compiled"
)

// tables holds the data that is derived from a module's sections. It is made at the first use and
// does not change after that, except for the compiled rows, which are added once.
type tables struct {
	once    sync.Once
	list    []*Source // in the order of use
	debug   *Source   // .debug_frame, or nil
	eh      *Source   // .eh_frame, or nil
	entryLo uint64    // the function at Module.Entry, in the file's address space
	entryHi uint64
}

// table decodes a section. It returns ErrNotCovered of package cfi if no entry covers an address.
type table interface {
	Name() string // the section's name
	RowAt(pc uint64, r *row.Row) error
	Bounds(pc uint64) (lo, hi uint64, ok bool) // the bounds of the entry at pc: a function, or a part of one
	Entries() int
	EachRow(i, j int, fn cfi.RowFunc) bool
}

// Kind is the kind of a table.
type Kind uint8

const (
	KindCFI     Kind = iota // call frame information, or Go's own table
	KindCompact             // Apple's __unwind_info, and rows from the code of stubs
	KindPData               // the function table of a PE image
	KindJIT                 // call frame information for code that the program generated at run time
	KindEHABI               // ARM's .ARM.exidx: rows for calls, and of no instruction in particular
	KindORC                 // the Linux kernel's .orc_unwind
	KindSFrame              // SFrame: rows without most registers
	KindDynInfo             // libunwind's dynamic unwind information

	kinds // number of kinds
)

// Source is one table of a module: the section, and its rows once they are compiled.
type Source struct {
	table
	arch      *arch.Arch
	kind      Kind
	size      int // size of the section in bytes
	preserved arch.RegSet
	leaves    bool // its rows are those of functions that have not called
	derived   bool // its rows are not in a section, but follow from what is in none

	maxMisses int64 // number of rows that are interpreted before all are compiled
	compiled  atomic.Pointer[compiled.Table]
	once      sync.Once
	misses    atomic.Int64
	compiler  *cfi.Compiler
}

// entryGuess is the assumed size of the entry function if no table covers it: _start has about 40
// bytes everywhere.
const entryGuess = 64

// bytesPerMiss is the number of bytes of a section that can be compiled in the time of interpreting
// one row. A module is compiled when interpreting has cost as much as compiling would have. So the
// total cost is at most twice the optimum.
const bytesPerMiss = 64

func (m *Module) load(a *arch.Arch) *tables {
	t := &m.tables
	t.once.Do(func() {
		if s := m.registered(a); s != nil {
			t.list = append(t.list, s)
		}
		functions, leaves := m.functionTable(a)
		if functions != nil {
			t.list = append(t.list, functions) // before .debug_frame, which GCC makes wrong after a frame pointer is popped
		}
		if len(m.contents.DebugFrame.Data) > 0 {
			s := &Source{arch: a, kind: m.Kind(), size: len(m.contents.DebugFrame.Data), maxMisses: int64(len(m.contents.DebugFrame.Data) / bytesPerMiss), preserved: a.CalleeSavedSet}
			s.table = cfi.New(cfi.Config{Arch: a, Data: m.contents.DebugFrame.Data, Addr: m.contents.DebugFrame.Addr, Debug: true})
			if m.contents.Go {
				s.preserved = arch.RegSet{}
			}
			t.debug, t.list = s, append(t.list, s)
		}
		if len(m.contents.EHFrame.Data) > 0 {
			s := &Source{arch: a, kind: m.Kind(), size: len(m.contents.EHFrame.Data), maxMisses: int64(len(m.contents.EHFrame.Data) / bytesPerMiss), preserved: a.CalleeSavedSet}
			s.table = cfi.New(cfi.Config{Arch: a, Data: m.contents.EHFrame.Data, Addr: m.contents.EHFrame.Addr,
				DarwinEH: m.contents.MachO, Hdr: m.contents.EHFrameHdr.Data, HdrAddr: m.contents.EHFrameHdr.Addr, Text: m.contents.Text, DataBase: m.contents.Data})
			t.eh = s
		}
		if len(m.contents.UnwindInfo.Data) > 0 {
			if s := m.unwindInfo(a); s != nil {
				t.list = append(t.list, s)
			}
		}
		t.list = append(t.list, m.stubs(a)...)
		if t.eh != nil {
			t.list = append(t.list, t.eh) // after __unwind_info, which refines it
		}
		if m.contents.hasMini {
			t.list = append(t.list, m.miniSource(a))
		}
		if t.debug == nil {
			if s := m.goSource(a); s != nil {
				t.list = append(t.list, s)
			}
		}
		if s := m.ehabiSource(a); s != nil {
			t.list = append(t.list, s) // after call frame information, which describes every instruction
		}
		if s := m.sframeSource(a); s != nil {
			t.list = append(t.list, s) // after the tables that describe all registers
		}
		if s, switches := m.orcSources(a); s != nil {
			t.list = append(append([]*Source{switches}, t.list...), s)
		}
		if leaves != nil {
			t.list = append(t.list, leaves)
		}
		compiler := m.contents.Compiler
		if compiler == nil {
			compiler = new(cfi.Compiler)
		}
		for _, s := range t.list {
			s.compiler = compiler
		}
		if m.contents.Entry == 0 {
			return
		}
		t.entryLo, t.entryHi = m.contents.Entry, m.contents.Entry+entryGuess
		for _, s := range t.list {
			if s.size == 0 || s.kind == KindEHABI {
				continue // avoid opening it; an entry of .ARM.exidx may cover other functions too
			}
			if lo, hi, ok := s.Bounds(m.contents.Entry); ok {
				t.entryLo, t.entryHi = lo, hi
				return
			}
		}
		if lo, hi, ok := m.Symbol(m.contents.Entry); ok && lo <= m.contents.Entry {
			t.entryLo, t.entryHi = lo, hi // the function after a short _start is not the entry
		}
	})
	return t
}

// Lookup is what look-ups of rows need from their caller: the architecture, the tables to use, and
// the caches that they share. It belongs to one goroutine.
type Lookup struct {
	Arch *arch.Arch
	Skip [kinds]bool // tables of these kinds are not used

	row   row.Row
	plans [3]compiled.PlanCache // of the platform's preserved registers, of none, of those of Windows
}

// PlanAt returns the rules at pc, an address in the file, and the table that contains them.
// If a table has an entry for pc but no rule, it is the table of the error. .debug_frame comes before
// .eh_frame: if both tables cover an address, it is the one that describes every instruction. It returns
// ErrNotCovered of package cfi if no entry covers pc. The plan belongs to the module or to l, and does
// not change.
func (m *Module) PlanAt(l *Lookup, pc uint64) (*compiled.Plan, *Source, error) {
	t := m.load(l.Arch)
	err, from := cfi.ErrNotCovered, (*Source)(nil)
	for _, s := range t.list {
		if l.Skip[s.kind] {
			continue
		}
		p, e := s.planAt(l, pc)
		if e == nil {
			return p, s, nil
		}
		if e != cfi.ErrNotCovered {
			err, from = e, s
		}
	}
	return nil, from, err
}

func (s *Source) planAt(l *Lookup, pc uint64) (*compiled.Plan, error) {
	if t := s.compiled.Load(); t != nil {
		if p, n := t.Lookup(pc); p != nil {
			return p, nil
		} else if n == compiled.NoRule {
			return nil, cfi.ErrNotCovered
		}
	} else if s.misses.Add(1) > s.maxMisses {
		s.compile()
	}
	if err := s.RowAt(pc, &l.row); err != nil {
		return nil, err
	}
	return l.Plan(s, &l.row), nil
}

// Plan returns the plan for a row that is used in place of a row of s. Equal rows share a plan.
func (l *Lookup) Plan(s *Source, r *row.Row) *compiled.Plan {
	cache := &l.plans[0]
	switch s.preserved {
	case l.Arch.CalleeSavedSet:
	case arch.RegSet{}:
		cache = &l.plans[1]
	default:
		cache = &l.plans[2]
	}
	return cache.Plan(s.arch, r, s.preserved)
}

// Sources returns the module's tables in the order of their use. The caller must not change the
// slice.
func (m *Module) Sources(a *arch.Arch) []*Source { return m.load(a).list }

// AllSources returns the tables of Sources, and Go's own table also where .debug_frame is used instead.
func (m *Module) AllSources(a *arch.Arch) []*Source {
	t := m.load(a)
	if t.debug == nil {
		return t.list
	}
	s := m.goSource(a)
	if s == nil {
		return t.list
	}
	return append(t.list[:len(t.list):len(t.list)], s)
}

// Kind returns the kind of the table.
func (s *Source) Kind() Kind { return s.kind }

// HasLeaves reports whether the rows of the table are those of functions that have not called.
func (s *Source) HasLeaves() bool { return s.leaves }

// IsDerived reports whether no section has the rows: they are those of stubs, or of functions without
// an entry.
func (s *Source) IsDerived() bool { return s.derived }

// Preserved returns the registers that keep their value where a row does not describe them. The
// caller must not change the set.
func (s *Source) Preserved() *arch.RegSet { return &s.preserved }

// Origin decodes the row at pc, an address in the file, from any table, and returns the name of the
// section that contains it. Unlike PlanAt, it ignores compiled rows. It returns ErrNotCovered of
// package cfi if no entry covers pc.
func (m *Module) Origin(a *arch.Arch, pc uint64, r *row.Row) (table string, err error) {
	err = cfi.ErrNotCovered
	for _, s := range m.load(a).list {
		e := s.RowAt(pc, r)
		if e == nil {
			return s.Name(), nil
		}
		if e != cfi.ErrNotCovered {
			table, err = s.Name(), e
		}
	}
	return table, err
}

// Compile compiles the rows of the module's tables, so that look-ups need not interpret any more.
// Without it, the walk compiles them when that is worth it. Any goroutine may call it.
func (m *Module) Compile(a *arch.Arch) {
	for _, s := range m.load(a).list {
		s.compile()
	}
}

// Compiled returns the compiled rows of .debug_frame and .eh_frame, or nil where there are none.
func (m *Module) Compiled(a *arch.Arch) (debugFrame, ehFrame *compiled.Table) {
	t := m.load(a)
	if t.debug != nil {
		debugFrame = t.debug.compiled.Load()
	}
	if t.eh != nil {
		ehFrame = t.eh.compiled.Load()
	}
	return debugFrame, ehFrame
}

// InEntry reports whether pc, an address in the file, is in the function at Contents.Entry.
func (m *Module) InEntry(a *arch.Arch, pc uint64) bool {
	if m.contents.Entry == 0 {
		return false
	}
	t := m.load(a)
	return t.entryLo <= pc && pc < t.entryHi
}

// FunctionStart returns the start of the function at pc according to the tables, both in the file's
// address space.
func (m *Module) FunctionStart(a *arch.Arch, pc uint64) (uint64, bool) {
	for _, s := range m.load(a).list {
		if lo, _, ok := s.Bounds(pc); ok {
			return lo, true
		}
	}
	return 0, false
}

// Tables returns the module's call frame information, for listings. A result is nil if the section
// is missing.
func (m *Module) Tables(a *arch.Arch) (debugFrame, ehFrame *cfi.Table) {
	t := m.load(a)
	if t.debug != nil {
		debugFrame = t.debug.table.(*cfi.Table)
	}
	if t.eh != nil {
		ehFrame = t.eh.table.(*cfi.Table)
	}
	return debugFrame, ehFrame
}
