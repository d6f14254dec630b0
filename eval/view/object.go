package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dbg/eval"
	"dbg/eval/natvis"
	"dbg/symbols/types"
)

// object is a value that has a view.
type object struct {
	*class
	v   eval.Value
	env *inner

	checked bool
	invalid error // why it can't be what its type says
	listed  bool
	list    *itemList
	failed  error // of list
}

var _ eval.View = (*object)(nil)

// errInvalid begins the text about an object that is not yet constructed, or damaged.
type errInvalid struct {
	name string
	err  error
}

func (e *errInvalid) Error() string { return "not a valid " + e.name + ": " + e.err.Error() }
func (e *errInvalid) Unwrap() error { return e.err }

// scope returns the scope of the object's own expressions.
func (o *object) scope() *scope { return &scope{inner: o.env, o: o, this: o.v} }

// in returns the scope of a node of the object.
func (o *object) in(node eval.Value, index int64) *scope {
	return &scope{inner: o.env, o: o, this: node, node: node.Type.Strip(), index: index}
}

// parse parses an expression of the view for a scope, once.
func (o *object) parse(x *natvis.Expr, s *scope) (*eval.Expression, error) {
	p := o.parsedOnce(x, s)
	return p.x, p.err
}

func (o *object) parsedOnce(x *natvis.Expr, s *scope) *parsed {
	key := parsedKey{x, s.node}
	p := o.parsed[key]
	if p == nil {
		p = &parsed{text: x.Text}
		p.x, p.err = eval.Parse(x.Text, s)
		if len(o.parsed) < 1<<16 {
			o.parsed[key] = p
		}
	}
	return p
}

// eval evaluates an expression of the view.
func (o *object) eval(x *natvis.Expr, s *scope) (eval.Value, error) {
	p := o.parsedOnce(x, s)
	if p.err != nil {
		return eval.Value{}, p.err
	}
	v, done := o.run(p, s)
	var err error
	if !done {
		v, err = p.x.Evaluate(s)
	}
	if x.Spec.Has(natvis.Raw) {
		v = eval.Raw(v)
	}
	if x.Spec.Format != natvis.DefaultFormat {
		v = eval.InFormat(v, letters[x.Spec.Format])
	}
	return v, err
}

func (o *object) number(x *natvis.Expr, s *scope) (int64, error) {
	v, err := o.eval(x, s)
	if err != nil {
		return 0, err
	}
	return eval.Number(v, s)
}

// holds evaluates a condition. nil holds.
func (o *object) holds(x *natvis.Expr, s *scope) (bool, error) {
	if x == nil {
		return true, nil
	}
	v, err := o.eval(x, s)
	if err != nil {
		return false, err
	}
	return eval.IsTrue(v, s)
}

// applies reports whether an element of the view counts for the object. An optional element with an error
// does not.
func (o *object) applies(c *natvis.Common, s *scope) (bool, error) {
	if !c.Views.Allow("") {
		return false, nil
	}
	ok, err := o.holds(c.Condition, s)
	if err != nil && c.Optional {
		return false, nil
	}
	return ok, err
}

// choose returns the first expression that applies, or nil.
func (o *object) choose(list []natvis.Choice, s *scope) (*natvis.Expr, error) {
	for i := range list {
		c := &list[i]
		ok, err := o.applies(&c.Common, s)
		if err != nil {
			return nil, err
		}
		if ok && c.Optional {
			if _, err := o.eval(&c.Value, s); meansNothing(err) {
				continue
			}
		}
		if ok {
			return &c.Value, nil
		}
	}
	return nil, nil
}

// meansNothing reports whether an error says that an expression is for another layout of the class, and
// not that memory can't be read.
func meansNothing(err error) bool {
	var access *eval.AccessError
	return err != nil && !errors.As(err, &access)
}

