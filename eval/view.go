package eval

import (
	"strconv"
	"strings"

	"dbg/symbols/types"
)

// A Viewer is an Env that knows how people read the values of some types. Package eval/view has the
// views.
type Viewer interface {
	// View returns the view of a value, or nil if its type has none. It does not read memory.
	View(v Value) View
}

// A View is one value as people read it. It belongs to the stop in which it was made. It never runs
// the program.
type View interface {
	// Summary returns one line, or "" if the view shows only items. The error means that the object
	// can't be what its type says: it is not yet constructed, or damaged.
	Summary(opt Options) (string, error)

	// Items returns the parts that people see, or nil if there are none. The error is as Summary's.
	Items() (Items, error)

	// Method evaluates a method or an operator ("size", "operator[]") of the object. ok is false if
	// the view does not know it: then the program's own method must be called.
	Method(name string, args []Value) (v Value, ok bool, err error)
}

// Form tells how text shows the items of a view.
type Form uint8

const (
	ByName      Form = iota // {first = 1, ["a"] = 2}
	ByIndex                 // {1, 2}
	SummaryOnly             // the summary has told everything
	// The forms of Rust, with the summary directly before the items:
	Braces // HashSet(size=2) {1, 2}: elements that differ from each other
	Runs   // VecDeque(size=20) {1, 2 <repeats 19 times>}
	Keyed  // HashMap(size=1) {"a": 1}
	Fields // Cell {value: 1}
	Tuple  // OnceCell(1)
	Inside // Rc(strong=1, weak=0) 5: only the first item, without its name
)

// Items is a sequence of values, read when they are needed.
type Items interface {
	Form() Form
	Len() int64
	// At returns an item with its name. 0 <= i < Len(). An item that can't be read is Unreadable.
	At(i int64) Value
}

// A Scope is an Env in which an expression of a view is evaluated. Its Type also knows the names that
// Natvis gives to template arguments, "$T1". Nothing is assigned or called in it.
type Scope interface {
	Env
	// Intrinsic evaluates a call of a function that the view defines. ok is false if there is none.
	Intrinsic(name string, args []Value) (v Value, ok bool, err error)
	// SetVariable changes a variable that the view has declared. It returns false if there is none.
	SetVariable(name string, v Value) bool
}

const errPure = Error("A view assigns only to its own variables.")

// assignScoped evaluates an assignment, ++ or -- in an expression of a view.
func (e *evaluator) assignScoped(s Scope, n *node) (Value, error) {
	if n.a.op != "name" {
		return Value{}, errPure
	}
	old, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	var v Value
	switch n.op {
	case "=":
		v, err = e.operand(n.b)
	case "u++", "p++", "u--", "p--":
		v, err = e.operate(n.op[1:2], old, intValue(typeInt, 1))
	default:
		var right Value
		if right, err = e.operand(n.b); err == nil {
			v, err = e.operate(n.op[:len(n.op)-1], old, right)
		}
	}
	if err != nil {
		return Value{}, err
	}
	if !isStruct(old.Type) {
		if v, err = e.cast(old.Type, v); err != nil {
			return Value{}, err
		}
	}
	if e.dry == 0 && !s.SetVariable(n.a.text, v) {
		return Value{}, errPure
	}
	if n.op[0] == 'p' {
		return old, nil
	}
	return v, nil
}

// Expression is a parsed expression. It is immutable. The types that it names are those of the Env for
// which it was parsed.
type Expression struct{ tree *node }

// Parse parses an expression of a view.
func Parse(text string, s Scope) (*Expression, error) {
	n, err := parse(text, s)
	if err != nil {
		return nil, err
	}
	return &Expression{n}, nil
}

// Type returns the type that the expression names, or nil if it is not a type.
func (x *Expression) Type() *types.Type {
	if x.tree.op != "type" {
		return nil
	}
	return x.tree.typ
}

