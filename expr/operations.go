package expr

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/internal/bytecursor"
	"dbg/target"
)

// discard drops the location that an empty piece ends.
func (m *machine) discard() {
	if m.pending != register && m.pending != implicit && m.pending != implicitAddr && len(m.stack) > 0 {
		m.stack = m.stack[:len(m.stack)-1]
	}
	m.pending, m.loc = nothing, Piece{}
}

func (m *machine) inRegister(n uint64) error {
	reg, ok := m.c.Arch.FromDWARF(n)
	if !ok {
		return fmt.Errorf("DWARF expression names register %d, which does not exist on %s", n, m.c.Arch.Name)
	}
	m.pending, m.loc.Reg = register, reg
	return nil
}

// register returns the value of the register with DWARF number n.
func (m *machine) register(n uint64) (uint64, error) {
	reg, ok := m.c.Arch.FromDWARF(n)
	if !ok {
		return 0, fmt.Errorf("DWARF expression names register %d, which does not exist on %s", n, m.c.Arch.Name)
	}
	if m.c.Regs != nil {
		if v, known := m.c.Regs.Get(reg); known {
			return v, nil
		}
	}
	if v, ok := m.wide(reg); ok {
		return v, nil
	}
	return 0, &UnknownRegisterError{Reg: reg, Name: m.c.Arch.RegName(reg)}
}

