package natvis

// Expand holds the children of a view (Natvis, "Expand element"). Without items, the object has no
// children.
type Expand struct {
	HideRawView bool
	Items       []Item
	Pos         Pos
}

// An Item makes children: ItemValue, ArrayItems, IndexListItems, LinkedListItems, TreeItems,
// CustomListItems, ExpandedItem or Synthetic, each as a pointer.
type Item interface {
	// Attributes returns the common attributes.
	Attributes() *Common
}

// Attributes returns c. It makes each element that has Common an Item.
func (c *Common) Attributes() *Common { return c }

// An ItemValue is one child (Natvis, "Item expansion").
type ItemValue struct {
	Common
	Name  string
	Value Expr
}

// A Choice is an expression that applies if its condition holds. Of several, the first applies.
type Choice struct {
	Common
	Value Expr
}

// ArrayItems are adjacent elements in memory (Natvis, "ArrayItems expansion"). In Size and
// LowerBound, $i is the number of the dimension.
type ArrayItems struct {
	Common
	Backward      bool  // column-major: the first index changes fastest
	Rank          *Expr // nil: one dimension
	Sizes         []Choice
	LowerBound    *Expr // nil: 0
	ValuePointers []Choice
}

// IndexListItems are elements by index (Natvis, "IndexListItems expansion"). In ValueNodes, $i is
// the index.
type IndexListItems struct {
	Common
	Sizes      []Choice
	ValueNodes []ValueNode
}

// A ValueNode is the expression for an element. In a list or a tree it is evaluated in the node.
type ValueNode struct {
	Common
	Name  []Part // nil: the index
	Value Expr   // "this" is the node
}

// LinkedListItems are the nodes of a list (Natvis, "LinkedListItems expansion"). Next and Value are
// evaluated in the node.
type LinkedListItems struct {
	Common
	Sizes []Choice // empty: the list is walked to its end
	Head  Expr
	Next  Expr
	Value ValueNode
}

// TreeItems are the nodes of a binary tree, in order (Natvis, "TreeItems expansion"). Left, Right
// and Value are evaluated in the node. A node whose condition is false is a leaf.
type TreeItems struct {
	Common
	Sizes []Choice // empty: the whole tree is walked
	Head  Expr
	Left  Expr
	Right Expr
	Value ValueNode
}

// An ExpandedItem has the children of another value (Natvis, "ExpandedItem expansion").
type ExpandedItem struct {
	Common
	Value Expr
}

// A Synthetic is a child that is not a value (Natvis, "Synthetic item expansion").
type Synthetic struct {
	Common
	Name       string
	Expression *Expr // what "Add watch" evaluates, or nil
	Displays   []Display
	Strings    []StringView
	Expand     *Expand
}

// CustomListItems are elements that a small program produces (Natvis, "CustomListItems expansion").
type CustomListItems struct {
	Common
	MaxItemsPerView int        // 1 to 50,000
	Variables       []Variable // each may use those before it
	Sizes           []Choice   // empty: the program runs to its end
	Skip            *Skip
	Body            []Statement
}

// A Variable is declared by CustomListItems. Its type is that of its initial value.
type Variable struct {
	Name         string
	InitialValue Expr
	Pos          Pos
}

// A Skip is a program that skips elements (natvis.xsd, "SkipType"). Afterwards the body starts anew
// with the same variables.
type Skip struct {
	Value string // the variable with the number of elements to skip, and then of those skipped
	Body  []Statement
	Pos   Pos
}

// A Statement is one of the language of CustomListItems: Exec, Loop, If, Break or ListItem, each as
// a pointer.
type Statement interface{ statement() }

// An Exec evaluates an expression, which may assign to variables.
type Exec struct {
	Condition *Expr
	Value     Expr
	Pos       Pos
}

// A Loop runs its body until Break, as long as its condition holds.
type Loop struct {
	Condition *Expr
	Body      []Statement
	Pos       Pos
}

// An If runs the first branch whose condition holds: If, then each Elseif, then Else.
type If struct {
	Branches []Branch
	Pos      Pos
}

// A Branch is one of an If. Condition is nil for Else.
type Branch struct {
	Condition *Expr
	Body      []Statement
	Pos       Pos
}

// A Break leaves the innermost Loop. Outside of a loop it ends the program.
type Break struct {
	Condition *Expr
	Pos       Pos
}

// A ListItem produces an element.
type ListItem struct {
	Condition *Expr
	Name      []Part // nil: [index]
	Value     Expr
	Pos       Pos
}

func (*Exec) statement()     {}
func (*Loop) statement()     {}
func (*If) statement()       {}
func (*Break) statement()    {}
func (*ListItem) statement() {}
