package expr

import (
	"encoding/binary"

	"dbg/internal/bytecursor"
	"dbg/target"
)

// Eval evaluates code and returns its value: what is on top of the stack at the
// end, as the rules DW_CFA_def_cfa_expression, DW_CFA_expression and
// DW_CFA_val_expression need it (DWARF 5, section 6.4.2).
//
// An expression that ends as a location gives what that location holds where this is
// without doubt: DW_OP_regN the register's value, DW_OP_stack_value the value,
// DW_OP_implicit_value its bytes up to 8. A composite is an error.
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

// Locate evaluates a location description, DWARF 5 section 2.6. A simple location
// is one piece with BitSize 0; a composite one piece for each part, in order;
// an empty expression one piece of kind Undefined.
//
// A DW_OP_regN gives a piece InRegister whether or not the register's value is known. The
// Bytes of a DW_OP_implicit_value are those of code, not a copy.
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
			// DWARF 5, 2.6.1.2: every part is closed by a piece operation.
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

// pending is a simple location that an operation has completed; only a piece
// operation or the end may follow it.
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
	reads   int // of memory, so far
	bytes   int // of implicit values, so far
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
	// The stack's memory is kept in the context. While it is in use, it is not
	// there: a function of the context may use the same context.
	if c.owner == c { // not so for a copy of a context, which must not share it
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

// single is the result of Eval.
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
		return 0, &UnavailableError{"DW_OP_implicit_pointer", "an address, which the object has not"}
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

// piece closes the pending location as a piece of so many bits; size 0 is the
// whole object.
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

// at is the entry n below the top.
func (m *machine) at(n int) (*value, error) {
	if n >= len(m.stack) {
		return nil, errEmpty
	}
	return &m.stack[len(m.stack)-1-n], nil
}

// EntryParameterAt tells what parameter an expression is that says where a parameter is when the
// function is entered: in a register, or at an offset from the canonical frame address, which is the stack pointer before the
// call. cfa says that the function's frame base is that address.
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

// CallParameterAt tells what DW_AT_location of a call site's parameter names: a register, or an
// offset from the stack pointer, whose number in DWARF is sp.
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

// IsCFA says that the expression is DW_OP_call_frame_cfa and no more.
func IsCFA(code []byte) bool { return len(code) == 1 && code[0] == opCallFrameCFA }
