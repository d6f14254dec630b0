package symbols

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// function is a function of the debug information, or one inlined call of it.
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
		f.Name = fn.u.m.scopes.Qualified(e)
		f.Linkage = entry.Linkage(e)
		if f.Linkage != "" && fn.u.lang == lang.C {
			f.Name = f.Linkage // an asm label: what the function is called in truth
		}
		if f.Linkage == "" && fn.u.lang != lang.CPlusPlus && fn.u.lang != lang.Rust {
			f.Linkage = f.Name
		}
		f.File, f.Line = entry.Declaration(e)
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
