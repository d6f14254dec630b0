package eval

import (
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Program is a compiled expression with a truth value. It is immutable and may be shared between
// goroutines.
//
// It needs only the registers and the memory of the thread at its place: no symbols, no debug
// information, no lock. Its result is the same as that of Evaluate and Truth.
type Program struct {
	code []instruction
}

// ProgramContext is the context in which a program is compiled: a place in the code.
type ProgramContext struct {
	// Env knows the types, functions and enumerators that are visible at that place. Compile asks
	// for them, and never reads memory or registers.
	Env Env
	// Variable finds the variable with a name there (a local of the function, or a global) and the
	// bias of its module. If ok is false, Env is asked. Variable may be nil.
	Variable func(name string) (v *symbols.Variable, bias uint64, ok bool)
	PC       image.Addr // in the file's space
	Bias     uint64     // of the module of PC
	Arch     *arch.Arch
	// CFA tells how the canonical frame address is computed at PC: a register and an offset. ok is
	// false if it is not that simple. CFA may be nil.
	CFA      func() (r arch.Reg, offset int64, ok bool)
	Language lang.Lang
}

// maxCode limits the instructions of a program.
const maxCode = 4096

// ErrNotCompiled means that an expression may be valid, but needs the full evaluator.
var ErrNotCompiled = errors.New("the expression needs the full evaluator")

// errRun is the error of a program that needs the full evaluator after all.
var errRun = errors.New("the program can't decide: the full evaluator is needed")

// notCompiled tells why the full evaluator is needed.
func notCompiled(why string) error { return fmt.Errorf("%w: %s", ErrNotCompiled, why) }

// Compile compiles a condition. The error wraps ErrNotCompiled if the full evaluator must be used.
// Any other error means that the expression has no meaning there (an unknown name, a wrong type),
// in the same words as from Evaluate.
func Compile(text string, c *ProgramContext) (*Program, error) {
	k, n, err := newCompiler(text, c)
	if err != nil {
		return nil, err
	}
	if err := k.truth(n, "!"); err != nil {
		return nil, err
	}
	if k.lost != nil {
		return nil, k.lost
	}
	if k.deepest > stackSize || len(k.code) > maxCode || k.depth != 1 {
		return nil, notCompiled("the expression is too large")
	}
	return &Program{code: k.code}, nil
}

// newCompiler parses an expression and prepares to compile it.
func newCompiler(text string, c *ProgramContext) (*compiler, *node, error) {
	env := &placeEnv{Env: c.Env, c: c, found: map[string]symbol{}, types: map[string]*types.Type{}}
	n, err := parse(text, env)
	if err != nil {
		return nil, nil, err
	}
	if n.op == "type" {
		return nil, nil, Error("Attempt to use a type name as an expression")
	}
	if c.Arch == nil || c.Arch.PtrSize != 8 || c.Arch.ByteOrder.String() != "LittleEndian" {
		return nil, nil, notCompiled("the architecture is not supported")
	}
	return &compiler{c: c, env: env, types: evaluator{env: env}}, n, nil
}

// placeEnv is the Env in which a program is compiled. Its variables have a type but no value. It
// searches each name once, since searching a name that does not exist is slow.
type placeEnv struct {
	Env
	c     *ProgramContext
	found map[string]symbol
	types map[string]*types.Type
}

// symbol is the meaning of a name: a variable, or a value from Env.
type symbol struct {
	v    *symbols.Variable // nil if it is not a variable
	bias uint64            // of its module
	Value
	err error
}

func (e *placeEnv) Language() lang.Lang { return e.c.Language }
func (e *placeEnv) Arch() *arch.Arch    { return e.c.Arch }

func (e *placeEnv) Variable(name string) (Value, error) {
	s := e.symbol(name)
	return s.Value, s.err
}

// symbol finds the meaning of a name. The Value of a variable has only its type.
func (e *placeEnv) symbol(name string) symbol {
	s, ok := e.found[name]
	if ok {
		return s
	}
	if e.c.Variable != nil {
		s.v, s.bias, ok = e.c.Variable(name)
	}
	if ok {
		s.Value = Value{Type: s.v.Type, Name: s.v.Name, Avail: OptimizedOut}
	} else {
		s.v = nil
		s.Value, s.err = e.Env.Variable(name)
	}
	e.found[name] = s
	return s
}

func (e *placeEnv) Type(name string) *types.Type {
	t, ok := e.types[name]
	if !ok {
		t = e.Env.Type(name)
		e.types[name] = t
	}
	return t
}

// ReadMemory fails: a program reads memory when it runs, not when it is compiled.
func (e *placeEnv) ReadMemory(a target.Addr, _ []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Why: "not read to compile"}
}
