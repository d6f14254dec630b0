package callsite

import (
	"cmp"
	"slices"

	"dbg/dwarf"
	"dbg/expr"
	"dbg/symbols/entry"
)

// Attributes of call sites: DWARF 5, section 3.4, and the earlier GNU attributes.
const (
	attrReturnPC     dwarf.Attr = 0x7d
	attrValue        dwarf.Attr = 0x7e
	attrOrigin       dwarf.Attr = 0x7f
	attrParameter    dwarf.Attr = 0x80
	attrPC           dwarf.Attr = 0x81
	attrTailCall     dwarf.Attr = 0x82
	attrTarget       dwarf.Attr = 0x83
	attrDataValue    dwarf.Attr = 0x86
	attrGNUValue     dwarf.Attr = 0x2111
	attrGNUDataValue dwarf.Attr = 0x2112
	attrGNUTarget    dwarf.Attr = 0x2113
	attrGNUTailCall  dwarf.Attr = 0x2115
)

// Limits for corrupt files.
const (
	maxSites      = 1 << 16 // per function
	maxParameters = 256     // per call
)

// Site is a call that a function makes.
type Site struct {
	Ret  uint64 // the return address; for a tail call, the address after it
	Off  uint64 // offset of the entry
	Tail bool   // DW_AT_call_tail_call: the callee returns to the caller's caller
	Own  bool   // Ret is the address of the instruction itself (DW_AT_call_pc)
}

// List returns the calls of a concrete function, including those in its inlined calls, by return
// address.
func List(fn *dwarf.Entry) []Site {
	var all []Site
	fn.Walk(func(c *dwarf.Entry, depth int) bool {
		switch c.Tag {
		case dwarf.TagCallSite, dwarf.TagGNUCallSite:
			site := Site{Off: c.Offset, Tail: c.Flag(attrTailCall) || c.Flag(attrGNUTailCall)}
			var ok bool
			for _, a := range []dwarf.Attr{attrReturnPC, dwarf.AttrLowPC, attrPC} {
				if c.Has(a) && !ok {
					site.Ret, ok = c.Addr(a)
					site.Own = a == attrPC
				}
			}
			if ok && len(all) < maxSites {
				all = append(all, site)
			}
			return false
		case dwarf.TagLexicalBlock, dwarf.TagInlinedSubroutine:
			return depth < entry.MaxNesting
		}
		return false
	}, nil)
	slices.SortStableFunc(all, func(a, b Site) int { return cmp.Compare(a.Ret, b.Ret) })
	return all
}

// ReturningTo returns the call, of a list that List returned, that returns to an address. It is nil
// if there is none, or more than one.
func ReturningTo(all []Site, ret uint64) *Site {
	var found *Site
	i, _ := slices.BinarySearchFunc(all, ret, func(s Site, a uint64) int { return cmp.Compare(s.Ret, a) })
	for ; i < len(all) && all[i].Ret == ret; i++ {
		if all[i].Tail || all[i].Own {
			continue
		}
		if found != nil {
			return nil
		}
		found = &all[i]
	}
	return found
}

// Callee returns the entry of the function that a direct call calls, or nil. It may be a
// declaration, or an abstract function.
func Callee(site *dwarf.Entry) *dwarf.Entry {
	if o := site.Ref(attrOrigin); o != nil {
		return o
	}
	return site.Ref(dwarf.AttrAbstractOrigin)
}

// Target returns the expression for the target address of an indirect call, or nil. It aliases the
// section.
func Target(site *dwarf.Entry) []byte { return expression(site, attrTarget, attrGNUTarget) }

// Argument returns the expression for an argument of the call, or nil. It is to be evaluated in the
// caller's frame, and aliases the section. sp is the DWARF number of the stack pointer.
func Argument(site *dwarf.Entry, p expr.EntryParameter, sp uint64) (code []byte) {
	n := 0
	site.Walk(func(e *dwarf.Entry, _ int) bool {
		if n++; code != nil || n > maxParameters || e.Tag != dwarf.TagCallSiteParameter && e.Tag != dwarf.TagGNUCallSiteParam || !matches(e, p, sp) {
			return false
		}
		if p.Data {
			code = expression(e, attrDataValue, attrGNUDataValue)
		} else {
			code = expression(e, attrValue, attrGNUValue)
		}
		return false
	}, nil)
	return code
}

// matches reports whether an entry for an argument is for p.
func matches(e *dwarf.Entry, p expr.EntryParameter, sp uint64) bool {
	if p.ByDIE {
		for _, a := range []dwarf.Attr{attrParameter, dwarf.AttrAbstractOrigin} {
			if u, off, ok := e.RefOffset(a); ok && u.Data == e.Unit.Data && off == p.DIE {
				return true
			}
		}
		return false
	}
	v := e.Find(dwarf.AttrLocation)
	if v == nil || !v.IsBlock() {
		return false
	}
	q, ok := expr.CallParameterAt(v.Block, sp)
	return ok && q.OnStack == p.OnStack && (p.OnStack && q.Stack == p.Stack || !p.OnStack && q.Reg == p.Reg)
}

// expression returns the first of the attributes that is an expression, or nil.
func expression(e *dwarf.Entry, attrs ...dwarf.Attr) []byte {
	for _, a := range attrs {
		if v := e.Find(a); v != nil && v.IsBlock() && len(v.Block) > 0 {
			return v.Block
		}
	}
	return nil
}
