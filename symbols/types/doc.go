// Package types describes the types of a program: their kinds, names, sizes, members and constants.
//
// It gives a [Type] for an entry of debug information ([Reader.At], [Reader.Of]), for a name
// ([Reader.Named]), for an enumeration's constant ([Reader.Enumerator]) and for a type descriptor
// of a Go program ([Reader.GoType]). A Type writes itself as gdb does ([Type.String],
// [Type.Declare], [Type.Definition]). [New] and its relatives make types that no file describes.
//
// You bring the file, the [entry.Scopes] of the module, and a [Finder] that looks up entries by
// name: a structure may be declared in one unit and defined in another one.
//
// The format is DWARF 2 to 5 (DWARF 5, chapter 5), with the attributes of Go's compiler and GNU's
// extensions. Types whose shape is not understood have the kind [Unsupported].
//
// It knows no values and no frames. The bounds of arrays of variable length, and members at
// computed places, are expressions for the caller to evaluate ([Evaluator], [Field.Place]).
//
// It stays fast because a type is read when it is asked for, its members when these are asked for,
// and a definition elsewhere only when something needs its members: see [Type.ElemAsDeclared].
package types
