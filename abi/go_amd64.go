package abi

import "dbg/arch"

// Registers of ABIInternal in the order in which they are used.
var (
	goIntegers = []arch.Reg{arch.RAX, arch.RBX, arch.RCX, arch.RDI, arch.RSI, arch.R8, arch.R9, arch.R10, arch.R11}
	goFloats   = 15 // X0 to X14
)

// GoLayout is the layout of a call of a function of Go.
type GoLayout struct {
	Args    []Place // of the parameters, the receiver first. Offsets are from the stack pointer before the call
	Results []Place // Offsets are from the same address, which is the stack pointer after the return
	// Frame is the number of bytes that the caller provides at the stack pointer: for arguments and
	// results on the stack, and for the registers that the function may spill there.
	Frame int64
}

// GoCall tells where a caller puts the arguments of a function of Go, and where the function puts
// its results.
func GoCall(params, results []*Type) (l GoLayout, err error) {
	a := goAssigner{}
	if l.Args, err = a.all(params); err != nil {
		return l, err
	}
	a.stack = roundUp(a.stack, 8)
	a.integers, a.floats = 0, 0
	if l.Results, err = a.all(results); err != nil {
		return l, err
	}
	a.stack = roundUp(a.stack, 8)
	for i, p := range l.Args {
		if !p.Memory {
			a.stack = roundUp(a.stack, params[i].alignment()) + params[i].Size
		}
	}
	l.Frame = roundUp(a.stack, 8)
	return l, nil
}

// GoResults tells where a function of Go with these parameters, the receiver first, has put its
// results when it returns. Results on the stack lie above the stack pointer at the return.
func GoResults(params, results []*Type) ([]Place, error) {
	l, err := GoCall(params, results)
	return l.Results, err
}

// goAssigner assigns values in order.
type goAssigner struct {
	integers, floats int
	stack            int64
	parts            []Part
	steps            int
}

func (a *goAssigner) all(list []*Type) ([]Place, error) {
	var out []Place
	for _, t := range list {
		if t == nil || t.Size < 0 {
			return nil, ErrUnknown
		}
		saved := *a
		a.parts, a.steps = nil, 0
		fits, err := a.assign(t, 0, 0)
		switch {
		case err != nil:
			return nil, err
		case fits:
			out = append(out, Place{Parts: a.parts})
		default:
			a.integers, a.floats = saved.integers, saved.floats
			a.stack = roundUp(a.stack, t.alignment())
			out = append(out, Place{Memory: true, Offset: a.stack})
			a.stack += t.Size
		}
	}
	return out, nil
}

// assign gives registers to a value at an offset of what is passed; false if they don't suffice, or
// there is an array of more than one element.
func (a *goAssigner) assign(t *Type, off int64, depth int) (bool, error) {
	if a.steps++; t == nil || depth > maxDepth || a.steps > maxParts {
		return false, ErrUnknown
	}
	switch {
	case t.Kind == Integer && t.Size >= 1 && t.Size <= 8:
		if a.integers == len(goIntegers) {
			return false, nil
		}
		a.parts = append(a.parts, Part{goIntegers[a.integers], off, t.Size})
		a.integers++
		return true, nil
	case t.Kind == Float && (t.Size == 4 || t.Size == 8):
		if a.floats == goFloats {
			return false, nil
		}
		a.parts = append(a.parts, Part{arch.XMM0 + arch.Reg(a.floats), off, t.Size})
		a.floats++
		return true, nil
	case t.Kind == Complex && t.Elem != nil:
		if ok, err := a.assign(t.Elem, off, depth+1); !ok || err != nil {
			return ok, err
		}
		return a.assign(t.Elem, off+t.Elem.Size, depth+1)
	case t.Kind == Array && t.Count == 0:
		return true, nil
	case t.Kind == Array && t.Count == 1:
		return a.assign(t.Elem, off, depth+1)
	case t.Kind == Array && t.Count > 1:
		return false, nil
	case t.Kind == Struct:
		for _, f := range t.Fields {
			if f.BitSize > 0 {
				return false, ErrUnknown
			}
			if ok, err := a.assign(f.Type, off+f.Offset, depth+1); !ok || err != nil {
				return ok, err
			}
		}
		return true, nil
	}
	return false, ErrUnknown
}
