package eval

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
	ByName   Form = iota // {first = 1, second = 2}
	ByIndex              // {1, 2}
	ByKey                // {["a"] = 1}: the name of an item has the brackets
	WholeOne             // the only item is what the value is: its text follows without braces
)

// Items is a sequence of values, read when they are needed.
type Items interface {
	Form() Form
	Len() int64
	// At returns an item with its name. 0 <= i < Len(). An item that can't be read is Unreadable.
	At(i int64) Value
}
