package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
)

// functions are what expressions of our own views may call besides intrinsics.
var functions = map[string]func(s *scope, args []eval.Value) (eval.Value, error){
	"__tuple_get": func(s *scope, args []eval.Value) (eval.Value, error) {
		if len(args) != 2 {
			return eval.Value{}, errors.New("__tuple_get takes a tuple and an index")
		}
		n, err := eval.Number(args[1], s)
		if err != nil {
			return eval.Value{}, err
		}
		list := tupleElements(args[0], s)
		if n < 0 || n >= int64(len(list)) {
			return eval.Value{}, fmt.Errorf("no such element: index %d of %d", n, len(list))
		}
		return list[n], nil
	},
	"__symbol":    symbolic,
	"__first":     firstOfPair,
	"__type_name": typeName,
	"__is_child":  isChild,
}

// builtins are the views that Natvis can't express, by the name of the template.
var builtins map[string]func(v eval.Value, env *inner) eval.View

func init() { // they refer to functions that refer to views
	builtins = map[string]func(v eval.Value, env *inner) eval.View{
		"std::tuple":   newTuple,
		"std::variant": newVariant,
		"std::bitset":  newBitset,

		"std::any":                            newAny,
		"std::function":                       newFunction,
		"std::__exception_ptr::exception_ptr": newExceptionPtr,
		"std::chrono::duration":               newDuration,
		"std::chrono::time_point":             newTimePoint,
	}
	for _, name := range exceptions {
		builtins[name] = newException
	}
	builtins["std::exception_ptr"] = newExceptionPtr
}

// fixed is a view that was computed whole.
type fixed struct {
	name    string
	summary string
	items   []eval.Value
	form    eval.Form
	err     error
	method  func(name string, args []eval.Value) (eval.Value, bool, error)
}

func (f *fixed) Summary(eval.Options) (string, error) {
	if f.err != nil {
		return "", &errInvalid{f.name, f.err}
	}
	return f.summary, nil
}

func (f *fixed) Items() (eval.Items, error) {
	if f.err != nil {
		return nil, &errInvalid{f.name, f.err}
	}
	return &valueList{f.items, f.form}, nil
}

func (f *fixed) Method(name string, args []eval.Value) (eval.Value, bool, error) {
	if f.method == nil {
		return eval.Value{}, false, nil
	}
	return f.method(name, args)
}

type valueList struct {
	list []eval.Value
	form eval.Form
}

func (l *valueList) Form() eval.Form       { return l.form }
func (l *valueList) Len() int64            { return int64(len(l.list)) }
func (l *valueList) At(i int64) eval.Value { return l.list[i] }

// maxTuple limits the elements of a tuple.
const maxTuple = 1 << 10

// tupleElements returns the elements of a std::tuple of libstdc++: each is in a base class
// _Head_base<N, T, empty>, which _Tuple_impl<N, …> derives from, besides _Tuple_impl<N+1, …>.
func tupleElements(v eval.Value, env eval.Env) (out []eval.Value) {
	if base, ok := eval.Member(v, "__base_", env); ok {
		return leaves(base, env)
	}
	t := v.Type.Strip()
	if !strings.HasPrefix(t.Name, "std::_Tuple_impl<") {
		v, t = baseWith(v, "std::_Tuple_impl<", env)
	}
	for t != nil && len(out) < maxTuple {
		head, ht := baseWith(v, "std::_Head_base<", env)
		if ht == nil {
			break
		}
		e, ok := eval.Member(head, "_M_head_impl", env)
		if !ok { // an empty class that is the base itself: GCC before version 11
			if args := ht.TemplateArgs(); len(args) > 1 && args[1].Type != nil {
				head.Type = args[1].Type
			}
			e = head
		}
		out = append(out, e)
		v, t = baseWith(v, "std::_Tuple_impl<", env)
	}
	return out
}

// leaves returns the elements of a std::tuple of libc++: each is in a base class __tuple_leaf<N, T, empty>.
func leaves(v eval.Value, env eval.Env) (out []eval.Value) {
	fields := v.Type.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		if !f.Base || f.Type == nil || !strings.HasPrefix(f.Type.Strip().Name, "std::__1::__tuple_leaf<") || len(out) >= maxTuple {
			continue
		}
		leaf := eval.FieldOf(v, f, env)
		e, ok := eval.Member(leaf, "__value_", env)
		if !ok { // an empty class that is the base itself
			e = leaf
			if args := f.Type.Strip().TemplateArgs(); len(args) > 1 && args[1].Type != nil {
				e.Type = args[1].Type
			}
		}
		out = append(out, e)
	}
	return out
}

// firstOfPair is a function of our own views: __first(x) is the first element of a __compressed_pair of
// libc++. Since version 20 it has none: then x is the element.
func firstOfPair(s *scope, args []eval.Value) (eval.Value, error) {
	if len(args) != 1 {
		return eval.Value{}, errors.New("__first takes a pair")
	}
	elem, t := baseWith(args[0], "std::__1::__compressed_pair_elem<", s)
	if t == nil {
		return args[0], nil
	}
	if v, ok := eval.Member(elem, "__value_", s); ok {
		return v, nil
	}
	return elem, nil
}

