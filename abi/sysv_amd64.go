package abi

import "dbg/arch"

// Registers of the System V ABI in the order in which they are used: section 3.2.3, figure 3.4.
var (
	sysvIntegers = []arch.Reg{arch.RDI, arch.RSI, arch.RDX, arch.RCX, arch.R8, arch.R9}
	sysvResults  = []arch.Reg{arch.RAX, arch.RDX}
)

const sysvVectors = 8 // xmm0 to xmm7

// RedZone is the number of bytes below the stack pointer that a function may use without moving it:
// section 3.2.2.
const RedZone = 128

// SysV lays out a call of a function of C or C++. From the argument number fixed on, the arguments
// belong to the "..." of a prototype.
func SysV(result *Type, args []*Type, fixed int) (Layout, error) {
	l := Layout{StackAlign: 16}
	r, err := SysVResult(result)
	if err != nil {
		return l, err
	}
	integers, vectors := 0, 0
	unsure := false // whether the last integer register is free
	if l.Hidden = r.Memory; l.Hidden {
		integers++
	}
	for i, t := range args {
		p := Place{}
		if t != nil && t.ByReference {
			p.ByReference, t = true, &Type{Kind: Integer, Size: 8}
		}
		classes, err := Classify(t)
		if err != nil {
			return l, err
		}
		needI, needV, stack := 0, 0, false
		for _, k := range classes {
			switch k {
			case ClassInteger:
				needI++
			case ClassSSE:
				needV++
			case ClassX87, ClassX87Up, ClassComplexX87, ClassMemory:
				stack = true
			}
		}
		// Vectors of more than 16 bytes are passed in registers to named parameters only.
		stack = stack || i >= fixed && len(classes) > 2
		stack = stack || integers+needI > len(sysvIntegers) || vectors+needV > sysvVectors
		if !stack && needI > 0 && unsure {
			return l, ErrUnknown
		}
		switch {
		case stack:
			if t.Kind == Integer && integers == len(sysvIntegers)-1 {
				// An __int128 that would need two registers: clang leaves the last one empty, gcc gives it to
				// the next argument.
				unsure = true
			}
			align := max(8, t.alignment())
			if align > 64 {
				return l, ErrUnknown
			}
			l.StackAlign = max(l.StackAlign, align)
			if t.Kind >= Struct && t.Align == 0 && align > 8 && l.Stack%align != 0 {
				// It may be packed, which debug information does not tell.
				return l, ErrUnknown
			}
			l.Stack = roundUp(l.Stack, align)
			p.Memory, p.Offset = true, l.Stack
			l.Stack += roundUp(t.Size, 8)
		default:
			for n, k := range classes {
				off := int64(n) * 8
				switch k {
				case ClassInteger:
					p.Parts = append(p.Parts, Part{sysvIntegers[integers], off, min(8, t.Size-off)})
					integers++
				case ClassSSE:
					p.Parts = append(p.Parts, Part{arch.XMM0 + arch.Reg(vectors), off, min(8, t.Size-off)})
					vectors++
				case ClassSSEUp:
					p.Parts[len(p.Parts)-1].Size += 8
				}
			}
		}
		l.Args = append(l.Args, p)
	}
	l.Vectors = vectors
	return l, nil
}

// SysVResult tells where a function of C or C++ has put its result when it returns. A result in
// memory is at the address in rax.
func SysVResult(t *Type) (Place, error) {
	classes, err := Classify(t)
	if err != nil {
		return Place{}, err
	}
	p := Place{}
	integers, vectors := 0, 0
	for n, k := range classes {
		off := int64(n) * 8
		switch k {
		case ClassMemory:
			return Place{Memory: true, Pointer: arch.RAX}, nil
		case ClassComplexX87:
			return Place{Parts: []Part{{arch.ST0, 0, 10}, {arch.ST0 + 1, t.Elem.Size, 10}}}, nil
		case ClassInteger:
			p.Parts = append(p.Parts, Part{sysvResults[integers], off, min(8, t.Size-off)})
			integers++
		case ClassSSE:
			p.Parts = append(p.Parts, Part{arch.XMM0 + arch.Reg(vectors), off, min(8, t.Size-off)})
			vectors++
		case ClassSSEUp:
			p.Parts[len(p.Parts)-1].Size += 8
		case ClassX87:
			p.Parts = append(p.Parts, Part{arch.ST0, off, 10})
		}
	}
	return p, nil
}

// WideVectors reports whether a type is passed as a vector of more than 16 bytes. That is so only in
// code that was compiled for AVX: other code passes it in memory.
func WideVectors(t *Type) bool {
	classes, err := Classify(t)
	return err == nil && len(classes) > 2
}