// prune drops the optional intrinsics without parameters whose expression has no meaning for the class:
// they are for other versions of it (Natvis, "Optional attribute").
func (o *object) prune() {
	s := o.scope()
	for range 4 { // an intrinsic may call others
		// In the order of the file, not of the map: one that calls another is judged after that one.
		for _, def := range slices.Concat(o.def.Intrinsics, o.env.set.natvis.Intrinsics()) {
			name := def.Name
			o.intrinsics[name] = slices.DeleteFunc(o.intrinsics[name], func(in *natvis.Intrinsic) bool {
				if !in.Optional || len(in.Params) > 0 {
					return false
				}
				p, err := o.parse(&in.Expression, s)
				return err != nil || meansNothing(p.Check(s))
			})
		}
	}
}

// fits reports whether the expressions of the view have a meaning for the class: the members that they
// name are there.
func (o *object) fits() bool {
	s := o.scope()
	check := func(x *natvis.Expr) bool {
		if x == nil {
			return true
		}
		p, err := o.parse(x, s)
		return err == nil && !meansNothing(p.Check(s))
	}
	for i := range o.def.Displays {
		d := &o.def.Displays[i]
		if d.Optional || !d.Views.Allow("") {
			continue
		}
		if !check(d.Condition) {
			return false
		}
		for j := range d.Parts {
			if !check(d.Parts[j].Expr) {
				return false
			}
		}
	}
	if o.def.Expand == nil {
		return true
	}
	for _, item := range o.def.Expand.Items {
		c := item.Attributes()
		if c.Optional || !c.Views.Allow("") {
			continue
		}
		if !check(c.Condition) || !slices.ContainsFunc(mainExpressions(item), check) && len(mainExpressions(item)) > 0 {
			return false
		}
	}
	return true
}

// mainExpressions returns the expressions of an item that are evaluated in the object. One of them must
// have a meaning.
func mainExpressions(item natvis.Item) (out []*natvis.Expr) {
	switch it := item.(type) {
	case *natvis.ItemValue:
		return []*natvis.Expr{&it.Value}
	case *natvis.ArrayItems:
		for i := range it.ValuePointers {
			out = append(out, &it.ValuePointers[i].Value)
		}
	case *natvis.LinkedListItems:
		return []*natvis.Expr{&it.Head}
	case *natvis.TreeItems:
		return []*natvis.Expr{&it.Head}
	case *natvis.ExpandedItem:
		return []*natvis.Expr{&it.Value}
	}
	return out
}

// errScattered is about an object that optimised code keeps in registers and whose view needs its address.
var errScattered = errors.New("optimized out in part")

// valid evaluates the intrinsic __valid of our own views.
func (o *object) valid() error {
	if o.checked {
		return o.invalid
	}
	o.checked = true
	in := o.intrinsic("__valid", 0)
	if in == nil {
		return nil
	}
	v, err := o.call(in, nil, 0)
	ok := false
	if err == nil {
		ok, err = eval.IsTrue(v, o.env)
	}
	switch {
	case err == nil && !ok:
		err = errors.New("its numbers don't fit together")
	case err != nil && meansNothing(err) && !o.v.HasAddr:
		o.invalid = errScattered
		return o.invalid
	}
	if err != nil {
		o.invalid = &errInvalid{o.name, err}
	}
	return o.invalid
}

// call evaluates an intrinsic.
func (o *object) call(in *natvis.Intrinsic, args []eval.Value, calls int) (eval.Value, error) {
	s := o.scope()
	s.calls = calls
	if len(in.Params) > 0 {
		s.vars = map[string]eval.Value{}
		for i, p := range in.Params {
			if p.Name != "" && i < len(args) {
				s.vars[p.Name] = args[i]
			}
		}
	}
	return o.eval(&in.Expression, s)
}

// Summary implements eval.View.
func (o *object) Summary(opt eval.Options) (string, error) {
	if err := o.valid(); err != nil {
		return "", err
	}
	s := o.scope()
	for i := range o.def.Displays {
		d := &o.def.Displays[i]
		ok, err := o.applies(&d.Common, s)
		if err != nil {
			return "", &errInvalid{o.name, err}
		}
		if !ok {
			continue
		}
		text, err := o.display(d.Parts, s, opt)
		if err != nil {
			if d.Optional && meansNothing(err) {
				continue
			}
			return "", &errInvalid{o.name, err}
		}
		return text, nil
	}
	return "", nil
}