// Evaluate evaluates the expression in a scope. The value is not read yet if it is in memory.
func (x *Expression) Evaluate(s Scope) (Value, error) {
	if x.tree.op == "type" {
		return Value{}, Error("Attempt to use a type name as an expression")
	}
	v, err := (&evaluator{env: s}).eval(x.tree)
	if err != nil {
		return Value{}, err
	}
	return follow(v, s)
}

// Check reports whether the expression has a meaning in a scope, without reading what it names.
func (x *Expression) Check(s Scope) error {
	_, err := (&evaluator{env: s, dry: 1}).eval(x.tree)
	return err
}

// Words returns a child that is a text and not a value.
func Words(name, text string) Value { return Value{Type: typeVoid, Name: name, words: text} }

// InFormat returns a value that is shown in a format (a letter of Options.Format), if the user asks for
// none.
func InFormat(v Value, letter byte) Value {
	v.form = letter
	return v
}

// ViewOf returns the view of a value, or nil if it has none, or is to be shown as it is in memory. A
// pointer or a reference has the view of its target.
func ViewOf(v Value, env Env) View {
	viewer, ok := env.(Viewer)
	if !ok || v.raw || v.Avail != Available && v.Avail != Partial {
		return nil
	}
	return viewer.View(v)
}

// RawName is the name of the child that shows a value as it is in memory.
const RawName = "[Raw View]"

// Raw returns the value as it is in memory.
func Raw(v Value) Value {
	v.raw = true
	return v
}

// maxInvalid is the number of invalid objects in one text whose memory is shown.
const maxInvalid = 8

// viewed writes a value that has a view. It returns false if the memory is still to be shown.
func (p *printer) viewed(v Value) bool {
	if p.opt.Raw {
		return false
	}
	view := ViewOf(v, p.env)
	if view == nil {
		return false
	}
	summary, err := view.Summary(p.opt)
	var items Items
	if err == nil {
		items, err = view.Items()
	}
	if err != nil {
		p.str("<" + err.Error() + ">")
		if p.invalid++; p.invalid > maxInvalid {
			return true
		}
		p.str(" ")
		return false
	}
	p.str(summary)
	if items != nil && items.Form() >= Braces {
		p.rustItems(summary, items)
		return true
	}
	if items == nil || summary != "" && (items.Len() == 0 || items.Form() == SummaryOnly) {
		return true
	}
	if summary != "" {
		p.str(" = ")
	}
	if p.hidden() {
		p.str("{...}")
		return true
	}
	p.open("{")
	if items.Form() == ByIndex {
		p.elements(items.Len(), ", ", items.At)
		p.close("}", p.opt.PrettyArrays && items.Len() > 0)
	} else {
		p.items(items)
		p.close("}", p.opt.Pretty && items.Len() > 0)
	}
	return true
}

// rustItems writes items in one of the forms of Rust.
func (p *printer) rustItems(summary string, items Items) {
	form := items.Form()
	if form == Inside {
		if items.Len() > 0 {
			if summary != "" {
				p.str(" ")
			}
			if p.hidden() {
				p.str("{...}")
				return
			}
			if summary == "" {
				p.depth-- // people see no structure around it
				defer func() { p.depth++ }()
			}
			p.value(items.At(0))
		}
		return
	}
	open, end := " {", "}"
	switch {
	case form == Tuple:
		open, end = "(", ")"
	case summary == "":
		open = "{"
	}
	p.str(open)
	switch {
	case p.hidden() && items.Len() > 0:
		p.str("...")
	case form == Runs:
		p.elements(items.Len(), ", ", items.At)
	default:
		for i := range items.Len() {
			if i >= int64(p.opt.MaxElements) || p.full() {
				p.str("...")
				break
			}
			if i > 0 {
				p.str(", ")
			}
			item := items.At(i)
			switch form {
			case Keyed:
				p.str(strings.TrimSuffix(strings.TrimPrefix(item.Name, "["), "]") + ": ")
			case Fields:
				p.str(item.Name + ": ")
			}
			p.value(item)
			if failed(item, p.env) && i+1 < items.Len() {
				p.str("...")
				break
			}
		}
	}
	p.str(end)
}

