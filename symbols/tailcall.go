package symbols

import (
	"dbg/arch"
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/callsite"
	"dbg/symbols/entry"
)

// A function that ends in a call may release its frame before it jumps to the callee: a tail
// call. Only call sites reveal the missing frames (DWARF 5, section 3.4). The caller's call site
// names the function that was called, and call sites with DW_AT_call_tail_call name the functions
// that may follow it.

// maxTailCalls limits the functions that one query examines.
const maxTailCalls = 256

// tailCall is a tail call whose target is known.
type tailCall struct {
	from *function
	site *callsite.Site
	to   *function
}

// tailCallsOf lists the tail calls of a function to functions of its own module or, by name, of
// another. It returns false if the target of one of them is unknown, as for a jump through a
// register. Functions in neither module are left out: nothing indicates that they return here.
func tailCallsOf(fn *function, other *Module) (out []tailCall, ok bool) {
	all := fn.calls().all
	for i := range all {
		if !all[i].Tail {
			continue
		}
		c := fn.callSite(&all[i])
		if c == nil {
			return nil, false
		}
		to, known := c.target(other)
		if !known {
			return nil, false
		}
		if to != nil {
			out = append(out, tailCall{fn, &all[i], to})
		}
	}
	return out, true
}

// target returns the function that a direct call calls, in the call's module or in other (which
// may be nil). It returns nil if the function is in neither, and false if it is unknown.
func (c *CallSite) target(other *Module) (*function, bool) {
	o := callsite.Callee(c.e)
	if o == nil {
		return nil, false
	}
	if pc, ok := entry.LowPC(o); ok {
		fn := c.m.functionAt(image.Addr(pc))
		return fn, fn != nil
	}
	if !o.Flag(dwarf.AttrDeclaration) {
		return c.instance(o) // an abstract function, which may have several instances
	}
	name := entry.Linkage(o)
	if name == "" {
		name = entry.Name(o)
	}
	for _, m := range []*Module{c.m, other} {
		if m != nil {
			if a, ok := m.LinkageAddr(name); ok {
				fn := m.functionAt(a)
				return fn, true
			}
		}
	}
	return nil, true
}

// instance returns the instance of an abstract function to which a jump goes, according to the
// instruction.
func (c *CallSite) instance(abstract *dwarf.Entry) (*function, bool) {
	to, ok := c.jumpTarget()
	if !ok {
		return nil, false
	}
	fn := c.m.functionAt(to)
	if fn == nil || fn.entry() != uint64(to) {
		return nil, false
	}
	e, err := fn.u.dw.Entry(fn.off)
	if err != nil {
		return nil, false
	}
	found := false
	entry.Origins(e, func(e *dwarf.Entry) bool {
		found = found || e.Unit == abstract.Unit && e.Offset == abstract.Offset
		return found
	})
	return fn, found
}

// jumpTarget returns the target of a tail call's jump, if the instruction contains it.
func (c *CallSite) jumpTarget() (image.Addr, bool) {
	if c.at == c.pc {
		return 0, false // the end of the instruction is unknown
	}
	ret := image.Addr(c.pc)
	var b [6]byte
	switch c.m.file.Arch() {
	case arch.AMD64:
		if n, _ := c.m.file.ReadAt(ret-6, b[:]); n != 6 {
			return 0, false
		}
		// JMP rel32 (E9) and Jcc rel32 (0F 80 to 0F 8F).
		if b[1] != 0xe9 && !(b[0] == 0x0f && b[1]>>4 == 8) {
			return 0, false
		}
		rel := int32(uint32(b[2]) | uint32(b[3])<<8 | uint32(b[4])<<16 | uint32(b[5])<<24)
		return ret + image.Addr(int64(rel)), true
	case arch.ARM64:
		if n, _ := c.m.file.ReadAt(ret-4, b[:4]); n != 4 || b[3]>>2 != 5 {
			return 0, false
		}
		// B imm26
		imm := int32(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24) << 6 >> 6
		return ret - 4 + image.Addr(int64(imm)*4), true
	}
	return 0, false
}

// TailCalls returns the tail calls that must have led from the function at an address to another,
// in order of execution. It is empty if the two are the same, if no tail calls connect them, and
// if the chain is not unique: several paths lead there, or a path may be repeated.
func (m *Module) TailCalls(from image.Addr, in *Module, to *Function) []*CallSite {
	start := m.functionAt(from)
	if start == nil || to == nil || to.impl == nil || to.impl.inline != nil || start == to.impl {
		return nil
	}
	end := to.impl
	calls := map[*function][]tailCall{}
	callers := map[*function][]*function{}
	for todo := []*function{start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, seen := calls[at]; seen {
			continue
		}
		list, ok := tailCallsOf(at, in)
		if !ok || len(calls) >= maxTailCalls {
			return nil
		}
		calls[at] = list
		for _, c := range list {
			callers[c.to] = append(callers[c.to], at)
			todo = append(todo, c.to)
		}
	}
	// The functions that lead to the end.
	leads := map[*function]bool{end: true}
	for todo := []*function{end}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, f := range callers[at] {
			if !leads[f] {
				leads[f] = true
				todo = append(todo, f)
			}
		}
	}
	for _, c := range calls[end] {
		if leads[c.to] && c.to != end {
			return nil // it may have been reached through other functions
		}
	}
	var chain []*CallSite
	for at := start; at != end; {
		var only *tailCall
		for i := range calls[at] {
			c := &calls[at][i]
			if !leads[c.to] {
				continue
			}
			if only != nil {
				return nil
			}
			only = c
		}
		if only == nil || len(chain) > maxTailCalls {
			return nil
		}
		site := at.callSite(only.site)
		if site == nil {
			return nil
		}
		chain, at = append(chain, site), only.to
	}
	return chain
}

// Target returns the function that a direct call calls, as its module and its address. It returns
// false if the function is unknown.
func (c *CallSite) Target(other *Module) (*Module, image.Addr, bool) {
	fn, _ := c.target(other)
	if fn == nil {
		return nil, 0, false
	}
	return fn.u.m, image.Addr(fn.entry()), true
}

// Module returns the module of the function that makes the call.
func (c *CallSite) Module() *Module { return c.m }

// Place returns the address that identifies the call, and an address inside its instruction. The
// first is the address after the call, if it is known.
func (c *CallSite) Place() (pc, lookup image.Addr) { return image.Addr(c.pc), image.Addr(c.at) }

// MayTailCallItself reports whether a chain of tail calls may lead from a function back to it.
// Then the values that its caller passed may differ from those of the latest entry.
func (m *Module) MayTailCallItself(f *Function) bool {
	if f == nil || f.impl == nil || f.impl.inline != nil {
		return true
	}
	sites := f.impl.calls()
	if sites.selfTail == 0 {
		sites.selfTail = 1
		if !tailCallsItself(f.impl) {
			sites.selfTail = -1
		}
	}
	return sites.selfTail > 0
}

// tailCallsItself reports whether tail calls lead from fn back to it, or whether that is unknown.
func tailCallsItself(fn *function) bool {
	seen := map[*function]bool{fn: true}
	for todo := []*function{fn}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		list, ok := tailCallsOf(at, nil)
		if !ok || len(seen) > maxTailCalls {
			return true
		}
		for _, c := range list {
			if c.to == fn {
				return true
			}
			if !seen[c.to] {
				seen[c.to] = true
				todo = append(todo, c.to)
			}
		}
	}
	return false
}
