package view

import (
	"errors"
	"strconv"
	"strings"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// scope is the environment of an expression: an object, or a node of its list or tree.
type scope struct {
	*inner
	o       *object
	this    eval.Value
	node    *types.Type           // of this, if it is a node; nil: this is the object
	vars    map[string]eval.Value // parameters of an intrinsic, or variables of CustomListItems
	blind   bool                  // memory must not be read
	assigns bool                  // vars may be changed
	index   int64                 // $i
	calls   int                   // intrinsics that are being evaluated
}

// maxCalls limits intrinsics that call intrinsics.
const maxCalls = 50

var (
	_ eval.Scope  = (*scope)(nil)
	_ eval.Viewer = (*scope)(nil)
)

// Variable implements eval.Env. The variables of the selected frame are not visible.
func (s *scope) Variable(name string) (eval.Value, error) {
	if v, ok := s.vars[name]; ok {
		return v, nil
	}
	if name == "this" {
		return eval.PointerTo(s.this, s)
	}
	if m, ok := eval.Member(s.this, name, s); ok {
		return m, nil
	}
	if s.Type(name) != nil {
		return eval.Value{}, &eval.NotFoundError{Name: name}
	}
	return s.Env.Variable("::" + strings.TrimPrefix(name, "::"))
}

// Type implements eval.Env.
func (s *scope) Type(name string) *types.Type {
	if i, ok := argNumber(name); ok {
		if i < len(s.o.args) {
			return s.o.args[i]
		}
		return nil
	}
	if strings.Contains(name, "$T") {
		name = s.o.expandArgs(name)
	}
	first, rest, qualified := strings.Cut(name, "::")
	for _, c := range []*types.Type{s.node, s.o.typ} {
		if c == nil || first == "" {
			continue
		}
		if t := memberType(c, first, 0); t != nil {
			for qualified && t != nil {
				first, rest, qualified = strings.Cut(rest, "::")
				t = memberType(t, first, 0)
			}
			return t
		}
	}
	if len(s.o.intrinsics[name]) > 0 || functions[name] != nil {
		return nil // an intrinsic hides a type of the program that has the same name
	}
	return s.Env.Type(name)
}

// argNumber parses "$T1"; the result counts from 0.
func argNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "$T")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n - 1, err == nil && n > 0
}

// Register implements eval.Env: views have no registers.
func (s *scope) Register(name string) (eval.Value, error) {
	return eval.Value{}, &eval.NotFoundError{Name: "$" + name}
}

// Convenience implements eval.Env: it has $i, and template arguments that are values.
func (s *scope) Convenience(name string) (eval.Value, bool) {
	if name == "i" {
		return eval.FromInt(s.index), true
	}
	if i, ok := argNumber("$" + name); ok && i < len(s.o.values) {
		if n, err := strconv.ParseInt(strings.TrimRight(s.o.values[i].Text, "ulUL"), 0, 64); err == nil {
			return eval.FromInt(n), true
		}
	}
	return eval.Value{}, false
}

// Language implements eval.Speaker: expressions of views are C++.
func (s *scope) Language() lang.Lang { return lang.CPlusPlus }

// ReadMemory implements eval.Env.
func (s *scope) ReadMemory(a target.Addr, b []byte) (int, error) {
	if s.blind {
		return 0, errBlind
	}
	return s.inner.ReadMemory(a, b)
}

var errBlind = errors.New("memory must not be read here")

// SetConvenience, WriteMemory and the setters of registers implement eval.Env: a view changes nothing.
func (s *scope) SetConvenience(string, eval.Value)            {}
func (s *scope) WriteMemory(target.Addr, []byte) (int, error) { return 0, errReadOnly }
func (s *scope) History(int, bool) (v eval.Value, ok bool)    { return v, false }

var errReadOnly = errors.New("a view changes nothing")

// SetVariable implements eval.Scope.
func (s *scope) SetVariable(name string, v eval.Value) bool {
	if _, ok := s.vars[name]; !ok || !s.assigns {
		return false
	}
	s.vars[name] = v
	return true
}

// Intrinsic implements eval.Scope.
func (s *scope) Intrinsic(name string, args []eval.Value) (eval.Value, bool, error) {
	if f := functions[name]; f != nil {
		v, err := f(s, args)
		return v, true, err
	}
	in := s.o.intrinsic(name, len(args))
	if in == nil {
		return eval.Value{}, false, nil
	}
	if s.calls >= maxCalls {
		return eval.Value{}, true, errors.New("intrinsics call each other too deeply")
	}
	v, err := s.o.call(in, args, s.calls+1)
	return v, true, err
}

// intrinsic returns the function with a name and a number of parameters, or nil.
func (c *class) intrinsic(name string, params int) *natvis.Intrinsic {
	for _, in := range c.intrinsics[name] {
		if len(in.Params) == params || in.Varargs && params >= len(in.Params) {
			return in
		}
	}
	return nil
}
