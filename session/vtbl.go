package session

import (
	"errors"
	"fmt"
	"strings"

	"dbg/eval"
	"dbg/symbols/spelling"
	"dbg/symbols/types"
	"dbg/target"
)

// SetPrintObject makes expressions name the members of the complete object that a pointer leads to:
// gdb's "set print object on".
func (s *Session) SetPrintObject(on bool) { s.do(func() { s.printObject = on }) }

// PrintObject implements eval.ObjectPrinter.
func (e *env) PrintObject() bool { return e.s.printObject }

// VtableClass implements eval.VtableFinder. The symbol of the table names the class.
func (e *env) VtableClass(vptr target.Addr) *types.Type {
	name, off, ok := e.s.symbolize(vptr)
	if !ok || off < 2*uint64(e.Arch().PtrSize) || off%uint64(e.Arch().PtrSize) != 0 {
		return nil
	}
	class, ok := strings.CutPrefix(name, "vtable for ")
	if !ok {
		return nil
	}
	t := e.classOfMethods(class, vptr)
	if t != nil || strings.Contains(class, "(anonymous namespace)") {
		return t // each unit may have a class of this name
	}
	return e.classNamed(class, vptr)
}

// classNamed returns the class that has the name of a symbol: a program has only one of a name.
func (e *env) classNamed(class string, vptr target.Addr) *types.Type {
	list := e.s.searchList()
	if e.s.tgt != nil {
		if in := e.s.modules.holder(vptr); in != nil && in.Symbols != nil {
			list = append([]searched{{in.Symbols, in}}, list...)
		}
	}
	for _, f := range list {
		if found := f.sym.Classes(class); len(found) > 0 {
			return found[0]
		}
	}
	return nil
}

// maxMethods bounds the functions of a virtual table that are asked for their class.
const maxMethods = 64

// classOfMethods returns the class whose own methods are in a virtual table. It finds classes that a
// name alone does not: those in functions, and those whose template arguments compilers spell in
// different ways. The symbols of the table and of the method tell that they belong together.
func (e *env) classOfMethods(class string, vptr target.Addr) *types.Type {
	for i := range maxMethods {
		a, err := e.readPointer(vptr + target.Addr(i*e.Arch().PtrSize))
		if err != nil {
			return nil
		}
		name, off, ok := e.s.symbolize(a)
		if !ok || off != 0 {
			if a == 0 {
				continue // a pure function that is not called
			}
			return nil
		}
		method, ok := strings.CutPrefix(name, class+"::")
		if !ok || len(spelling.Components(method)) != 1 {
			continue
		}
		m := e.s.modules.holder(a)
		if m == nil || m.Symbols == nil {
			return nil
		}
		fn := m.Symbols.FunctionAt(m.fileAddr(a))
		if fn == nil || fn.FromSymbolTable || fn.Lo != m.fileAddr(a) {
			continue
		}
		if t := thisClass(m.Symbols.FunctionType(fn)); t != nil {
			return t
		}
	}
	return nil
}

// thisClass returns the class of a method by its parameter "this".
func thisClass(t *types.Type) *types.Type {
	if t == nil || len(t.Params()) == 0 || len(t.ParamNames()) == 0 || t.ParamNames()[0] != "this" {
		return nil
	}
	class := t.Params()[0].Strip().Elem()
	if class == nil || class.Strip().Kind != types.Struct {
		return nil
	}
	return class.Strip()
}

// Vtable is a table of virtual functions of an object.
type Vtable struct {
	Class     string      // the class whose part of the object has the table
	Addr      target.Addr // where the object's pointer leads to
	Object    target.Addr // the part of the object
	Functions []VirtualFunction
}

// VirtualFunction is an entry of a Vtable.
type VirtualFunction struct {
	Addr   target.Addr
	Symbol string // "" if there is none
	Err    error  // the entry can't be read
}

// errNoVtable has gdb's words.
//
//lint:ignore ST1005 gdb's words
var errNoVtable = errors.New("This object does not have a virtual function table")

// Vtables returns the tables of virtual functions of an object or of the target of a pointer: "info
// vtbl". They are those of the static class and, with SetPrintObject, those of the complete object.
func (s *Session) Vtables(text string) ([]Vtable, error) {
	return ask(s, func() ([]Vtable, error) {
		e := s.env(s.selected, s.level)
		v, err := eval.Evaluate(text, e)
		if err != nil {
			return nil, err
		}
		if v, err = eval.Pointee(v, e); err != nil {
			return nil, err
		}
		if object, ok := eval.Complete(v, e); ok && s.printObject {
			v = object
		}
		var out []Vtable
		parts := eval.Dynamics(v, e)
		if len(parts) > 0 {
			if _, err := e.readPointer(parts[0].Addr); err != nil {
				return nil, err
			}
		}
		for _, p := range parts {
			out = append(out, e.vtable(p))
		}
		if len(out) == 0 {
			return nil, errNoVtable
		}
		return out, nil
	})
}

// vtable reads the table of a part of an object.
func (e *env) vtable(p Value) Vtable {
	t := Vtable{Class: p.Type.Strip().Name, Object: p.Addr}
	vptr, err := e.readPointer(p.Addr)
	if err != nil {
		t.Functions = append(t.Functions, VirtualFunction{Err: err})
		return t
	}
	t.Addr = vptr
	for i := range eval.VirtualFunctions(p.Type) {
		a, err := e.readPointer(vptr + target.Addr(i*e.Arch().PtrSize))
		f := VirtualFunction{Addr: a, Err: err}
		if name, off, ok := e.Symbolize(a); ok && err == nil {
			f.Symbol = symbolText(name, off)
		}
		t.Functions = append(t.Functions, f)
	}
	return t
}

// readPointer reads a pointer of the process.
func (e *env) readPointer(a target.Addr) (target.Addr, error) {
	v := eval.At(types.New(types.Pointer, "", int64(e.Arch().PtrSize), false, nil), "", a, e)
	return eval.AddressOf(v, e)
}

// symbolText returns "<name+4>".
func symbolText(name string, off uint64) string {
	if off == 0 {
		return "<" + name + ">"
	}
	return fmt.Sprintf("<%s+%d>", name, off)
}

// RealType returns the type of an expression by the dynamic class of the object that it leads to, or ""
// if it is the static one, or is not known: "whatis" with "set print object".
func (s *Session) RealType(text string) string {
	name, _ := ask(s, func() (string, error) {
		e := s.env(s.selected, s.level)
		v, err := eval.EvaluatePure(text, e)
		if err != nil || v.Type == nil {
			return "", err
		}
		switch v.Type.Strip().Kind {
		case types.Pointer, types.Reference, types.RvalueReference:
			if t := eval.DynamicType(v, e); t != nil && t.String() != v.Type.Strip().String() {
				return t.String(), nil
			}
		}
		return "", nil
	})
	return name
}
