package eval

import (
	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// Check reports whether text has the syntax of an expression, before a program exists in which it
// can be evaluated. It does not check names.
func Check(text string) error {
	p := &parser{lex: lexer{text: text, anyLanguage: true}, env: nowhere{}, lenient: true}
	return p.whole()
}

// nowhere is an Env without names, in which every name may be a type.
type nowhere struct{ Env }

func (nowhere) Arch() *arch.Arch                    { return arch.AMD64 }
func (nowhere) Variable(name string) (Value, error) { return Value{}, &NotFoundError{name} }
func (nowhere) Type(string) *types.Type             { return typeInt }
func (nowhere) ReadMemory(a target.Addr, b []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a}
}
