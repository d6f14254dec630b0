package session

import (
	"dbg/image"
	"dbg/symbols"
)

// "until" without a location is a step over a line that never goes back: at the end of a loop it
// goes on to the code after the loop.

// untilHere returns the code in which until does not end: from the start of a function to the end
// of a line. Rows of that line that begin no statement belong to it.
func (s *Session) untilHere(m *Module, at image.Addr, line symbols.LineRange) span {
	fn := m.Symbols.FunctionAt(at)
	if fn == nil {
		return span{}
	}
	hi := line.Hi
	for {
		next, ok := m.Symbols.LineAt(hi)
		if !ok || next.Lo != hi || next.IsStmt || next.Line != line.Line || next.File != line.File {
			return span{m.processAddr(fn.Lo), m.processAddr(hi)}
		}
		hi = next.Hi
	}
}