// baseWith returns the direct base class whose name has a prefix.
func baseWith(v eval.Value, prefix string, env eval.Env) (eval.Value, *types.Type) {
	fields := v.Type.Strip().Fields()
	for i := range fields {
		if f := &fields[i]; f.Base && f.Type != nil && strings.HasPrefix(f.Type.Strip().Name, prefix) {
			return eval.FieldOf(v, f, env), f.Type.Strip()
		}
	}
	return eval.Value{}, nil
}

func newTuple(v eval.Value, env *inner) eval.View {
	list := tupleElements(v, env)
	if len(list) == 0 && len(v.Type.Strip().TemplateArgs()) > 0 {
		return nil
	}
	for i := range list {
		list[i].Name = fmt.Sprintf("[%d]", i+1)
	}
	f := &fixed{name: "std::tuple", summary: "std::tuple containing", items: list}
	f.method = func(name string, args []eval.Value) (eval.Value, bool, error) {
		if name != "std::get" {
			return eval.Value{}, false, nil
		}
		n, err := eval.Number(args[0], env)
		if err == nil && (n < 0 || n >= int64(len(list))) {
			err = fmt.Errorf("no such element: index %d of %d", n, len(list))
		}
		if err != nil {
			return eval.Value{}, true, err
		}
		return list[n], true, nil
	}
	if len(list) == 0 {
		f.summary = "empty std::tuple"
	}
	return f
}

// newVariant shows the active alternative of a std::variant: _M_index tells which; the storage is a chain
// of unions, _M_first and _M_rest. libc++ has other names for the same.
func newVariant(v eval.Value, env *inner) eval.View {
	args := v.Type.Strip().TemplateArgs()
	index, ok := firstPath(v, env, "_M_index", "__impl_.__index", "__impl.__index")
	storage, ok2 := firstPath(v, env, "_M_u", "__impl_.__data", "__impl.__data")
	if !ok || !ok2 || len(args) == 0 {
		return nil
	}
	f := &fixed{name: "std::variant"}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = ShortName(a.Type.String())
	}
	f.summary = "std::variant<" + strings.Join(names, ", ") + ">"
	n, err := eval.Number(index, env)
	size := index.Type.Strip().Size
	switch none := int64(1)<<(8*uint(max(1, min(size, 4)))) - 1; {
	case err != nil:
		f.err = err
	case n == -1 || n == none:
		f.summary += " [no contained value]"
	case n < 0 || n >= int64(len(args)):
		f.err = fmt.Errorf("alternative %d of %d", n, len(args))
	default:
		f.summary += fmt.Sprintf(" [index %d]", n)
		for range n {
			if storage, ok = firstPath(storage, env, "_M_rest", "__tail"); !ok {
				return nil
			}
		}
		first, ok := firstPath(storage, env, "_M_first", "__head.__value")
		if !ok {
			return nil
		}
		// A type with a destructor is in a buffer of bytes.
		if buffer, ok := eval.Member(first, "_M_storage", env); ok {
			if buffer.HasAddr {
				first = eval.Value{Type: args[n].Type, Addr: buffer.Addr, HasAddr: true}
			} else {
				first = buffer
			}
		}
		first.Name = fmt.Sprintf("[%d]", n)
		f.items, f.form = []eval.Value{first}, eval.ByIndex
		f.method = func(name string, a []eval.Value) (eval.Value, bool, error) {
			switch {
			case name == "index" && len(a) == 0:
				return eval.FromInt(n), true, nil
			case name != "std::get":
				return eval.Value{}, false, nil
			}
			i, err := eval.Number(a[0], env)
			if err == nil && i != n {
				err = fmt.Errorf("alternative %d is not active; %d is", i, n)
			}
			return first, true, err
		}
	}
	return f
}

// newBitset shows the bits that are set, as gdb does.
func newBitset(v eval.Value, env *inner) eval.View {
	args := v.Type.Strip().TemplateArgs()
	if len(args) != 1 || !args[0].Const {
		return nil
	}
	words, ok := firstPath(v, env, "_M_w", "__first_")
	if !ok {
		if args[0].Value == 0 {
			return &fixed{name: "std::bitset", summary: "std::bitset"}
		}
		return nil
	}
	f := &fixed{name: "std::bitset", summary: "std::bitset"}
	read := eval.Fetch(words, env)
	if read.Bytes == nil {
		f.err = read.Err
		return f
	}
	const most = 10_000
	for i := int64(0); i < args[0].Value && i/8 < int64(len(read.Bytes)) && len(f.items) < most; i++ {
		if read.Bytes[i/8]>>(i%8)&1 != 0 {
			bit := eval.FromInt(1)
			bit.Name = fmt.Sprintf("[%d]", i)
			f.items = append(f.items, bit)
		}
	}
	f.method = func(name string, a []eval.Value) (eval.Value, bool, error) {
		switch {
		case name == "size" && len(a) == 0:
			return eval.FromInt(args[0].Value), true, nil
		case (name == "test" || name == "operator[]") && len(a) == 1:
			i, err := eval.Number(a[0], env)
			if err == nil && (i < 0 || i >= args[0].Value) {
				err = fmt.Errorf("no such element: index %d of %d", i, args[0].Value)
			}
			if err != nil {
				return eval.Value{}, true, err
			}
			return eval.Bool(read.Bytes[i/8]>>(i%8)&1 != 0), true, nil
		}
		return eval.Value{}, false, nil
	}
	return f
}

