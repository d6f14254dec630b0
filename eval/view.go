package eval

import (
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
}

const errPure = Error("A view assigns nothing.")

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
		p.str("<" + err.Error() + "> ")
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
	p.str("{")
	if items.Form() == ByIndex {
		p.elements(items.Len(), ", ", items.At)
	} else {
		p.items(items)
	}
	p.str("}")
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

// items writes items with their names.
func (p *printer) items(items Items) {
	for i := range items.Len() {
		if i > 0 {
			p.str(", ")
		}
		if i >= int64(p.opt.MaxElements) || p.full() {
			p.str("...")
			return
		}
		item := items.At(i)
		p.str(item.Name + " = ")
		p.value(item)
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
		if !inView {
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
			return Value{}, false, nil // the call itself says so
		}
	}
	if n.a.op == "name" {
		return scope.Intrinsic(n.a.text, args)
	}
	return e.viewMethod(obj, n.a.text, args)
}
