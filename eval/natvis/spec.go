package natvis

// Format is how a value is written (Specifiers, "Format specifiers").
type Format uint8

const (
	DefaultFormat Format = iota
	Decimal              // d, i
	Unsigned             // u
	Octal                // o
	Hex                  // x, h
	HexUpper             // X, H
	HexBare              // xb, hb: without 0x
	HexUpperBare         // Xb, Hb
	Binary               // b
	BinaryBare           // bb: without 0b
	Float                // f
	Scientific           // e
	ShortFloat           // g
	Char                 // c
	String               // s: const char *
	StringBare           // sb: without quotes
	UTF8                 // s8
	UTF8Bare             // s8b
	UTF16                // su
	UTF16Bare            // sub
	UTF32                // s32
	UTF32Bare            // s32b
	BSTR                 // bstr: UTF-16 whose length in bytes is in the four bytes before it
	Environment          // env: texts that a zero ends, until an empty one
	EnumName             // en: without the number
	HResult              // hr
	WindowClass          // wc
	WindowMessage        // wm
	Handle               // handle
)

// A Flag changes how a value is shown (Specifiers, "Format specifiers").
type Flag uint8

const (
	NoAddress   Flag = 1 << iota // na: the object that a pointer points to, without the address
	NoDerived                    // nd: as its static type, not as the class that derives from it
	NoRawView                    // nr: without the child [Raw View]
	NumericOnly                  // nvo: the number alone
	Raw                          // !: without views
	HeapArray                    // hv: a pointer to an array whose length the heap knows
)

// A Spec is a format specifier. The zero Spec is none.
type Spec struct {
	Format Format
	Flags  Flag
	Size   *Expr  // [size]: a pointer to that many elements (Specifiers, "Size specifiers for pointers as arrays")
	Index  *Expr  // expand(n): the element n alone
	View   string // view(name)
}

// IsZero reports whether there is no specifier.
func (s Spec) IsZero() bool { return s == Spec{} }

// Has reports whether a flag is set.
func (s Spec) Has(f Flag) bool { return s.Flags&f != 0 }

var formats = map[string]Format{
	"d": Decimal, "i": Decimal, "u": Unsigned, "o": Octal,
	"x": Hex, "h": Hex, "X": HexUpper, "H": HexUpper,
	"xb": HexBare, "hb": HexBare, "Xb": HexUpperBare, "Hb": HexUpperBare,
	"b": Binary, "bb": BinaryBare,
	"f": Float, "e": Scientific, "g": ShortFloat,
	"c": Char, "s": String, "sb": StringBare, "s8": UTF8, "s8b": UTF8Bare,
	"su": UTF16, "sub": UTF16Bare, "s32": UTF32, "s32b": UTF32Bare, "bstr": BSTR, "env": Environment,
	"en": EnumName, "hr": HResult, "wc": WindowClass, "wm": WindowMessage, "handle": Handle,
}

var flags = []struct {
	name string
	flag Flag
}{
	{"nvo", NumericOnly}, {"na", NoAddress}, {"nd", NoDerived}, {"nr", NoRawView}, {"hv", HeapArray}, {"!", Raw},
}
