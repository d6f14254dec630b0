package expr

import (
	"fmt"

	"dbg/internal/bytecursor"
)

// step executes one operation, in the order of DWARF 5 section 2.5.1.
func (m *machine) step(op byte, r *bytecursor.Cursor, depth int) error {
	switch {
	case op >= opLit0 && op < opReg0:
		return m.push(uint64(op - opLit0))
	case op >= opBreg0 && op < opRegx:
		return m.based(uint64(op-opBreg0), r.SLEB())
	case op >= opReg0 && op < opBreg0:
		return m.inRegister(uint64(op - opReg0))
	}
	switch op {
	// 2.5.1.1 Literal encodings
	case opAddr:
		return m.push(r.Uint(m.ptr) + m.c.Bias)
	case opGNUEncodedAddr:
		return m.encodedAddr(r)
	case opConst1u:
		return m.push(uint64(r.U8()))
	case opConst1s:
		return m.push(uint64(r.Int(1)))
	case opConst2u:
		return m.push(r.Uint(2))
	case opConst2s:
		return m.push(uint64(r.Int(2)))
	case opConst4u:
		return m.push(r.Uint(4))
	case opConst4s:
		return m.push(uint64(r.Int(4)))
	case opConst8u, opConst8s:
		return m.push(r.Uint(8))
	case opConstu:
		return m.push(r.ULEB())
	case opConsts:
		return m.push(uint64(r.SLEB()))
	case opAddrx, opGNUAddrIndex:
		return m.indexed(op, r.ULEB(), m.c.Bias)
	case opConstx, opGNUConstIndex:
		return m.indexed(op, r.ULEB(), 0)
	case opConstType, opGNUConstType:
		t, err := m.baseType(op, r.ULEB())
		if err != nil {
			return err
		}
		b := r.Block(uint64(r.U8()))
		if r.Err() == nil && len(b) != t.width(m.ptr) {
			return fmt.Errorf("%s has %d bytes for a type of %d bytes", opName(op), len(b), t.width(m.ptr))
		}
		if r.Err() == nil && t.extended() {
			return m.pushValue(extendedValue(b, t))
		}
		return m.pushValue(value{bits: decodeUint(b, m.c.Arch.ByteOrder), typ: t})

	// 2.5.1.2 Register values
	case opFbreg:
		off := r.SLEB()
		if m.c.FrameBase == nil {
			return &UnavailableError{opName(op), "the frame base"}
		}
		base, err := m.c.FrameBase()
		if err != nil {
			return err
		}
		return m.push(base + uint64(off))
	case opBregx:
		reg := r.ULEB()
		return m.based(reg, r.SLEB())
	case opRegvalType, opGNURegvalType:
		reg := r.ULEB()
		t, err := m.baseType(op, r.ULEB())
		if err != nil || r.Err() != nil {
			return err
		}
		if n, ok := m.c.Arch.FromDWARF(reg); ok && t.float && isX87(m.c.Arch, n) {
			return m.regvalExtended(n, t)
		} else if t.extended() {
			return &UnavailableError{opName(op), "a long double outside the x87 stack"}
		}
		v, err := m.register(reg)
		if err != nil {
			return err
		}
		return m.pushValue(value{typ: t}.as(v, m.ptr))

	// 2.5.1.3 Stack operations
	case opDup:
		return m.pick(0)
	case opOver:
		return m.pick(1)
	case opPick:
		return m.pick(int(r.U8()))
	case opDrop:
		_, err := m.pop()
		return err
	case opSwap, opRot:
		return m.exchange(op)
	case opDeref, opDerefSize, opXderef, opXderefSize, opDerefType, opXderefType, opGNUDerefType:
		return m.deref(op, r)
	case opPushObjectAddress:
		return m.ask(op, m.c.Object, "the address of an object")
	case opCallFrameCFA:
		return m.ask(op, m.c.CFA, "the canonical frame address")
	case opFormTLSAddress, opGNUPushTLSAddress:
		off, err := m.popInt()
		if err != nil {
			return err
		}
		if m.c.TLS == nil {
			return &UnavailableError{opName(op), "thread-local storage"}
		}
		addr, err := m.c.TLS(off)
		if err != nil {
			return err
		}
		return m.push(addr)

	// 2.5.1.4 Arithmetic and logical operations, 2.5.1.5 relations
	case opAnd, opDiv, opMinus, opMod, opMul, opOr, opPlus, opShl, opShr, opShra, opXor,
		opEq, opGe, opGt, opLe, opLt, opNe:
		b, err := m.pop()
		if err != nil {
			return err
		}
		a, err := m.at(0)
		if err != nil {
			return err
		}
		*a, err = a.binary(op, b, m.ptr)
		return err
	case opAbs, opNeg, opNot:
		a, err := m.at(0)
		if err != nil {
			return err
		}
		*a, err = a.unary(op, m.ptr)
		return err
	case opPlusUconst:
		n := r.ULEB()
		a, err := m.at(0)
		if err != nil {
			return err
		}
		*a, err = a.binary(opPlus, value{typ: a.typ}.as(n, m.ptr), m.ptr)
		return err

	// 2.5.1.5 Control flow
	case opSkip:
		return m.jump(r, r.Int(2))
	case opBra:
		off := r.Int(2)
		cond, err := m.popInt()
		if err != nil || cond == 0 {
			return err
		}
		return m.jump(r, off)
	case opCall2:
		return m.call(op, r.Uint(2), r, depth)
	case opCall4:
		return m.call(op, r.Uint(4), r, depth)
	case opCallRef:
		return m.call(op, r.Uint(m.offsetSize()), r, depth)

	// 2.5.1.6 Type conversions
	case opConvert, opGNUConvert, opReinterpret, opGNUReinterpret:
		return m.convert(op, r.ULEB())

	// 2.5.1.7 Special operations
	case opNop, opGNUUninit: // "uninit": the variable has no value yet, but its location is known
		return nil
	case opEntryValue, opGNUEntryValue:
		block := r.Block(r.ULEB())
		if r.Err() != nil {
			return nil
		}
		return m.entryValue(op, block)
	case opGNUParameterRef:
		die := r.Uint(4)
		if r.Err() != nil {
			return nil
		}
		return m.entered(op, EntryParameter{DIE: m.c.UnitOffset + die, ByDIE: true}, typ{})
	case opGNUVariableValue:
		r.Uint(m.offsetSize())
		return &UnavailableError{opName(op), "the value of another variable"}
	}
	return m.describe(op, r)
}

// describe executes an operation of a location description, section 2.6.1.
func (m *machine) describe(op byte, r *bytecursor.Cursor) error {
	switch op {
	case opRegx:
		return m.inRegister(r.ULEB())
	case opImplicitValue:
		m.pending, m.loc.Bytes = implicit, r.Block(r.ULEB())
		return nil
	case opStackValue:
		if len(m.stack) == 0 {
			return errEmpty
		}
		m.pending = stackValue
		return nil
	case opImplicitPointer, opGNUImplicitPointer:
		m.loc.DIE = r.Uint(m.offsetSize())
		m.loc.Offset = r.SLEB()
		m.pending = implicitAddr
		return nil
	case opPiece:
		n := r.ULEB()
		if r.Err() == nil && n > 1<<60 {
			return errPieces
		}
		if r.Err() != nil || n == 0 { // an empty piece has no effect
			m.discard()
			return nil
		}
		return m.piece(8*n, 0)
	case opBitPiece:
		n := r.ULEB()
		off := r.ULEB()
		if r.Err() != nil || n == 0 {
			m.discard()
			return nil
		}
		return m.piece(n, off)
	}
	return fmt.Errorf("unknown operation %s in a DWARF expression", opName(op))
}
