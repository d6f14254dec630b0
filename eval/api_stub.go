package eval

import (
	"errors"

	"dbg/arch"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

var errNotYet = errors.New("not yet")
var unknownFunction = symbols.NewFunc(nil, nil)

type FrameContext struct {
	Mem        target.Memory
	Regs       *arch.Registers
	Wide       func(arch.Reg) ([]byte, error)
	CFA        target.Addr
	HasCFA     bool
	PC         image.Addr
	Bias       uint64
	Arch       *arch.Arch
	TLS        func(offset uint64) (uint64, error)
	EntryValue func([]byte) (uint64, error)
}

type Options struct {
	Format           byte
	MaxElements      int
	MaxDepth         int
	Compact          bool
	AddressOfStrings bool
}

func DefaultOptions() Options { return Options{MaxElements: 200, MaxDepth: 20, AddressOfStrings: true} }

func ReadVariable(v *symbols.Variable, fc *FrameContext) Value {
	return Value{Type: v.Type, Name: v.Name}
}
func Evaluate(text string, env Env) (Value, error)                 { return Value{}, errNotYet }
func Format(v Value, env Env, opt Options) string                  { return "" }
func Children(v Value, env Env, start, count int) ([]Value, error) { return nil, errNotYet }
func NumChildren(v Value, env Env) int                             { return 0 }
func Examine(addr target.Addr, format, unit byte, count int, env Env) (lines []string, next target.Addr, err error) {
	return nil, addr, errNotYet
}
func Truth(v Value, env Env) (bool, error)            { return false, errNotYet }
func Int(v Value, env Env) (int64, error)             { return 0, errNotYet }
func AddressOf(v Value, env Env) (target.Addr, error) { return 0, errNotYet }

// Fetch reads the value's bytes, so that it stays what it is now: for the value history.
func Fetch(v Value, env Env) Value { return v }

// RegisterByName gives a register (or a part of one: eax, ax, al) of a frame as a typed value; *NotFoundError if there is no such register.
func RegisterByName(name string, a *arch.Arch, regs *arch.Registers, wide func(arch.Reg) ([]byte, error)) (Value, error) {
	return Value{}, &NotFoundError{name}
}

// RegisterUpdate says what to store for the assignment $name = v: the whole register and its new value.
func RegisterUpdate(name string, v uint64, a *arch.Arch, regs *arch.Registers) (r arch.Reg, full uint64, ok bool) {
	return 0, 0, false
}
