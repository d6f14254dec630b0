package expr

import "fmt"

// step executes one operation, in the order of DWARF 5 section 2.5.1.
func (m *machine) step(op byte, r *reader, depth int) error {
	order := m.c.Arch.ByteOrder
	switch {
	case op >= opLit0 && op < opReg0:
		return m.push(uint64(op - opLit0))
	case op >= opBreg0 && op < opRegx:
		return m.based(uint64(op-opBreg0), r.sleb())
	case op >= opReg0 && op < opBreg0:
		return m.inRegister(uint64(op - opReg0))
	}
	switch op {
	// 2.5.1.1 Literal encodings
	case opAddr:
		return m.push(r.uint(m.ptr, order) + m.c.Bias)
	case opGNUEncodedAddr:
		return m.encodedAddr(r)
	case opConst1u:
		return m.push(uint64(r.u8()))
	case opConst1s:
		return m.push(uint64(r.sint(1, order)))
	case opConst2u:
		return m.push(r.uint(2, order))
	case opConst2s:
		return m.push(uint64(r.sint(2, order)))
	case opConst4u:
		return m.push(r.uint(4, order))
	case opConst4s:
		return m.push(uint64(r.sint(4, order)))
	case opConst8u, opConst8s:
		return m.push(r.uint(8, order))
	case opConstu:
		return m.push(r.uleb())
	case opConsts:
		return m.push(uint64(r.sleb()))
	case opAddrx, opGNUAddrIndex:
		return m.indexed(op, r.uleb(), m.c.Bias)
	case opConstx, opGNUConstIndex:
		return m.indexed(op, r.uleb(), 0)
	case opConstType, opGNUConstType:
		t, err := m.baseType(op, r.uleb())
		if err != nil {
			return err
		}
		b := r.block(uint64(r.u8()))
		if r.err == nil && len(b) != t.width(m.ptr) {
			return fmt.Errorf("%s has %d bytes for a type of %d", opName(op), len(b), t.width(m.ptr))
		}
		if r.err == nil && t.extended() {
			return m.pushValue(extendedValue(b, t))
		}
		return m.pushValue(value{bits: decodeUint(b, order), typ: t})

	// 2.5.1.2 Register values
	case opFbreg:
		off := r.sleb()
		if m.c.FrameBase == nil {
			return &UnavailableError{opName(op), "the frame base"}
		}
		base, err := m.c.FrameBase()
		if err != nil {
			return err
		}
		return m.push(base + uint64(off))
	case opBregx:
		reg := r.uleb()
		return m.based(reg, r.sleb())
	case opRegvalType, opGNURegvalType:
		reg := r.uleb()
		t, err := m.baseType(op, r.uleb())
		if err != nil || r.err != nil {
			return err
		}
		if n, ok := m.c.Arch.FromDWARF(reg); ok && t.float && isX87(m.c.Arch, n) {
			return m.regvalExtended(n, t)
		} else if t.extended() {
			return &UnavailableError{opName(op), "a long double in a register of another kind"}
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
		return m.pick(int(r.u8()))
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
		n := r.uleb()
		a, err := m.at(0)
		if err != nil {
			return err
		}
		*a, err = a.binary(opPlus, value{typ: a.typ}.as(n, m.ptr), m.ptr)
		return err

	// 2.5.1.5 Control flow
	case opSkip:
		return m.jump(r, r.sint(2, order))
	case opBra:
		off := r.sint(2, order)
		cond, err := m.popInt()
		if err != nil || cond == 0 {
			return err
		}
		return m.jump(r, off)
	case opCall2:
		return m.call(op, r.uint(2, order), r, depth)
	case opCall4:
		return m.call(op, r.uint(4, order), r, depth)
	case opCallRef:
		return m.call(op, r.uint(m.offsetSize(), order), r, depth)

	// 2.5.1.6 Type conversions
	case opConvert, opGNUConvert, opReinterpret, opGNUReinterpret:
		return m.convert(op, r.uleb())

	// 2.5.1.7 Special operations
	case opNop, opGNUUninit: // "uninit" says that the variable has no value yet; its place is known
		return nil
	case opEntryValue, opGNUEntryValue:
		block := r.block(r.uleb())
		if r.err != nil {
			return nil
		}
		return m.entryValue(op, block)
	case opGNUParameterRef:
		die := r.uint(4, order)
		if r.err != nil {
			return nil
		}
		return m.entered(op, EntryParameter{DIE: m.c.UnitOffset + die, ByDIE: true}, typ{})
	case opGNUVariableValue:
		r.uint(m.offsetSize(), order)
		return &UnavailableError{opName(op), "the value of another variable"}
	}
	return m.describe(op, r)
}

// describe executes an operation of a location description, section 2.6.1.
func (m *machine) describe(op byte, r *reader) error {
	switch op {
	case opRegx:
		return m.inRegister(r.uleb())
	case opImplicitValue:
		m.pending, m.loc.Bytes = implicit, r.block(r.uleb())
		return nil
	case opStackValue:
		if len(m.stack) == 0 {
			return errEmpty
		}
		m.pending = stackValue
		return nil
	case opImplicitPointer, opGNUImplicitPointer:
		m.loc.DIE = r.uint(m.offsetSize(), m.c.Arch.ByteOrder)
		m.loc.Offset = r.sleb()
		m.pending = implicitAddr
		return nil
	case opPiece:
		n := r.uleb()
		if r.err == nil && n > 1<<60 {
			return errPieces
		}
		if r.err != nil || n == 0 { // a piece of nothing adds nothing
			m.discard()
			return nil
		}
		return m.piece(8*n, 0)
	case opBitPiece:
		n := r.uleb()
		off := r.uleb()
		if r.err != nil || n == 0 {
			m.discard()
			return nil
		}
		return m.piece(n, off)
	}
	return fmt.Errorf("unknown operation %s in a DWARF expression", opName(op))
}
