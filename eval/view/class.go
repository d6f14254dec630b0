package view

import (
	"strings"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
)

// class is what is known of the view of one concrete type.
type class struct {
	typ     *types.Type // the class that the view is for: the type, or a base of it
	path    []*types.Field
	def     *natvis.Type
	name    string // of the template: "std::map"
	args    []*types.Type
	parsed  map[parsedKey]*parsed
	values  []natvis.Arg
	builtin func(v eval.Value, env *inner) eval.View

	intrinsics map[string][]*natvis.Intrinsic
}

// parsedKey is an expression of a view. The same expression is parsed for the object and for each type
// of node in which it is evaluated: names of types may mean others there.
type parsedKey struct {
	expr *natvis.Expr
	node *types.Type // nil: the object
}

type parsed struct {
	x    *eval.Expression
	err  error
	text string

	uses  int        // how often it was evaluated
	tried bool       // to compile it
	code  *eval.Code // nil: it is not compiled
}

// maxBases limits the base classes that are searched for an inheritable view.
const maxBases = 100

// classOf finds the view of a type. A view whose expressions name members that the class does not have is
// for another version of the library. It is tried with an object that can't be read: what a class is must
// not depend on the first object of it.
func (s *Set) classOf(t *types.Type, env eval.Env) *class {
	s.load()
	left := maxBases
	return s.classIn(t, nil, eval.Value{Type: t, Addr: nowhere, HasAddr: true}, env, &left)
}

// nowhere is an address that no program can read.
const nowhere = ^addr(1<<20 - 1)

func (s *Set) classIn(t *types.Type, path []*types.Field, v eval.Value, env eval.Env, left *int) *class {
	if *left--; *left < 0 {
		return nil
	}
	if f := builtins[templateName(t.Name)]; f != nil && len(path) == 0 {
		return &class{typ: t, builtin: f}
	}
	if f := rustView(t); f != nil && len(path) == 0 {
		return &class{typ: t, builtin: f}
	}
	if f := goView(t); f != nil && len(path) == 0 {
		return &class{typ: t, builtin: f}
	}
	for _, m := range s.matches(t.Name) {
		if len(path) > 0 && !m.Pattern.Inheritable || !m.Type.Views.Allow("") {
			continue
		}
		c := &class{typ: t, path: path, def: m.Type, name: templateName(t.Name), values: m.Args,
			parsed: map[parsedKey]*parsed{}, intrinsics: map[string][]*natvis.Intrinsic{}}
		for _, a := range m.Args {
			c.args = append(c.args, argOf(t, a, env))
		}
		for _, list := range [][]*natvis.Intrinsic{m.Type.Intrinsics, s.natvis.Intrinsics()} {
			for _, in := range list {
				c.intrinsics[in.Name] = append(c.intrinsics[in.Name], in)
			}
		}
		o := &object{class: c, v: c.base(v, env), env: &inner{Env: env, set: s, level: maxLevel}}
		if o.prune(); o.fits() {
			return c
		}
	}
	fields := t.Fields()
	for i := range fields {
		if f := &fields[i]; f.Base && f.Type != nil {
			if c := s.classIn(f.Type.Strip(), append(path[:len(path):len(path)], f), v, env, left); c != nil {
				return c
			}
		}
	}
	return nil
}

// base returns the part of a value that the view is for.
func (c *class) base(v eval.Value, env eval.Env) eval.Value {
	for _, f := range c.path {
		v = eval.FieldOf(v, f, env)
	}
	return v
}

// argOf returns the type that a template argument is; nil if it is a value or is not known.
func argOf(t *types.Type, a natvis.Arg, env eval.Env) *types.Type {
	at := t
	for i, step := range a.Path {
		if step.Outer != 0 || at == nil {
			at = nil
			break
		}
		args := at.TemplateArgs()
		if step.Index >= len(args) { // GCC leaves them out of some classes
			at = nil
			break
		}
		if args[step.Index].Const {
			return nil
		}
		if at = args[step.Index].Type; i+1 < len(a.Path) {
			at = at.Strip()
		}
	}
	if at != nil && len(a.Path) > 0 {
		return at
	}
	return env.Type(a.Text)
}

// templateName returns a class's name without its template arguments and without the inline namespaces
// of the standard libraries.
func templateName(name string) string {
	name, _, _ = strings.Cut(name, "<")
	name = withoutVersion(name)
	return strings.Replace(name, "std::__1::", "std::", 1)
}

// memberType finds a member type of a class or of its bases.
func memberType(t *types.Type, name string, depth int) *types.Type {
	if t = t.Strip(); depth > 16 {
		return nil
	}
	if m := t.Inner(name); m != nil {
		return m
	}
	for _, f := range t.Fields() {
		if f.Base && f.Type != nil {
			if m := memberType(f.Type, name, depth+1); m != nil {
				return m
			}
		}
	}
	return nil
}
