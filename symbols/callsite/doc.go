// Package callsite answers one question: what does a function's debug information record about the
// calls that it makes (DWARF 5, section 3.4, and gcc's earlier extension)?
//
// It gets entries, and returns the calls ([List]), and for one of them the callee's entry and the
// expressions for its target and its arguments. Package symbols is the only caller: it finds the
// functions, and follows chains of tail calls.
//
// It has no state. Its functions may be used like the dwarf.Data of the entries: by one goroutine
// at a time.
package callsite