// wide returns the low 64 bits of a register that is not in the set: these hold a double or a
// float. The x87 stack is excluded: its 80-bit format is not the type of any operation.
func (m *machine) wide(reg arch.Reg) (uint64, bool) {
	a := m.c.Arch
	if m.c.Wide == nil || a.ByteOrder != binary.ByteOrder(binary.LittleEndian) || isX87(a, reg) {
		return 0, false
	}
	b, err := m.c.Wide(reg)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// based executes DW_OP_bregN.
func (m *machine) based(n uint64, off int64) error {
	v, err := m.register(n)
	if err != nil {
		return err
	}
	return m.push(v + uint64(off))
}

func (m *machine) indexed(op byte, index, bias uint64) error {
	if m.c.AddrIndex == nil {
		return &UnavailableError{opName(op), "the table of addresses"}
	}
	v, err := m.c.AddrIndex(index)
	if err != nil {
		return err
	}
	return m.push(v + bias)
}

func (m *machine) ask(op byte, f func() (uint64, error), what string) error {
	if f == nil {
		return &UnavailableError{opName(op), what}
	}
	v, err := f()
	if err != nil {
		return err
	}
	return m.push(v)
}

func (m *machine) pick(n int) error {
	v, err := m.at(n)
	if err != nil {
		return err
	}
	return m.pushValue(*v)
}

func (m *machine) exchange(op byte) error {
	n := len(m.stack)
	switch {
	case op == opSwap && n >= 2:
		m.stack[n-1], m.stack[n-2] = m.stack[n-2], m.stack[n-1]
	case op == opRot && n >= 3:
		// The top becomes third, the second the top, the third the second.
		m.stack[n-1], m.stack[n-2], m.stack[n-3] = m.stack[n-2], m.stack[n-3], m.stack[n-1]
	default:
		return errEmpty
	}
	return nil
}

// deref executes DW_OP_deref and its variants. The x forms pop an address space after the address;
// only address space 0 exists.
func (m *machine) deref(op byte, r *bytecursor.Cursor) error {
	size, t := m.ptr, typ{}
	switch op {
	case opDerefSize, opXderefSize:
		size = int(r.U8())
	case opDerefType, opXderefType, opGNUDerefType:
		size = int(r.U8())
		var err error
		if t, err = m.baseType(op, r.ULEB()); err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return nil
	}
	if size < 1 || size > 8 && !t.extended() || t.size == 0 && size > m.ptr || t.size != 0 && size != int(t.size) {
		return fmt.Errorf("%s has an unsupported size of %d bytes", opName(op), size)
	}
	addr, err := m.popInt()
	if err != nil {
		return err
	}
	if op == opXderef || op == opXderefSize || op == opXderefType {
		space, err := m.popInt()
		if err != nil {
			return err
		}
		if space != 0 {
			return &UnavailableError{opName(op), fmt.Sprintf("address space %d", space)}
		}
	}
	if m.c.Mem == nil {
		return &UnavailableError{opName(op), "memory"}
	}
	bits, err := m.read(addr, min(size, 8))
	if err != nil {
		return err
	}
	v := value{bits: bits, typ: t}
	if t.extended() {
		hi, err := m.read(addr+8, 2)
		if err != nil {
			return err
		}
		v.hi = uint16(hi)
	}
	return m.pushValue(v)
}

// read reads a number of size bytes.
func (m *machine) read(addr uint64, size int) (uint64, error) {
	if m.reads++; m.reads > maxReads {
		return 0, errReads
	}
	buf := m.c.scratch[:size]
	if n, err := m.c.Mem.ReadMemory(target.Addr(addr), buf); n < size {
		if err == nil {
			err = &target.MemoryError{Addr: target.Addr(addr + uint64(max(n, 0)))}
		}
		return 0, err
	}
	return decodeUint(buf, m.c.Arch.ByteOrder), nil
}

// encodedAddr executes DW_OP_GNU_encoded_addr: an address in one of the encodings of .eh_frame (LSB
// Core, "DWARF Extensions"). Relative encodings are not supported, because the address of the
// expression itself is not known here.
func (m *machine) encodedAddr(r *bytecursor.Cursor) error {
	enc := r.U8()
	v := encoded(r, enc, m.ptr)
	switch {
	case r.Err() != nil:
		return nil
	case enc&0x70 != 0:
		return &UnavailableError{opName(opGNUEncodedAddr), fmt.Sprintf("the base of pointer encoding 0x%02x", enc)}
	}
	v = mask(v+m.c.Bias, m.ptr)
	if enc&0x80 != 0 { // DW_EH_PE_indirect
		if m.c.Mem == nil {
			return &UnavailableError{opName(opGNUEncodedAddr), "memory"}
		}
		var err error
		if v, err = m.read(v, m.ptr); err != nil {
			return err
		}
	}
	return m.push(v)
}

// entryValue executes DW_OP_entry_value (DWARF 5, section 2.5.1.7), which needs a value from
// function entry. The caller may describe it: the value of a register, of a typed register, or of
// the memory that a register pointed to.
func (m *machine) entryValue(op byte, block []byte) error {
	r := bytecursor.Cursor{Data: block}
	var p EntryParameter
	var t typ
	ok := false
	switch b := r.U8(); {
	case b >= opReg0 && b < opBreg0:
		p.Reg, ok = uint64(b-opReg0), true
	case b == opRegx:
		p.Reg, ok = r.ULEB(), true
	case b == opRegvalType || b == opGNURegvalType:
		p.Reg, ok = r.ULEB(), true
		var err error
		if t, err = m.baseType(b, r.ULEB()); err != nil {
			return err
		}
	case b >= opBreg0 && b < opRegx || b == opBregx:
		p.Reg, p.Data = uint64(b-opBreg0), true
		if b == opBregx {
			p.Reg = r.ULEB()
		}
		off := r.SLEB()
		switch r.U8() {
		case opDeref:
			ok = off == 0
		case opDerefSize:
			ok = off == 0 && r.U8() != 0
		}
	}
	if !ok || r.Err() != nil || r.More() {
		return &UnavailableError{opName(op), "the entry value of more than one register"}
	}
	return m.entered(op, p, t)
}

// entered pushes a parameter as the caller describes it.
func (m *machine) entered(op byte, p EntryParameter, t typ) error {
	if t.extended() {
		return &UnavailableError{opName(op), "more than 64 bits of an argument"}
	}
	if m.c.EntryValue == nil {
		return &UnavailableError{opName(op), "the caller's frame"}
	}
	v, err := m.c.EntryValue(p)
	if err != nil {
		// That includes an unknown register of the caller: the parameter is then not described.
		return &UnavailableError{opName(op), "the argument from the caller (" + err.Error() + ")"}
	}
	return m.pushValue(value{typ: t}.as(v, m.ptr))
}

func (m *machine) jump(r *bytecursor.Cursor, off int64) error {
	to := int64(r.Pos) + off
	if r.Err() != nil {
		return nil
	}
	if to < 0 || to > int64(len(r.Data)) {
		return errJump
	}
	r.Pos = int(to)
	return nil
}

func (m *machine) call(op byte, off uint64, r *bytecursor.Cursor, depth int) error {
	if r.Err() != nil {
		return nil
	}
	if depth+1 >= maxCalls {
		return errCalls
	}
	if m.c.Call == nil {
		return &UnavailableError{opName(op), "the debug information"}
	}
	code, err := m.c.Call(off, op == opCallRef)
	if err != nil {
		return err
	}
	return m.run(code, depth+1)
}

func (m *machine) convert(op byte, die uint64) error {
	t, err := m.baseType(op, die)
	if err != nil {
		return err
	}
	v, err := m.at(0)
	if err != nil {
		return err
	}
	if op == opConvert || op == opGNUConvert {
		if v.typ.extended() != t.extended() {
			to, err := v.convertExtended(t, m.ptr)
			*v = to
			return err
		}
		if !t.extended() {
			*v = v.convert(t, m.ptr)
		}
		return nil
	}
	if t.width(m.ptr) != v.width(m.ptr) {
		return fmt.Errorf("%s changes a value of %d bytes to a type of %d bytes", opName(op), v.width(m.ptr), t.width(m.ptr))
	}
	v.typ = t
	return nil
}

// baseType returns the type at a DIE; 0 is the generic type.
func (m *machine) baseType(op byte, die uint64) (typ, error) {
	if die == 0 {
		return typ{}, nil
	}
	if m.c.BaseType == nil {
		return typ{}, &UnavailableError{opName(op), "the debug information's base types"}
	}
	size, signed, float, err := m.c.BaseType(die)
	switch {
	case err != nil:
		return typ{}, err
	case float && size == extendedSize && m.c.Arch == arch.AMD64:
	case float && size != 4 && size != 8, size < 1 || size > 8:
		return typ{}, &UnavailableError{opName(op), fmt.Sprintf("arithmetic on a base type of %d bytes", size)}
	}
	return typ{uint8(size), signed, float}, nil
}

func (t typ) width(ptr int) int { return value{typ: t}.width(ptr) }

func (m *machine) offsetSize() int {
	if m.c.OffsetSize == 8 {
		return 8
	}
	return 4
}
