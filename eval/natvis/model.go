package natvis

// A File is the model of a .natvis file (Natvis, "AutoVisualizer element").
type File struct {
	Name       string
	Version    *Version // of all types that have none
	Types      []*Type  // in the order of the file
	Intrinsics []*Intrinsic
}

// A Type is a view (Natvis, "Type element"). Of Displays, Strings and MostDerived, the first
// applies whose Condition holds and whose views allow it.
type Type struct {
	Patterns []Pattern // Name, then each AlternativeType
	Views    Views
	Version  *Version
	// Intrinsics are functions for all views of the same name: Visual Studio's users declare them
	// in a view without IncludeView and call them in the others. Several may have one name: they
	// differ in the parameters, or all but one are Optional and do not fit the class.
	Intrinsics  []*Intrinsic
	MostDerived []MostDerived
	Smart       *SmartPointer
	Displays    []Display
	Strings     []StringView
	Expand      *Expand // nil if the members are the children
	File        *File
	Pos         Pos
}

// A Pattern is a name that a view is for: Name of a Type, or of an AlternativeType.
type Pattern struct {
	Name     *TypeName
	Priority Priority
	// Inheritable is true if the view also serves classes that derive from this one (Natvis,
	// "Inheritable attribute").
	Inheritable bool
	Pos         Pos
}

// Priority orders views of the same name (Natvis, "Priority attribute").
type Priority uint8

// The priorities. Medium is the default.
const (
	Low Priority = iota
	MediumLow
	Medium
	MediumHigh
	High
)

var priorityNames = []string{"Low", "MediumLow", "Medium", "MediumHigh", "High"}

func (p Priority) String() string { return priorityNames[p] }

// A Version constrains a view to a module and its version (Natvis, "Version element"). It is kept
// for display: no view is dropped because of it.
type Version struct {
	Module   string
	Min, Max string
	Pos      Pos
}

// Views constrains an element to named views (Natvis, "IncludeView and ExcludeView attributes").
// The specifier view(name) selects one.
type Views struct {
	Include, Exclude []string
}

// Allow reports whether an element applies in a view. The default view is "".
func (v Views) Allow(view string) bool {
	for _, name := range v.Exclude {
		if name == view {
			return false
		}
	}
	for _, name := range v.Include {
		if name == view {
			return true
		}
	}
	return len(v.Include) == 0
}

// An Expr is an expression of the debugger, not parsed, and its format specifier.
type Expr struct {
	Text string
	Spec Spec
	Pos  Pos // of the first byte of Text
}

// Common holds the attributes that most elements have (natvis.xsd, "CommonAttributes").
type Common struct {
	Condition *Expr // nil: always (Natvis, "Condition attribute")
	// Optional is true if the element is ignored when an expression in it has an error. Else the
	// whole Type is (Natvis, "Optional attribute").
	Optional bool
	Views    Views
	Module   *Version // the attributes ModuleName, ModuleVersionMin and ModuleVersionMax
	Pos      Pos
}

// A Display is a display string (Natvis, "DisplayString element").
type Display struct {
	Common
	Parts []Part
}

// A Part is a piece of a display string: Text, or an expression in braces if Expr is not nil.
type Part struct {
	Text string
	Expr *Expr
}

// A StringView is an expression for a text viewer (Natvis, "StringView element").
type StringView struct {
	Common
	Value Expr
}

// Usage tells which operators a smart pointer has (natvis.xsd, "SmartPointerUsage").
type Usage uint8

const (
	Minimal   Usage = iota // *p, p->x, ==, !=
	Indexable              // also p + n, p - n, p[n]
	Full                   // it converts to the pointer
)

var usageNames = []string{"Minimal", "Indexable", "Full"}

func (u Usage) String() string { return usageNames[u] }

// A SmartPointer makes a type behave as the pointer that Value is (natvis.xsd, "SmartPointerType").
// The pointer gives the display string, the string view and the children that the type does not have.
type SmartPointer struct {
	Common
	Usage            Usage
	DefaultExpansion bool // without Expand, the children are the pointer's
	Value            Expr
}

// An Intrinsic is a function that expressions may call (natvis.xsd, "IntrinsicType").
type Intrinsic struct {
	Common
	Name       string
	Expression Expr
	ReturnType string // "" if the expression tells it
	SideEffect bool
	Varargs    bool
	Category   string // Method, Data or Property: an icon. "" is Method.
	Params     []Parameter
}

// A Parameter is one of an intrinsic. Its expression can't use it if Name is "".
type Parameter struct {
	Name, Type string
	Pos        Pos
}

// A MostDerived is an expression for the object with its dynamic type (natvis.xsd,
// "MostDerivedObjectType").
type MostDerived struct {
	Common
	IgnoreVTable bool // the static type of Value is the dynamic type of the object
	Value        Expr
}
