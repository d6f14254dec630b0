package session

import (
	"errors"
	"strings"

	"dbg/arch"
	"dbg/eval"
	"dbg/symbols"
)

// compileCondition compiles a condition for a place of a breakpoint. It reads no registers and no
// memory: the process may run. The error wraps eval.ErrNotCompiled if the condition needs the full
// evaluator; any other error means that the condition has no meaning at the place.
func (s *Session) compileCondition(text string, p BreakpointPlace) (*eval.Program, error) {
	return eval.Compile(text, s.conditionContext(p))
}

// checkCondition returns an error if a condition has no meaning at any of the places: the error for
// the first place. Without places it checks only the syntax.
func (s *Session) checkCondition(text string, places []BreakpointPlace) error {
	if len(places) == 0 {
		return eval.Check(text)
	}
	var first error
	for _, p := range places {
		_, err := s.compileCondition(text, p)
		if err == nil || errors.Is(err, eval.ErrNotCompiled) {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// conditionContext returns the context of a condition: the innermost frame that a thread will have
// at the place.
func (s *Session) conditionContext(p BreakpointPlace) *eval.ProgramContext {
	f := &Frame{Module: p.Module, PC: p.Addr}
	if f.Module == nil {
		f.Module = s.modules.find(p.Addr)
	}
	if f.Module == nil && s.tgt == nil && s.exeFile != nil {
		f.Module = &Module{Symbols: s.exeFile} // the program is not running yet
	}
	e := &env{s: s, frame: f, framed: true, listed: true}
	c := &eval.ProgramContext{Env: e, Arch: e.Arch()}
	m := f.Module
	if m == nil || m.Symbols == nil {
		return c
	}
	f.lookup = m.fileAddr(p.Addr)
	if calls := m.Symbols.CallsAt(f.lookup); len(calls) > 0 {
		f.call, f.Function = &calls[0], calls[0].Function
		e.visible = m.Symbols.LocalsOf(f.call, f.lookup)
		c.Language = f.Function.Lang
	}
	c.PC, c.Bias, c.Variable = f.lookup, m.Bias, e.variable
	c.CFA = func() (arch.Reg, int64, bool) {
		if m.unwind == nil {
			return arch.NoReg, 0, false
		}
		return m.unwind.CFAAt(c.Arch, uint64(f.lookup))
	}
	return c
}

// variable finds the variable with a name, in the same order as Variable, and the bias of its
// module. It leaves functions, enumerators and members of a method's object to Variable.
func (e *env) variable(name string) (*symbols.Variable, uint64, bool) {
	name, global := strings.CutPrefix(name, "::")
	if !global {
		vars := e.variables()
		for i := len(vars) - 1; i >= 0; i-- {
			if vars[i].Name == name {
				return vars[i], e.frame.Module.Bias, true
			}
		}
		if e.memberOfThis(name) {
			return nil, 0, false
		}
	}
	list := e.s.searchList()
	if f := e.frame; f != nil && f.Module != nil && f.Module.Symbols != nil {
		list = append([]searched{{f.Module.Symbols, f.Module}}, list...)
	}
	for _, f := range list {
		if gs := f.sym.Global(name); len(gs) > 0 {
			if _, ok := e.s.copyOf(gs[0], f); ok {
				return nil, 0, false
			}
			if f.mod == nil {
				return gs[0], 0, true
			}
			return gs[0], f.mod.Bias, true
		}
		for _, fn := range f.sym.FunctionsByName(name) {
			if fn.Hi != 0 || fn.Lo != 0 {
				return nil, 0, false
			}
		}
	}
	return nil, 0, false
}