// maxLost is the number of items in succession that can't be read before the rest is left out.
const maxLost = 2

// items writes items with their names.
func (p *printer) items(items Items) {
	lost := 0 // items in succession that can't be read
	for i := range items.Len() {
		if i >= int64(p.opt.MaxElements) || p.full() {
			p.str("...")
			return
		}
		p.between(i == 0, p.opt.Pretty)
		item := items.At(i)
		p.str(item.Name + " = ")
		p.value(item)
		if item.Avail != Unreadable {
			lost = 0
		} else if lost++; lost == maxLost && i+1 < items.Len() {
			p.str("...")
			return
		}
	}
}

// viewTree returns the items of a value that has a view, and the value as it is in memory.
func viewTree(v Value, env Env) (tree, bool) {
	view := ViewOf(v, env)
	if view == nil {
		return tree{}, false
	}
	items, err := view.Items()
	if err != nil {
		return tree{}, false
	}
	n := int64(0)
	if items != nil {
		n = items.Len()
	}
	return tree{count: n + 1, at: func(i int64) Value {
		if i < n {
			return items.At(i)
		}
		raw := Raw(v)
		raw.Name = RawName
		return raw
	}}, true
}

// viewMethod evaluates a method of an object by the object's view.
func (e *evaluator) viewMethod(obj Value, name string, args []Value) (v Value, ok bool, err error) {
	if !isStruct(obj.Type) {
		return Value{}, false, nil
	}
	view := ViewOf(obj, e.env)
	if view == nil {
		return Value{}, false, nil
	}
	return view.Method(name, args)
}

// intrinsic evaluates a call by views. It returns done false if the program must be called.
func (e *evaluator) intrinsic(n *node) (v Value, done bool, err error) {
	scope, inView := e.env.(Scope)
	_, viewer := e.env.(Viewer)
	if !inView && !viewer {
		return Value{}, false, nil
	}
	var obj Value
	switch n.a.op {
	case "name":
		if _, ok := getIndex(n.a); !ok && !inView {
			return Value{}, false, nil
		}
	case ".", "->":
		if !viewer {
			return Value{}, false, nil
		}
		if obj, err = e.eval(n.a.a); err == nil {
			obj, err = e.pointee(obj)
		}
		if err == nil && isRust(obj.Type) {
			return e.rustCall(obj, n)
		}
		if err != nil || ViewOf(obj, e.env) == nil {
			return Value{}, false, nil
		}
	default:
		return Value{}, false, nil
	}
	args := make([]Value, len(n.args))
	for i, a := range n.args {
		if args[i], err = e.eval(a); err != nil {
			if inView {
				return Value{}, true, err
			}
			return Value{}, false, nil // the call itself says so
		}
	}
	if index, ok := getIndex(n.a); ok {
		return e.get(index, args)
	}
	if n.a.op == "name" {
		return scope.Intrinsic(n.a.text, args)
	}
	return e.viewMethod(obj, n.a.text, args)
}

// getIndex parses the name std::get<N>.
func getIndex(n *node) (int64, bool) {
	digits, ok := strings.CutPrefix(n.text, "std::get<")
	if n.op != "name" || !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(strings.TrimSuffix(digits, ">"), 10, 64)
	return i, err == nil
}

// get evaluates std::get<N>(v): of a pair, an array, or a class whose view knows it.
func (e *evaluator) get(index int64, args []Value) (Value, bool, error) {
	if len(args) != 1 {
		return Value{}, true, errorf("std::get takes one argument")
	}
	v, err := follow(args[0], e.env)
	if err != nil {
		return Value{}, true, err
	}
	for _, name := range []string{"std::get", "at"} {
		if out, ok, err := e.viewMethod(v, name, []Value{FromInt(index)}); ok {
			return out, true, err
		}
	}
	if index < 2 && isStruct(v.Type) {
		if m, ok := member(v, []string{"first", "second"}[index], e.env); ok {
			return m, true, nil
		}
	}
	return Value{}, true, errorf("std::get<%d> is not known for %s", index, TypeName(v))
}