// display writes a display string.
func (o *object) display(parts []natvis.Part, s *scope, opt eval.Options) (string, error) {
	var b strings.Builder
	for i := range parts {
		p := &parts[i]
		if p.Expr == nil {
			b.WriteString(o.expandText(p.Text))
			continue
		}
		text, err := o.format(p.Expr, s, opt)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		if b.Len() > 1<<20 {
			return "", errors.New("the text is too long")
		}
	}
	return b.String(), nil
}

// expandText replaces $T1 and $Class in the text of a display string.
func (o *object) expandText(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	text = strings.ReplaceAll(text, "$Class", o.name)
	for i := len(o.values) - 1; i >= 0; i-- {
		name := o.values[i].Text
		if i < len(o.args) && o.args[i] != nil {
			name = o.args[i].String()
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("$T%d", i+1), ShortName(name))
	}
	return text
}

// expandArgs replaces $T1 in a type's name.
func (o *object) expandArgs(name string) string {
	for i := len(o.values) - 1; i >= 0; i-- {
		text := o.values[i].Text
		if i < len(o.args) && o.args[i] != nil {
			text = o.args[i].String()
		}
		if strings.HasSuffix(text, ">") {
			text += " "
		}
		name = strings.ReplaceAll(name, fmt.Sprintf("$T%d", i+1), text)
	}
	return strings.ReplaceAll(name, " ,", ",")
}

// format writes the value of an expression with its format specifier.
func (o *object) format(x *natvis.Expr, s *scope, opt eval.Options) (string, error) {
	v, err := o.eval(x, s)
	if err != nil {
		return "", err
	}
	bare := false
	switch x.Spec.Format {
	case natvis.StringBare, natvis.UTF8Bare, natvis.UTF16Bare, natvis.UTF32Bare:
		bare = true
	}
	if x.Spec.Size != nil {
		n, err := o.number(x.Spec.Size, s)
		if err != nil {
			return "", err
		}
		return o.formatSized(v, n, s, opt, bare)
	}
	inside := opt
	if k := v.Type.Strip().Kind; k != types.Struct && k != types.Union {
		inside.Format = 0 // the user's format is for the elements
	}
	inside.Inner, inside.AddressOfStrings = true, opt.AddressOfStrings && !x.Spec.Has(natvis.NoAddress)
	if letter := letters[x.Spec.Format]; letter != 0 {
		inside.Format = letter
	}
	if text, ok := pointedSummary(v, x.Spec.Has(natvis.NoAddress), s, inside); ok {
		return text, nil
	}
	text := eval.Format(v, s.inner, inside)
	switch x.Spec.Format {
	case natvis.HexBare, natvis.HexUpperBare:
		text = strings.TrimPrefix(text, "0x")
	case natvis.StringBare, natvis.UTF8Bare, natvis.UTF16Bare, natvis.UTF32Bare:
		if i := strings.IndexByte(text, '"'); i >= 0 && strings.HasSuffix(text, `"`) {
			text = text[i+1 : len(text)-1]
		}
	}
	return text, nil
}

// letters has eval's letters for formats.
var letters = map[natvis.Format]byte{
	natvis.Decimal: 'd', natvis.Unsigned: 'u', natvis.Octal: 'o',
	natvis.Hex: 'x', natvis.HexUpper: 'x', natvis.HexBare: 'x', natvis.HexUpperBare: 'x',
	natvis.Binary: 't', natvis.BinaryBare: 't',
	natvis.Float: 'f', natvis.Scientific: 'f', natvis.ShortFloat: 'f', natvis.Char: 'c',
}