// generic evaluates methods that many classes have: the comparison of a string with a literal, and
// look-ups by key.
func (o *object) generic(name string, args []eval.Value) (eval.Value, bool, error) {
	if len(args) != 1 {
		return eval.Value{}, false, nil
	}
	switch name {
	case "operator==", "operator!=":
		same, ok, err := o.equals(args[0])
		if !ok || err != nil {
			return eval.Value{}, ok, err
		}
		return eval.Bool(same == (name == "operator==")), true, nil
	case "operator[]", "at", "count", "contains", "find":
		return o.lookup(name, args[0])
	}
	return eval.Value{}, false, nil
}

// equals compares a string with another, or with a literal.
func (o *object) equals(other eval.Value) (same, ok bool, err error) {
	mine, width, ok, err := o.characters()
	if !ok || err != nil {
		return false, ok, err
	}
	if text, w, ok := eval.TextOf(other); ok {
		return w == width && bytes.Equal(mine, text), true, nil
	}
	if view, ok := eval.ViewOf(other, o.env).(*object); ok {
		theirs, w, ok, err := view.characters()
		return w == width && bytes.Equal(mine, theirs), ok, err
	}
	return false, false, nil
}

// characters returns the text of a string: of a view with a StringView that has a length.
func (o *object) characters() (b []byte, width int, ok bool, err error) {
	if len(o.def.Strings) == 0 || o.def.Strings[0].Value.Spec.Size == nil {
		return nil, 0, false, nil
	}
	if err := o.valid(); err != nil {
		return nil, 0, true, err
	}
	s := o.scope()
	x := &o.def.Strings[0].Value
	v, err := o.eval(x, s)
	if err != nil {
		return nil, 0, true, err
	}
	n, err := o.number(x.Spec.Size, s)
	if err != nil {
		return nil, 0, true, err
	}
	elem, at, err := elements(v, s)
	if err != nil {
		return nil, 0, true, err
	}
	width, ok = eval.CharWidth(elem)
	if !ok {
		return nil, 0, false, nil
	}
	const most = 1 << 24
	if n < 0 || n > most {
		return nil, 0, true, fmt.Errorf("a text of %d characters is too long to compare", n)
	}
	b = make([]byte, n*int64(width))
	if got, err := s.ReadMemory(at, b); got < len(b) {
		return nil, 0, true, err
	}
	return b, width, true, nil
}

// lookup finds an element by its key.
func (o *object) lookup(name string, key eval.Value) (eval.Value, bool, error) {
	items, err := o.Items()
	if err != nil {
		return eval.Value{}, true, err
	}
	l, ok := items.(*itemList)
	if !ok || len(l.segments) != 1 {
		return eval.Value{}, false, nil
	}
	w, ok := l.segments[0].(*nodes)
	if !ok {
		return eval.Value{}, false, nil
	}
	keyExpr, isMap := keyOf(w.value)
	if keyExpr == nil || (name == "operator[]" || name == "at") && !isMap {
		return eval.Value{}, false, nil
	}
	count := int64(0)
	for i := range w.Len() {
		if w.reach(i + 1); i >= int64(len(w.found)) {
			return eval.Value{}, true, errors.Join(w.err, errNoElement)
		}
		s := o.in(w.node(w.found[i]), i)
		k, err := o.eval(keyExpr, s)
		if err != nil {
			return eval.Value{}, true, err
		}
		same, err := eval.Equal(k, key, o.env)
		if err != nil {
			return eval.Value{}, true, err
		}
		if !same {
			continue
		}
		switch name {
		case "count":
			count++
		case "contains":
			return eval.Bool(true), true, nil
		case "find":
			return k, true, nil
		default:
			return w.At(i), true, nil
		}
	}
	switch name {
	case "count":
		return eval.FromInt(count), true, nil
	case "contains":
		return eval.Bool(false), true, nil
	}
	return eval.Value{}, true, fmt.Errorf("the %s has no such key", o.name)
}

// keyOf returns the expression for the key of an element: in a map, that of its name; in a set, the
// element itself.
func keyOf(n *natvis.ValueNode) (key *natvis.Expr, isMap bool) {
	for i := range n.Name {
		if e := n.Name[i].Expr; e != nil && e.Text != "$i" {
			return e, true
		}
	}
	return &n.Value, false
}
