package expr

import (
	"bytes"
	"encoding/binary"
	"testing"

	"dbg/arch"
	"dbg/target"
)

// linearMemory is memory in which each byte is the low byte of a function of its address.
type linearMemory struct{}

func (linearMemory) ReadMemory(a target.Addr, buf []byte) (int, error) {
	for i := range buf {
		buf[i] = byte((uint64(a) + uint64(i)) * 37 >> 2)
	}
	return len(buf), nil
}

// linearContexts returns the same frame for Linearize and for Locate.
func linearContexts() (*LinearContext, *Context) {
	base := []byte{opCallFrameCFA}
	regs := &arch.Registers{Arch: arch.AMD64}
	for r := range arch.Reg(arch.MaxRegs) {
		regs.Set(r, 0x1000*uint64(r)+0x77)
	}
	c := &Context{Arch: arch.AMD64, Regs: regs, Mem: linearMemory{}, Bias: 0x400000}
	c.CFA = func() (uint64, error) { return regs.Stale(arch.RSP) + 16, nil }
	c.FrameBase = c.CFA
	c.AddrIndex = func(i uint64) (uint64, error) { return i * 0x100, nil }
	return &LinearContext{Arch: arch.AMD64, Bias: 0x400000, FrameBase: base, AddrIndex: c.AddrIndex,
		CFA: func() (arch.Reg, int64, bool) { return arch.RSP, 16, true }}, c
}

// runLinear executes the steps, with the operations of the interpreter.
func runLinear(l *Linear, c *Context) uint64 {
	var s []uint64
	for _, st := range l.Steps {
		top := len(s) - 1
		switch st.Do {
		case LinearConst:
			s = append(s, uint64(st.N))
		case LinearRegister:
			s = append(s, c.Regs.Stale(st.Reg)+uint64(st.N))
		case LinearAdd:
			s[top] += uint64(st.N)
		case LinearLoad:
			b := make([]byte, st.N)
			c.Mem.ReadMemory(target.Addr(s[top]), b)
			s[top] = decodeUint(b, c.Arch.ByteOrder)
		case LinearUnary:
			v, _ := value{bits: s[top]}.unary(st.Op, 8)
			s[top] = v.bits
		case LinearBinary:
			v, _ := value{bits: s[top-1]}.binary(st.Op, value{bits: s[top]}, 8)
			s = append(s[:top-1], v.bits)
		case LinearDup:
			s = append(s, s[top])
		case LinearDrop:
			s = s[:top]
		case LinearOver:
			s = append(s, s[top-1])
		case LinearSwap:
			s[top], s[top-1] = s[top-1], s[top]
		}
	}
	return s[len(s)-1]
}

// checkLinear compares Linearize with Locate. It reports whether the expression is linear.
func checkLinear(t *testing.T, code []byte) bool {
	t.Helper()
	lc, c := linearContexts()
	l, ok := Linearize(code, lc)
	parts := []LinearPiece{{Linear: l}}
	composite := !ok
	if composite {
		if parts, ok = LinearizePieces(code, lc); !ok {
			return false
		}
	}
	want, err := Locate(code, c)
	if err != nil {
		t.Errorf("%x: linear, but Locate gives %v", code, err)
		return true
	}
	i := 0
	for _, p := range parts {
		if composite && p.Size == 0 {
			continue // an empty piece has no effect
		}
		if i == len(want) {
			t.Errorf("%x: %d pieces, want %d", code, len(parts), len(want))
			return true
		}
		w := want[i]
		i++
		good := p.Kind == w.Kind && (p.Size*8 == int64(w.BitSize))
		switch p.Kind {
		case InMemory:
			good = good && target.Addr(runLinear(&p.Linear, c)) == w.Addr
		case InRegister:
			good = good && p.Reg == w.Reg
		case Implicit:
			b := p.Bytes
			if b == nil && len(p.Steps) > 0 {
				b = binary.LittleEndian.AppendUint64(nil, runLinear(&p.Linear, c))
			}
			good = good && bytes.Equal(b, w.Bytes)
		}
		if !good {
			t.Errorf("%x: piece %d is %+v, want %+v", code, i-1, p, w)
		}
	}
	return true
}

func TestLinearize(t *testing.T) {
	for name, code := range map[string][]byte{
		"fbreg":          {opFbreg, 0x70},
		"breg":           {opBreg0 + 6, 0x78},
		"bregx":          {opBregx, 12, 8},
		"addr":           {opAddr, 0x10, 0x20, 0, 0, 0, 0, 0, 0},
		"addrx":          {opAddrx, 3},
		"constx":         {opConstx, 3, opStackValue},
		"reg":            {opReg0 + 3},
		"regx":           {opRegx, 9},
		"by reference":   {opFbreg, 0x10, opDeref},
		"deref_size":     {opBreg0 + 1, 0, opDerefSize, 4, opPlusUconst, 9},
		"arithmetic":     {opBreg0 + 1, 0, opConst2s, 0xfe, 0xff, opMul, opLit0 + 3, opShra, opNeg, opNot, opStackValue},
		"stack":          {opBreg0 + 1, 0, opLit0 + 5, opOver, opSwap, opMinus, opDup, opXor, opPlus, opStackValue},
		"logic":          {opConst1u, 0xf0, opConst1s, 0x8f, opAnd, opConst4u, 1, 2, 3, 4, opOr, opConst4s, 0, 0, 0, 0x80, opXor, opLit0 + 1, opShl, opLit0 + 2, opShr, opConst8u, 1, 0, 0, 0, 0, 0, 0, 0, opPlus, opConsts, 0x7f, opPlus, opConstu, 0x81, 1, opDrop},
		"implicit value": {opImplicitValue, 3, 1, 2, 3},
		"cfa":            {opCallFrameCFA, opPlusUconst, 8},
		"pieces":         {opReg0, opPiece, 8, opFbreg, 8, opPiece, 4, opPiece, 4, opLit0 + 7, opStackValue, opPiece, 8},
		"empty":          {},
	} {
		if !checkLinear(t, code) {
			t.Errorf("%s: not linear", name)
		}
	}
	for name, code := range map[string][]byte{
		"branch": {opLit0, opSkip, 0, 0}, "entry value": {opEntryValue, 1, opReg0 + 5, opStackValue}, "tls": {opLit0, opFormTLSAddress},
		"empty stack": {opDeref}, "truncated": {opFbreg}, "bits": {opReg0, opBitPiece, 3, 1}, "typed": {opRegvalType, 0, 1},
		"after a register":  {opReg0, opLit0},
		"left on the stack": {opBreg0 + 15, 0, opImplicitValue, 1, 7, opPiece, 1, opPiece, 4},
	} {
		if checkLinear(t, code) {
			t.Errorf("%s: linear", name)
		}
	}
}

// FuzzLinearize compares with the interpreter.
func FuzzLinearize(f *testing.F) {
	f.Add([]byte{opFbreg, 0x70})
	f.Add([]byte{opBreg0 + 1, 0, opLit0 + 5, opOver, opSwap, opMinus, opDup, opXor, opPlus, opStackValue})
	f.Add([]byte{opReg0, opPiece, 8, opFbreg, 8, opPiece, 4, opPiece, 4})
	f.Fuzz(func(t *testing.T, code []byte) { checkLinear(t, code) })
}
