package expr

import (
	"encoding/binary"

	"dbg/internal/bytecursor"
	"dbg/target"
)

// Eval evaluates code and returns its value: the top of the stack at the end, as the rules
// DW_CFA_def_cfa_expression, DW_CFA_expression and DW_CFA_val_expression need it (DWARF 5, section
// 6.4.2).
//
// If the expression ends as a location, Eval returns the contents of that location where they are
// unambiguous: the register's value for DW_OP_regN, the value for DW_OP_stack_value, up to 8 bytes
// for DW_OP_implicit_value. A composite location is an error.
func Eval(code []byte, c *Context) (uint64, error) {
	var m machine
	if err := m.start(c); err != nil {
		return 0, err
	}
	defer m.finish()
	if err := m.pushInitial(); err != nil {
		return 0, err
	}
	if err := m.run(code, 0); err != nil {
		return 0, err
	}
	return m.single()
}

// Locate evaluates a location description, DWARF 5 section 2.6. A simple location is one piece with
// BitSize 0; a composite location has one piece for each part, in order; an empty expression is one
// piece of kind Undefined.
//
// DW_OP_regN yields a piece InRegister even if the register's value is not known. The Bytes of a
// DW_OP_implicit_value alias code.
func Locate(code []byte, c *Context) ([]Piece, error) {
	var m machine
	if err := m.start(c); err != nil {
		return nil, err
	}
	defer m.finish()
	if err := m.pushInitial(); err != nil {
		return nil, err
	}
	if err := m.run(code, 0); err != nil {
		return nil, err
	}
	if len(m.pieces) > 0 {
		if m.pending != nothing || len(m.stack) > 0 {
			// DWARF 5, 2.6.1.2: a piece operation ends every part; accept a last part without one.
			if err := m.piece(0, 0); err != nil {
				return nil, err
			}
		}
		return m.pieces, nil
	}
	if err := m.piece(0, 0); err != nil {
		return nil, err
	}
	return m.pieces, nil
}

// pending is a simple location that an operation has completed. Only a piece operation or the end
// may follow it.
type pending uint8

const (
	nothing      pending = iota
	register             // loc.Reg
	stackValue           // the top of the stack is the value
	implicit             // loc.Bytes
	implicitAddr         // loc.DIE, loc.Offset
)

// machine is the state of one evaluation.
type machine struct {
	c       *Context
	ptr     int // size of an address
	steps   int
	reads   int // memory reads so far
	bytes   int // bytes of implicit values so far
	pending pending
	loc     Piece
	stack   []value
	pieces  []Piece
}

func (m *machine) start(c *Context) error {
	if c == nil || c.Arch == nil {
		return errNoContext
	}
	m.c, m.ptr = c, c.Arch.PtrSize
	// The context saves the memory of the stack. It does not hold it during an evaluation: a
	// function of the context may use the same context.
	if c.owner == c { // false for a copy of a context, which must not share the memory
		m.stack = c.stack[:0]
	}
	c.stack, c.owner = nil, c
	return nil
}

func (m *machine) finish() { m.c.stack = m.stack[:0] }

func (m *machine) pushInitial() error {
	for _, v := range m.c.Initial {
		if err := m.push(v); err != nil {
			return err
		}
	}
	return nil
}

// run executes code; depth counts DW_OP_call*.
func (m *machine) run(code []byte, depth int) error {
	r := bytecursor.Cursor{Data: code}
	r.Big = m.c.Arch.ByteOrder == binary.BigEndian
	for r.More() {
		if m.steps++; m.steps > maxSteps {
			return errSteps
		}
		op := r.U8()
		if m.pending != nothing && op != opPiece && op != opBitPiece && op != opNop && op != opGNUUninit {
			return errAfter
		}
		if err := m.step(op, &r, depth); err != nil {
			return err
		}
		if r.Err() != nil {
			return operandError(r.Err())
		}
	}
	return nil
}

// single returns the result of Eval.
func (m *machine) single() (uint64, error) {
	if len(m.pieces) > 0 {
		return 0, errComposite
	}
	switch m.pending {
	case register:
		return m.register(uint64(m.loc.Reg))
	case implicit:
		if len(m.loc.Bytes) > 8 {
			return 0, errComposite
		}
		return decodeUint(m.loc.Bytes, m.c.Arch.ByteOrder), nil
	case implicitAddr:
		return 0, &UnavailableError{"DW_OP_implicit_pointer", "the address of the object"}
	}
	v, err := m.pop()
	if err != nil {
		return 0, err
	}
	if v.typ.signed && v.isInt() {
		return mask(uint64(v.int(m.ptr)), m.ptr), nil
	}
	if v.typ.extended() {
		return 0, errComposite
	}
	return v.bits, nil
}

