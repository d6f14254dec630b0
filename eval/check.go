package eval

import (
	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// Check says whether text can be an expression, before there is a program to
// evaluate it in: its syntax, not its names.
func Check(text string) error {
	p := &parser{lex: lexer{text: text}, env: nowhere{}, lenient: true}
	return p.whole()
}

// nowhere is a world without names, where every name may be a type.
type nowhere struct{ Env }

func (nowhere) Arch() *arch.Arch                    { return arch.AMD64 }
func (nowhere) Variable(name string) (Value, error) { return Value{}, &NotFoundError{name} }
func (nowhere) Type(string) *types.Type             { return typeInt }
func (nowhere) ReadMemory(a target.Addr, b []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a}
}
