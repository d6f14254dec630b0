package session

import (
	"dbg/eval"
	"dbg/symbols/types"
)

// Definition returns the definition of an expression's type, or of a named type: "ptype". heading
// reports whether the heading of offsets and sizes belongs before it.
func (s *Session) Definition(text string, opt types.DefinitionOptions) (definition string, heading bool, err error) {
	definition, err = ask(s, func() (string, error) {
		e := s.env(s.selected, s.level)
		t, err := eval.TypeOf(text, e)
		if err != nil {
			return "", e.suggest(err)
		}
		heading = opt.Offsets && t.HasLayout()
		return t.DefinitionWith(opt), nil
	})
	return definition, heading, err
}

// TypeOf returns the type of an expression. It evaluates no more than necessary. Of a named type that is
// a typedef it returns the type that the typedef names: "whatis".
func (s *Session) TypeOf(text string) (string, error) {
	return ask(s, func() (string, error) {
		e := s.env(s.selected, s.level)
		t, err := eval.TypeOf(text, e)
		if err != nil {
			return "", e.suggest(err)
		}
		if t != nil && t.Kind == types.Typedef && eval.NamesType(text, e) {
			t = t.Elem()
		}
		return eval.TypeName(Value{Type: t}), nil
	})
}
