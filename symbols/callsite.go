package symbols

import (
	"bytes"

	"dbg/dwarf"
	"dbg/expr"
	"dbg/image"
	"dbg/symbols/callsite"
	"dbg/symbols/entry"
)

// CallSite is a call in the caller's debug information: the function that it calls, and the
// arguments that it passes.
type CallSite struct {
	m  *Module
	fn *function // the function that makes the call
	e  *dwarf.Entry
	pc uint64 // the return address; for a tail call with only DW_AT_call_pc, the address of the instruction
	at uint64 // an address of the call's instruction
}

// callSites holds the calls of a function. They are read once.
type callSites struct {
	all      []callsite.Site // by return address
	selfTail int8            // 1: a chain of tail calls may lead back to the function; -1: none does; 0: not computed yet
}

// calls lists the calls of a concrete function, including those in inlined calls.
func (fn *function) calls() *callSites {
	if fn.sites == nil {
		fn.sites = &callSites{}
		if e, err := fn.u.dw.Entry(fn.off); err == nil {
			fn.sites.all = callsite.List(e)
		}
	}
	return fn.sites
}

// CallSiteAt returns the call that returns to an address, or nil if the debug information has
// none, or more than one.
func (m *Module) CallSiteAt(ret image.Addr) *CallSite {
	fn := m.functionAt(ret - 1)
	if fn == nil {
		return nil
	}
	found := callsite.ReturningTo(fn.calls().all, uint64(ret))
	if found == nil {
		return nil
	}
	return fn.callSite(found)
}

func (fn *function) callSite(s *callsite.Site) *CallSite {
	e, err := fn.u.dw.Entry(s.Off)
	if err != nil {
		return nil
	}
	c := &CallSite{m: fn.u.m, fn: fn, e: e, pc: s.Ret, at: s.Ret}
	if !s.Own {
		c.at--
	}
	return c
}

// located returns an expression of the caller, to be evaluated in the caller's frame. It returns
// false for nil.
func (c *CallSite) located(code []byte) (entry.Location, bool) {
	if code == nil {
		return entry.Location{}, false
	}
	return entry.Location{Expr: code, FrameBase: c.fn.frameBase(image.Addr(c.at)), Fill: entry.Fill(c.e.Unit)}, true
}

// Survivors reports whether the compiler uses registers after a call although the ABI lets the
// callee change them, because it has seen that this callee, and all functions that it calls,
// preserve them. gcc does (-fipa-ra). Then a location after a call may be in such a register.
func (c *CallSite) Survivors() bool { return c.fn.u.gcc }

// SurvivesCall reports whether gcc gives a variable the same location before and after the call
// that contains a. If that location is a register that is not saved across calls, the callee does
// not change it (see CallSite.Survivors).
func (v *Variable) SurvivesCall(a image.Addr) bool {
	i := v.impl
	if i == nil || i.fn == nil || !i.fn.u.gcc {
		return false
	}
	o := entry.Inherited(i.e, dwarf.AttrLocation)
	if o == nil || !o.Unit.IsList(o.Find(dwarf.AttrLocation)) {
		return false
	}
	at := o.Find(dwarf.AttrLocation)
	before, _ := o.Unit.Location(at, uint64(a))
	after, _ := o.Unit.Location(at, uint64(a)+1)
	return len(before) > 0 && bytes.Equal(before, after)
}

// Indirect returns the expression for the target address of an indirect call. It returns false if
// the call is direct or the address is unknown.
func (c *CallSite) Indirect() (entry.Location, bool) {
	return c.located(callsite.Target(c.e))
}

// Direct reports whether the call's target is known to be a function of a module: the call's
// origin is the function, or a declaration of its symbol. unsure is set if the call targets one
// of several instances of the same function.
func (c *CallSite) Direct(m *Module, f *Function) (yes, unsure bool) {
	if f == nil {
		return false, false
	}
	o := callsite.Callee(c.e)
	if o == nil {
		return false, false
	}
	if pc, ok := entry.LowPC(o); ok {
		return c.m == m && image.Addr(pc) == f.Lo, false
	}
	if o.Flag(dwarf.AttrDeclaration) {
		name := entry.Linkage(o)
		if name == "" {
			name = entry.Name(o)
		}
		a, ok := m.LinkageAddr(name)
		return ok && a == f.Lo, false
	}
	// An abstract function: f is its instance, or one of them.
	if c.m == m && f.impl != nil {
		if e, err := f.impl.u.dw.Entry(f.impl.off); err == nil {
			found := false
			entry.Origins(e, func(e *dwarf.Entry) bool {
				found = found || e.Unit == o.Unit && e.Offset == o.Offset
				return found
			})
			return found, true
		}
	}
	return false, false
}

// Parameter returns the expression for an argument of the call, to be evaluated in the caller's
// frame.
func (c *CallSite) Parameter(p expr.EntryParameter) (entry.Location, bool) {
	sp := uint64(7)
	if a := c.m.file.Arch(); a != nil {
		for n := range uint64(128) {
			if r, ok := a.FromDWARF(n); ok && r == a.SP {
				sp = n
				break
			}
		}
	}
	return c.located(callsite.Argument(c.e, p, sp))
}

// AtEntry returns the register or the stack slot that holds a parameter when its function is
// entered. It returns false for parameters of inlined calls, and if the place is not a single
// word.
func (v *Variable) AtEntry() (p expr.EntryParameter, ok bool) {
	i := v.impl
	if i == nil || i.fn == nil || !v.Param {
		return p, false
	}
	if i.entered == nil {
		i.entered = &entered{}
		i.entered.p, i.entered.ok = i.findEntered()
	}
	return i.entered.p, i.entered.ok
}

// entered is a saved result of Variable.AtEntry.
type entered struct {
	p  expr.EntryParameter
	ok bool
}

func (i *variable) findEntered() (p expr.EntryParameter, ok bool) {
	start := i.fn.entry()
	o := entry.Inherited(i.e, dwarf.AttrLocation)
	if o == nil {
		return p, false
	}
	code, _ := o.Unit.Location(o.Find(dwarf.AttrLocation), start)
	return expr.EntryParameterAt(code, expr.IsCFA(i.fn.frameBase(image.Addr(start))))
}

// frameBase returns the function's DW_AT_frame_base at an address.
func (fn *function) frameBase(a image.Addr) []byte {
	e, err := fn.dieEntry()
	if err != nil {
		return nil
	}
	fb := e.Find(dwarf.AttrFrameBase)
	if fb == nil {
		return nil
	}
	code, _ := e.Unit.Location(fb, uint64(a))
	return code
}
