package symbols

import (
	"dbg/image"
	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// Function is a function, or an inlined call of one.
type Function struct {
	Name    string     // qualified and readable: "ns::Class::f(int)" without parameters is "ns::Class::f"
	Linkage string     // the ELF symbol's name; "" if not known
	Lo, Hi  image.Addr // of the range that holds the entry, or of the ELF symbol
	Ranges  []Range    // all ranges; hot part first
	File    string     // declaration
	Line    int
	Lang    lang.Lang
	// FromSymbolTable is set if there is no debug information: only Name, Lo and Hi are known.
	FromSymbolTable bool

	impl *function // of the debug information; nil if FromSymbolTable
}

// Range is a half-open range of file addresses.
type Range struct{ Lo, Hi image.Addr }

// Position is a place in the source.
type Position struct {
	File   string // absolute where the producer gave its directory
	Line   int    // 0: not known
	Column int    // 0: not known
}

// Call is one link of the chain of calls at an address: the innermost inlined
// call first, the function that is really there last.
type Call struct {
	Function *Function
	Position Position // where control is in this function
	Inlined  bool     // this is an inlined call; the next link called it
}

// LineRange is one row of the line table with the addresses that it stands for.
type LineRange struct {
	Position
	Lo, Hi image.Addr
	IsStmt bool
}

// Location is a place where a breakpoint can be. Describe must be called before Function and Position are used.
type Location struct {
	Addr     image.Addr
	Function *Function // nil if not known
	Position

	m *Module // to describe it; nil if that is done
}

// Variable is a variable, a parameter or a constant of the program.
type Variable struct {
	Name       string
	Type       *types.Type
	Param      bool
	Line       int  // of its declaration, 0 if not known
	Depth      int  // of the lexical block: 0 is the function itself
	Artificial bool // the compiler's own ("this")

	impl *variable
}
