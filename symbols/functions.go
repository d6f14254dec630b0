package symbols

import (
	"slices"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/symtab"
	"dbg/symbols/types"
)

// FunctionAt returns the function that has an address: what debug information
// says, else the ELF symbol. Inlined calls do not count; see CallsAt. It is nil
// if nothing is known.
func (m *Module) FunctionAt(a image.Addr) *Function {
	if fn := m.functionAt(a); fn != nil {
		return fn.public()
	}
	if f, ok := m.goFunctionWith(a); ok {
		return goFunction(&f)
	}
	return m.elfFunctionAt(a)
}

func (m *Module) functionAt(a image.Addr) *function {
	if u := m.unitAt(a); u != nil {
		return u.functionAt(uint64(a))
	}
	return nil
}

// CallsAt returns the chain of calls at an address, the innermost inlined call
// first, the function proper last. The position of the first is that of the
// address; that of each other one is where it makes the call before it. Without
// debug information there is one element, of the ELF symbol; nil means that
// nothing is known.
func (m *Module) CallsAt(a image.Addr) []Call {
	line, _ := m.LineAt(a)
	pos := line.Position
	fn := m.functionAt(a)
	if fn == nil {
		if calls := m.goCallsAt(a); calls != nil {
			return calls
		}
		if f := m.elfFunctionAt(a); f != nil {
			return []Call{{Function: f, Position: pos}}
		}
		return nil
	}
	var calls []Call
	for b := fn.body().at(uint64(a)); b != nil; b = b.parent {
		if !b.inlined && b.parent != nil {
			continue
		}
		calls = append(calls, Call{Function: b.function().public(), Position: pos, Inlined: b.inlined})
		if b.inlined {
			pos = Position{File: fn.u.dw.Files().File(b.callFile), Line: b.callLine, Column: b.callCol}
		}
	}
	return calls
}

// FunctionType returns the function's type (Elem is the result, nil for void);
// nil if it is not known.
func (m *Module) FunctionType(f *Function) *types.Type {
	if f == nil || f.impl == nil {
		return nil
	}
	off := f.impl.off
	if f.impl.inline != nil {
		e, err := f.impl.u.dw.Entry(off)
		if err != nil {
			return nil
		}
		du, origin, ok := e.RefOffset(dwarf.AttrAbstractOrigin)
		if !ok {
			return nil
		}
		return m.types.At(entry.Ref{Unit: du, Off: origin})
	}
	return m.types.At(entry.Ref{Unit: f.impl.u.dw, Off: off})
}

// Producer returns the compiler of a function, with its options if it recorded them; "" if it is
// not known.
func (f *Function) Producer() string {
	if f == nil || f.impl == nil {
		return ""
	}
	return f.impl.u.dw.Root().Producer
}

// IsInlined reports whether a function is an inlined copy, which can't be called.
func (f *Function) IsInlined() bool { return f != nil && f.impl != nil && f.impl.inline != nil }

// Is reports whether two values are the same function or, of inlined calls, the same call. Several
// units may describe one function, because linkers keep one of its copies and the debug
// information of all.
func (f *Function) Is(g *Function) bool {
	switch {
	case f == nil || g == nil:
		return f == g
	case f.impl == nil || g.impl == nil:
		return f.impl == g.impl && f.Name == g.Name && f.Lo == g.Lo
	}
	if f.impl.u == g.impl.u {
		return f.impl.off == g.impl.off
	}
	return f.Name == g.Name && f.Lo == g.Lo && slices.Equal(f.Ranges, g.Ranges)
}

// IsIFunc reports whether the symbol at an address is a GNU indirect function: calling it returns
// the address of the function that it stands for.
func (m *Module) IsIFunc(a image.Addr) bool {
	s, ok := m.symbols().At(symtab.Code, a)
	return ok && s.Addr == a && s.Kind == image.IFunc
}