// formatSized writes a pointer or an array as n elements.
func (o *object) formatSized(v eval.Value, n int64, s *scope, opt eval.Options, bare bool) (string, error) {
	elem, at, err := elements(v, s)
	if err != nil {
		return "", err
	}
	if n < 0 || n > 1<<40 {
		return "", fmt.Errorf("%d elements", n)
	}
	if _, ok := eval.CharWidth(elem); ok {
		return eval.FormatText(elem, at, n, s, opt, bare)
	}
	a, ok := eval.ArrayAt(elem, n, at)
	if !ok {
		return "", fmt.Errorf("%d elements", n)
	}
	opt.Inner = true
	return eval.Format(a, s.inner, opt), nil
}

// operators has the names of intrinsics in our own views that stand for operators: the names of Natvis's
// intrinsics are identifiers.
var operators = map[string]string{"operator[]": "__index", "operator*": "__deref", "operator->": "__arrow"}

// Method implements eval.View.
func (o *object) Method(name string, args []eval.Value) (eval.Value, bool, error) {
	known := name
	if own := operators[name]; own != "" {
		known = own
	} else if strings.HasPrefix(name, "__") {
		return eval.Value{}, false, nil
	}
	in := o.intrinsic(known, len(args))
	if in == nil {
		if v, ok, err := o.smart(name, args); ok {
			return v, ok, err
		}
		return o.generic(name, args)
	}
	if err := o.valid(); err != nil {
		return eval.Value{}, true, err
	}
	if err := o.inRange(name, args); err != nil {
		return eval.Value{}, true, err
	}
	v, err := o.call(in, args, 0)
	return v, true, err
}

// smart evaluates an operator of a smart pointer (natvis.xsd, "SmartPointerType").
func (o *object) smart(name string, args []eval.Value) (v eval.Value, ok bool, err error) {
	p := o.def.Smart
	if p == nil {
		return v, false, nil
	}
	s := o.scope()
	if use, err := o.applies(&p.Common, s); err != nil || !use {
		return v, err != nil, err
	}
	switch {
	case name == "operator*" && len(args) == 0, name == "operator->" && len(args) == 0:
	case name == "operator[]" && len(args) == 1 && p.Usage != natvis.Minimal:
	default:
		return v, false, nil
	}
	if v, err = o.eval(&p.Value, s); err != nil {
		return v, true, err
	}
	switch name {
	case "operator*":
		v, err = eval.Target(v, o.env)
	case "operator[]":
		var i int64
		if i, err = eval.Number(args[0], o.env); err == nil {
			v, err = eval.Element(v, i, o.env)
		}
	}
	return v, true, err
}

// inRange checks the index of an element, where the class has a size.
func (o *object) inRange(name string, args []eval.Value) error {
	size := o.intrinsic("size", 0)
	if size == nil {
		return nil
	}
	switch {
	case (name == "operator[]" || name == "at") && len(args) == 1, name == "front", name == "back":
	default:
		return nil
	}
	n, err := o.callNumber(size)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if n == 0 {
			return fmt.Errorf("the %s is empty", o.name)
		}
		return nil
	}
	i, err := eval.Number(args[0], o.env)
	if err == nil && (i < 0 || i >= n) {
		err = fmt.Errorf("no such element: index %d of %d", i, n)
	}
	return err
}

func (o *object) callNumber(in *natvis.Intrinsic) (int64, error) {
	v, err := o.call(in, nil, 0)
	if err != nil {
		return 0, err
	}
	return eval.Number(v, o.env)
}

// elements returns the element type and the address of what a pointer or an array refers to.
func elements(v eval.Value, env eval.Env) (*types.Type, addr, error) {
	t := v.Type.Strip()
	switch t.Kind {
	case types.Array:
		if v.HasAddr {
			return t.Elem(), v.Addr, nil
		}
	case types.Pointer:
		n, err := eval.Number(v, env)
		return t.Elem(), addr(n), err
	}
	return nil, 0, fmt.Errorf("%s is not a pointer", t.String())
}
