package unwindtable

import (
	"fmt"
	"slices"

	"github.com/ianlancetaylor/demangle"

	"dbg/cfi"
	"dbg/image"
	"dbg/symbols"
)

// placed is a symbol of a relocatable file, where addresses begin anew in each section.
type placed struct {
	section int
	addr    uint64
}

// function is the name of the function that an entry is for: the symbol at its first address, with
// an offset if it begins earlier; "??" if there is none.
func (f *file) function(s *source, e *cfi.Entry) string {
	if s.relocs != nil {
		return f.relocatableName(s, e)
	}
	return f.nameAt(e.FDE.Lo)
}

// nameAt is the name of the function at an address.
func (f *file) nameAt(addr uint64) string {
	name, off, ok := f.syms.SymbolAt(image.Addr(addr))
	switch {
	case !ok:
		return "??"
	case off != 0:
		return fmt.Sprintf("%s+0x%x", name, off)
	}
	return name
}

func (f *file) relocatableName(s *source, e *cfi.Entry) string {
	at, ok := s.target(e)
	if !ok {
		return "??"
	}
	for _, sym := range f.Symbols() {
		if int(sym.Section) == at.section && uint64(sym.Addr) == at.addr && sym.Kind != image.Object {
			return demangled(sym.Name)
		}
	}
	return "??"
}

// demangled is the form that package symbols gives names in.
func demangled(name string) string {
	return demangle.Filter(name, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoClones, demangle.MaxLength(16))
}

// target is where the first address of an FDE of a relocatable file is.
func (s *source) target(e *cfi.Entry) (placed, bool) {
	pos := e.Offset + 8
	if e.Wide {
		pos = e.Offset + 16
		if s.name == "debug_frame" {
			pos = e.Offset + 20
		}
	}
	section, ok := s.relocs[pos]
	return placed{section, e.FDE.Lo}, ok
}

// selection is what is asked for of the entries.
type selection struct {
	f      *file
	pc     *uint64
	ranges []symbols.Range // of the functions
	names  []placed        // of the functions of a relocatable file
}

// selection finds the functions that are meant.
func (f *file) selection(opt Options) (*selection, error) {
	if opt.PC == nil && opt.Func == "" {
		return nil, nil
	}
	s := &selection{f: f, pc: opt.PC}
	if opt.Func == "" {
		return s, nil
	}
	if f.Kind() == image.Relocatable && f.Format() != image.MachO { // sections of Mach-O objects have addresses
		for _, sym := range f.Symbols() {
			if sym.Name == opt.Func || demangled(sym.Name) == opt.Func {
				s.names = append(s.names, placed{int(sym.Section), uint64(sym.Addr)})
			}
		}
	} else {
		for _, fn := range f.syms.FunctionsByName(opt.Func) {
			if at := f.syms.FunctionAt(fn.Lo); at != nil && at.Name != fn.Name {
				continue // an inlined call of it
			}
			s.ranges = append(s.ranges, fn.Ranges...)
		}
	}
	if len(s.ranges) == 0 && len(s.names) == 0 {
		return nil, fmt.Errorf("%s: it has no function %s", f.Path(), opt.Func)
	}
	return s, nil
}

// has reports whether an entry is asked for. A nil selection has everything.
func (s *selection) has(e *cfi.Entry) bool {
	if s == nil {
		return true
	}
	if e.Kind != cfi.IsFDE {
		return false
	}
	if len(s.names) > 0 {
		for i := range s.f.tables {
			if at, ok := s.f.tables[i].target(e); ok && slices.Contains(s.names, at) {
				return true
			}
		}
		return false
	}
	return s.covers(e.FDE.Lo, e.FDE.Hi)
}

// covers reports whether a range of addresses is asked for.
func (s *selection) covers(lo, hi uint64) bool {
	if s == nil {
		return true
	}
	if s.pc != nil && (*s.pc < lo || *s.pc >= hi) {
		return false
	}
	return s.ranges == nil || slices.ContainsFunc(s.ranges, func(r symbols.Range) bool {
		return uint64(r.Lo) < hi && lo < uint64(r.Hi)
	})
}