// piece ends the pending location as a piece of size bits; size 0 is the whole object.
func (m *machine) piece(size, offset uint64) error {
	if len(m.pieces) >= maxPieces {
		return errPieces
	}
	p := m.loc
	switch m.pending {
	case register:
		p.Kind = InRegister
	case implicit:
		p.Kind = Implicit
	case implicitAddr:
		p.Kind = ImplicitPointer
	case stackValue:
		v, err := m.pop()
		if err != nil {
			return err
		}
		p.Kind, p.Bytes = Implicit, v.bytes(m.ptr, m.c.Arch.ByteOrder)
	default:
		if len(m.stack) > 0 {
			addr, err := m.popInt()
			if err != nil {
				return err
			}
			p.Kind, p.Addr = InMemory, target.Addr(addr)
		} // else empty: optimised out
	}
	if m.bytes += len(p.Bytes); m.bytes > maxBytes {
		return errBytes
	}
	p.BitSize, p.BitOffset = size, offset
	m.pieces = append(m.pieces, p)
	m.pending, m.loc = nothing, Piece{}
	return nil
}

func (m *machine) push(v uint64) error { return m.pushValue(value{bits: mask(v, m.ptr)}) }

func (m *machine) pushValue(v value) error {
	if len(m.stack) >= maxStack {
		return errDeep
	}
	m.stack = append(m.stack, v)
	return nil
}

func (m *machine) pop() (value, error) {
	if len(m.stack) == 0 {
		return value{}, errEmpty
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popInt pops an integer of any type: an address, an index, a condition.
func (m *machine) popInt() (uint64, error) {
	v, err := m.pop()
	if err != nil {
		return 0, err
	}
	if !v.isInt() {
		return 0, errInteger
	}
	if v.typ.signed {
		return mask(uint64(v.int(m.ptr)), m.ptr), nil
	}
	return v.bits, nil
}

// at returns the entry n below the top.
func (m *machine) at(n int) (*value, error) {
	if n >= len(m.stack) {
		return nil, errEmpty
	}
	return &m.stack[len(m.stack)-1-n], nil
}

// EntryParameterAt returns the parameter that the location description code refers to at function
// entry: a register, or an offset from the canonical frame address, which is the stack pointer
// before the call. cfa reports whether the function's frame base is that address.
func EntryParameterAt(code []byte, cfa bool) (p EntryParameter, ok bool) {
	r := bytecursor.Cursor{Data: code}
	switch b := r.U8(); {
	case b >= opReg0 && b < opBreg0:
		p.Reg, ok = uint64(b-opReg0), true
	case b == opRegx:
		p.Reg, ok = r.ULEB(), true
	case b == opFbreg && cfa:
		p.Stack, p.OnStack, ok = r.SLEB(), true, true
	case b == opCallFrameCFA && !r.More():
		p.OnStack, ok = true, true
	}
	return p, ok && r.Err() == nil && !r.More()
}

// CallParameterAt returns the parameter that the DW_AT_location of a call site parameter refers to:
// a register, or an offset from the stack pointer, whose DWARF number is sp.
func CallParameterAt(code []byte, sp uint64) (p EntryParameter, ok bool) {
	r := bytecursor.Cursor{Data: code}
	switch b := r.U8(); {
	case b >= opReg0 && b < opBreg0:
		p.Reg, ok = uint64(b-opReg0), true
	case b == opRegx:
		p.Reg, ok = r.ULEB(), true
	case b >= opBreg0 && b < opRegx:
		p.Stack, p.OnStack = r.SLEB(), true
		ok = uint64(b-opBreg0) == sp
	case b == opBregx:
		ok = r.ULEB() == sp
		p.Stack, p.OnStack = r.SLEB(), true
	}
	return p, ok && r.Err() == nil && !r.More()
}

// IsCFA reports whether the expression is exactly DW_OP_call_frame_cfa.
func IsCFA(code []byte) bool { return len(code) == 1 && code[0] == opCallFrameCFA }
