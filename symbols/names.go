package symbols

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"dbg/dwarf"
	"dbg/image"
)

// maxHops bounds how many references (DW_AT_abstract_origin,
// DW_AT_specification) are followed from one entry: two are normal, and a
// corrupt file can make a circle.
const maxHops = 8

// origins calls fn for an entry and for those that it is an instance or a
// completion of (DWARF 5, sections 2.13.2 and 3.3.8.1), until fn returns true.
// An attribute that is missing in one is that of the next.
func origins(e *dwarf.Entry, fn func(e *dwarf.Entry) bool) {
	for hop := 0; e != nil && hop < maxHops; hop++ {
		if fn(e) {
			return
		}
		next := e.Ref(dwarf.AttrAbstractOrigin)
		if next == nil {
			next = e.Ref(dwarf.AttrSpecification)
		}
		e = next
	}
}

// inherited returns the entry, among e and its origins, that has an attribute;
// nil if none has.
func inherited(e *dwarf.Entry, a dwarf.Attr) *dwarf.Entry {
	var found *dwarf.Entry
	origins(e, func(e *dwarf.Entry) bool {
		if e.Has(a) {
			found = e
		}
		return found != nil
	})
	return found
}

// nameOf returns the unqualified name of an entry, its own or inherited.
func nameOf(e *dwarf.Entry) string {
	if e = inherited(e, dwarf.AttrName); e == nil {
		return ""
	}
	s, _ := e.String(dwarf.AttrName)
	return s
}

// linkageOf returns DW_AT_linkage_name, "" if there is none.
func linkageOf(e *dwarf.Entry) string {
	for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName} {
		if o := inherited(e, a); o != nil {
			s, _ := o.String(a)
			return s
		}
	}
	return ""
}

// declaration returns where an entry says that it is declared.
func (m *Module) declaration(e *dwarf.Entry) (file string, line int) {
	if o := inherited(e, dwarf.AttrDeclFile); o != nil {
		n, _ := o.Uint(dwarf.AttrDeclFile)
		file = o.Unit.Files().File(n)
	}
	if o := inherited(e, dwarf.AttrDeclLine); o != nil {
		n, _ := o.Uint(dwarf.AttrDeclLine)
		line = sourceLine(n)
	}
	return file, line
}

// sourceLine is a line number from a file; 0 for an absurd one.
func sourceLine(n uint64) int {
	if n >= 1<<31 {
		return 0
	}
	return int(n)
}

// qualifiedName returns the name with its namespaces and classes, as gdb prints
// it: the place that counts is that of the last origin, the declaration in the
// class.
func (m *Module) qualifiedName(e *dwarf.Entry) string {
	name := nameOf(e)
	if name == "" {
		if l := linkageOf(e); l != "" {
			return demangled(l)
		}
		return ""
	}
	last := e
	origins(e, func(e *dwarf.Entry) bool { last = e; return false })
	u := m.unit(last.Unit)
	if u.lang == LangC || u.lang == LangGo || u.lang == LangAsm {
		return name
	}
	if p := u.prefix(last.Offset); p != "" {
		return p + "::" + name
	}
	return name
}

// prefix returns the qualified name of the scope that an entry is in, "" at
// the top. Functions are not part of names.
func (u *unit) prefix(off uint64) string {
	var parts []string
	size := 0
	for _, at := range u.around(off) {
		if part := u.scopeName(at); part != "" && size < 64<<10 {
			size += len(part)
			parts = append(parts, part)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "::")
}

func (u *unit) scopeName(off uint64) string {
	e, err := u.dw.Entry(off)
	if err != nil {
		return ""
	}
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagModule:
		if name := nameOf(e); name != "" {
			return name
		}
		return "(anonymous namespace)"
	case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		return nameOf(e)
	}
	return ""
}

// demangled returns a linkage name as its language writes it, without
// parameters; the name itself if it is not mangled.
func demangled(name string) string {
	if !mangled(name) || len(name) > maxMangled {
		return name
	}
	s, err := demangle.ToString(name, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoClones, demangle.MaxLength(16))
	if err != nil {
		return name
	}
	return s
}

// maxMangled bounds the names that are demangled: the work grows faster than
// the name.
const maxMangled = 16 << 10

// mangled reports whether a symbol's name looks like C++'s or Rust's.
func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// function is what debug information says of a function, or of one inlined
// call of it.
type function struct {
	u      *unit
	off    uint64 // DW_TAG_subprogram, or DW_TAG_inlined_subroutine
	ranges []dwarf.Range
	inline *block // the inlined call, nil for a function proper
	root   *block // its blocks; read on first use
	pub    *Function
	sites  *callSites // its calls; read on first use
	die    *dwarf.Entry
	start  uint64 // see entry
	begun  bool   // start is known
}

// dieEntry is the function's entry in the debug information. Each frame of a deep recursion asks for it.
func (fn *function) dieEntry() (*dwarf.Entry, error) {
	if fn.die == nil {
		e, err := fn.u.dw.Entry(fn.off)
		if err != nil {
			return nil, err
		}
		fn.die = e
	}
	return fn.die, nil
}

// entry returns where the function starts: DW_AT_entry_pc, or the lowest
// address of its first range.
func (fn *function) entry() uint64 {
	if !fn.begun {
		fn.start, fn.begun = fn.findEntry(), true
	}
	return fn.start
}

func (fn *function) findEntry() uint64 {
	if e, err := fn.dieEntry(); err == nil {
		if v := e.Find(dwarf.AttrEntryPC); v != nil {
			if pc, ok := e.Addr(dwarf.AttrEntryPC); ok {
				return pc
			}
			// A constant is an offset from the entry's low PC, for which
			// compilers take its first range (DWARF 5, section 2.18).
			if v.IsConst() && len(fn.ranges) > 0 {
				return fn.ranges[0].Lo + v.Num
			}
		}
	}
	if len(fn.ranges) == 0 {
		return 0
	}
	return fn.ranges[0].Lo
}

// public returns the exported form.
func (fn *function) public() *Function {
	if fn.pub != nil {
		return fn.pub
	}
	f := &Function{Lang: fn.u.lang, impl: fn}
	fn.pub = f
	if e, err := fn.u.dw.Entry(fn.off); err == nil {
		f.Name = fn.u.m.qualifiedName(e)
		f.Linkage = linkageOf(e)
		if f.Linkage != "" && fn.u.lang == LangC {
			f.Name = f.Linkage // an asm label: what the function is called in truth
		}
		if f.Linkage == "" && fn.u.lang != LangCPlusPlus && fn.u.lang != LangRust {
			f.Linkage = f.Name
		}
		f.File, f.Line = fn.u.m.declaration(e)
	}
	lo := fn.entry()
	f.Lo, f.Hi = image.Addr(lo), image.Addr(lo)
	for _, r := range fn.ranges {
		f.Ranges = append(f.Ranges, Range{image.Addr(r.Lo), image.Addr(r.Hi)})
		if r.Lo <= lo && lo < r.Hi {
			f.Lo, f.Hi = image.Addr(r.Lo), image.Addr(r.Hi)
		}
	}
	if fn.inline != nil {
		f.Lo = image.Addr(lo)
	}
	return f
}
