package eval

import (
	"encoding/binary"
	"errors"

	"dbg/arch"
	"dbg/expr"
	"dbg/image"
	"dbg/symbols"
	"dbg/symbols/entry"
	"dbg/symbols/types"
	"dbg/target"
)

// FrameContext is the information about a frame that is needed to read its variables.
type FrameContext struct {
	Mem  target.Memory
	Regs *arch.Registers // nil if there are none, for a global variable before the program runs
	// Wide reads a register that is not in Regs, or more than its low 64 bits. It is nil if that is
	// impossible, as in a caller's frame.
	Wide   func(arch.Reg) ([]byte, error)
	CFA    target.Addr
	HasCFA bool
	PC     image.Addr // the place whose variables are visible, in the file's address space
	Bias   uint64     // of the module
	Arch   *arch.Arch
	TLS    func(offset uint64) (uint64, error) // nil if unavailable
	// EntryValue returns a value that was passed to the frame's function. It is nil if unavailable.
	EntryValue func(expr.EntryParameter) (uint64, error)
	// Initial is the initial stack of expressions: for a member, its object's address.
	Initial []uint64
}

// ReadVariable finds a variable in a frame and reads it. It never returns a wrong value: a variable
// without a place at this PC is OptimizedOut, and one in a register with an unknown value is
// NotSaved. A variable in memory is Unreadable if its memory is. One of more than 64 KiB is read
// only when it is needed.
func ReadVariable(v *symbols.Variable, fc *FrameContext) Value {
	out := Value{Type: v.Type, Name: v.Name}
	if v.Type == nil {
		out.Type = typeVoid
	}
	at := v.Locate(fc.PC)
	if v.Type.IsDynamic() {
		// An array with a lost bound has no size; its text shows that.
		out.Type, out.Err = v.Resolve(fc.PC, bounds{fc})
		if out.Err != nil && sizeOf(out.Type) < 0 && at.Expr != nil {
			out.Avail = OptimizedOut
			return out
		}
		out.Err = nil
	}
	switch {
	case at.Err != nil:
		return unlocated(out, at.Err)
	case at.Const != nil:
		out.Bytes = at.Const
		if size := sizeOf(out.Type); size >= 0 && int64(len(at.Const)) != size {
			out.Bytes = make([]byte, min(size, maxFetch))
			copy(out.Bytes, at.Const)
		}
		return out
	case at.Expr == nil:
		out.Avail = OptimizedOut
		return out
	}
	pieces, err := expr.Locate(at.Expr, fc.context(&at))
	if err != nil {
		return unlocated(out, err)
	}
	out = fc.assemble(out, pieces)
	if len(out.implicit) > 0 {
		out.pointee = func(p *implicitPart, t *types.Type) Value { return fc.implied(v, p, t) }
	}
	return out
}

// At returns a variable of a type at an address.
func At(t *types.Type, name string, addr target.Addr, mem target.Memory) Value {
	v := Value{Type: t, Name: name, Addr: addr, HasAddr: true}
	if t == nil {
		v.Type = typeVoid
	}
	if sizeOf(v.Type) <= maxKeep {
		v = load(v, mem)
	}
	return v
}

// implied reads the target of a part of a variable that is a pointer without a value.
func (fc *FrameContext) implied(v *symbols.Variable, p *implicitPart, t *types.Type) Value {
	lost := Value{Type: t, Avail: OptimizedOut}
	to := v.Implied(p.die)
	if to == nil {
		return lost
	}
	whole := ReadVariable(to, fc)
	size, n := byteSize(whole), sizeOf(t)
	if p.off < 0 || n < 0 || p.off > size || n > size-p.off {
		return lost
	}
	whole = load(whole, fc.Mem)
	if (whole.Avail == Available || whole.Avail == Partial) && whole.Bytes == nil {
		return lost
	}
	out := part(whole, p.off, t, "")
	out.fixed = "The target of a pointer without a value can't be assigned."
	return out
}

// FromBits makes a value from the low bytes of a number. It returns false if the type is larger.
func FromBits(t *types.Type, name string, u uint64, a *arch.Arch) (Value, bool) {
	size := sizeOf(t)
	if t == nil || size <= 0 || size > int64(a.PtrSize) {
		return Value{}, false
	}
	b := make([]byte, 8)
	if a.ByteOrder == binary.ByteOrder(binary.BigEndian) {
		binary.BigEndian.PutUint64(b, u)
		b = b[8-size:]
	} else {
		binary.LittleEndian.PutUint64(b, u)
		b = b[:size]
	}
	return Value{Type: t, Name: name, Bytes: b}, true
}

// bounds reads the bounds of arrays in a frame.
type bounds struct{ *FrameContext }

func (b bounds) ReadBound(v *symbols.Variable) (int64, error) {
	x := load(ReadVariable(v, b.FrameContext), b.Mem)
	if err := availabilityError(x); err != nil {
		return 0, err
	}
	if !isIntegral(x.Type) {
		return 0, errNoPlace
	}
	return int64(integerOf(x)), nil
}

func (b bounds) EvaluateBound(at *entry.Location) (int64, error) {
	u, err := b.Evaluate(at)
	return int64(u), err
}

// Evaluate evaluates an expression of the debug information in the frame.
func (fc *FrameContext) Evaluate(at *entry.Location) (uint64, error) {
	return expr.Eval(at.Expr, fc.context(at))
}

// unlocated returns v with the reason why it has no location.
func unlocated(v Value, err error) Value {
	var unknown *expr.UnknownRegisterError
	var missing *expr.UnavailableError
	var memory *target.MemoryError
	switch {
	case errors.As(err, &unknown):
		v.Avail = NotSaved
	case errors.As(err, &missing):
		// This is mostly an entry value that the caller does not provide, for which gdb shows the
		// same text. The details are in the error.
		v.Avail, v.Err = OptimizedOut, err
	case errors.As(err, &memory):
		v.Avail, v.Err = Unreadable, cannotAccess(err, memory.Addr)
	default:
		v.Avail, v.Err = Unreadable, err
	}
	return v
}

// context returns the context of the variable's expression.
func (fc *FrameContext) context(at *entry.Location) *expr.Context {
	c := &expr.Context{Arch: fc.Arch, Regs: fc.Regs, Wide: fc.Wide, Mem: fc.Mem, Bias: fc.Bias, TLS: fc.TLS, EntryValue: fc.EntryValue, Initial: fc.Initial}
	if c.Regs == nil {
		c.Regs = &arch.Registers{Arch: fc.Arch}
	}
	if fc.HasCFA {
		c.CFA = func() (uint64, error) { return uint64(fc.CFA), nil }
	}
	if at.Fill != nil {
		at.Fill(c)
	}
	if at.FrameBase != nil {
		base := *c // a context serves one evaluation at a time
		c.FrameBase = func() (uint64, error) {
			// The frame base is a location: DW_OP_breg6 is its address, DW_OP_reg6 holds it.
			return expr.Eval(at.FrameBase, &base)
		}
	}
	return c
}

// assemble reads a value from its pieces.
func (fc *FrameContext) assemble(v Value, pieces []expr.Piece) Value {
	size := sizeOf(v.Type)
	if len(pieces) == 1 && pieces[0].BitSize == 0 {
		return fc.whole(v, &pieces[0], size)
	}
	if size <= 0 || size > maxKeep {
		v.Avail, v.Err = Unreadable, Error("value is made of pieces and its size is not supported")
		return v
	}
	v.fixed = "A value in several pieces can't be assigned."
	v.Bytes = make([]byte, size)
	v.missing = make([]byte, size)
	v.why, v.Avail = OptimizedOut, Partial
	lose := func(from, to int64) {
		for i := from; i < to && i/8 < size; i++ {
			v.missing[i/8] |= 1 << (i % 8)
		}
	}
	at := int64(0) // bits
	for i := range pieces {
		p := &pieces[i]
		n := size*8 - at
		if p.BitSize != 0 && p.BitSize < uint64(n) {
			n = int64(p.BitSize)
		}
		if n <= 0 {
			break
		}
		b, avail, err := fc.piece(p, n)
		if avail == Unreadable {
			return Value{Type: v.Type, Name: v.Name, Avail: Unreadable, Err: err}
		}
		if p.Kind == expr.ImplicitPointer {
			v.implicit = append(v.implicit, implicitPart{at, n, p.DIE, p.Offset})
		}
		if avail != Available {
			lose(at, at+n)
			v.why = avail
		} else {
			for k := range n {
				src := k
				if p.Kind != expr.Implicit {
					src += int64(p.BitOffset % 8)
				} else {
					src += int64(p.BitOffset)
				}
				if src/8 >= int64(len(b)) {
					lose(at+k, at+n)
					break
				}
				v.Bytes[(at+k)/8] |= b[src/8] >> (src % 8) & 1 << ((at + k) % 8)
			}
		}
		at += n
	}
	if significant := significantBytes(v.Type, size); at < significant*8 {
		lose(at, size*8)
	}
	v.judge()
	return v
}

// significantBytes returns the number of bytes of a type that matter: the rest of a long double is
// padding, for which clang has no piece.
func significantBytes(t *types.Type, size int64) int64 {
	if kindOf(t) == types.Float {
		if f, ok := floatFormat(t.Strip(), int(size)); ok && f == formatX87 {
			return 10
		}
	}
	return size
}

// piece reads the n bits of a piece of a composite. The first bit is at BitOffset%8 in the result
// (for Implicit: at BitOffset).
func (fc *FrameContext) piece(p *expr.Piece, n int64) ([]byte, Availability, error) {
	if p.BitOffset > 1<<20 {
		return nil, Unreadable, Error("location has a piece at an impossible offset")
	}
	first := int64(p.BitOffset / 8)
	last := int64(p.BitOffset%8) + n
	bytes := (last + 7) / 8
	switch p.Kind {
	case expr.InMemory:
		b := make([]byte, bytes)
		a := p.Addr + target.Addr(first)
		if got, err := fc.Mem.ReadMemory(a, b); err != nil {
			return nil, Unreadable, cannotAccess(err, a+target.Addr(got))
		}
		return b, Available, nil
	case expr.InRegister:
		b, avail := fc.register(p.Reg, first+bytes)
		if avail == Available {
			b = b[min(first, int64(len(b))):]
		}
		return b, avail, nil
	case expr.Implicit:
		return p.Bytes, Available, nil
	}
	return nil, OptimizedOut, nil
}

// whole reads a value with a simple location.
func (fc *FrameContext) whole(v Value, p *expr.Piece, size int64) Value {
	switch p.Kind {
	case expr.InMemory:
		v.Addr, v.HasAddr = p.Addr, true
		if size <= maxKeep {
			v = load(v, fc.Mem)
		}
	case expr.InRegister:
		v.Reg, v.InReg = p.Reg, true
		if size <= 0 || size > 64 {
			v.Avail, v.Err = Unreadable, Error("value does not fit in its register")
			return v
		}
		b, avail := fc.register(p.Reg, size)
		if isX87(fc.Arch, p.Reg) && kindOf(v.Type) == types.Float {
			b, avail = fc.x87(p.Reg, v.Type)
		}
		if v.Avail = avail; avail == Available {
			v.Bytes = b
			if int64(len(b)) < size { // DWARF gives no place for the rest
				v.why, v.Avail = OptimizedOut, Partial
				v.Bytes, v.missing = make([]byte, size), make([]byte, size)
				copy(v.Bytes, b)
				for i := len(b); i < int(size); i++ {
					v.missing[i] = 0xff
				}
				v.judge()
			}
		}
	case expr.Implicit:
		if size <= 0 || size > maxFetch {
			v.Avail, v.Err = Unreadable, Error("value has no size")
			return v
		}
		b := make([]byte, size)
		if int64(copy(b, p.Bytes)) < size { // DWARF gives no place for the rest
			v.Avail = OptimizedOut
			return v
		}
		v.Bytes = b
	case expr.ImplicitPointer:
		v.Avail, v.implicit = Synthetic, []implicitPart{{0, size * 8, p.DIE, p.Offset}}
	default:
		v.Avail = OptimizedOut
	}
	return v
}

// register reads up to n bytes of a register. A vector register's slot in Regs has only its low 8
// bytes, so the whole register is read first, if possible.
func (fc *FrameContext) register(r arch.Reg, n int64) ([]byte, Availability) {
	general := false
	for _, g := range fc.Arch.General {
		general = general || g == r
	}
	if !general && fc.Wide != nil {
		if b, err := fc.Wide(r); err == nil && len(b) > 0 {
			return b[:min(int64(len(b)), n)], Available
		}
	}
	if fc.Regs == nil {
		return nil, NotSaved
	}
	u, ok := fc.Regs.Get(r)
	if !ok {
		return nil, NotSaved
	}
	size := int64(8)
	if general {
		size = int64(fc.Arch.PtrSize)
	}
	b := intValue(typeUlong, u).Bytes
	return b[:min(n, size)], Available
}

// isX87 reports whether the register is in the x87 stack, where registers always hold extended
// numbers.
func isX87(a *arch.Arch, r arch.Reg) bool {
	return a == arch.AMD64 && r >= arch.ST0 && r < arch.ST0+8
}

// x87 converts the content of an x87 register to the type of a variable that is in it.
func (fc *FrameContext) x87(r arch.Reg, t *types.Type) ([]byte, Availability) {
	b, avail := fc.register(r, 10)
	if avail != Available || len(b) < 10 {
		return nil, NotSaved
	}
	size := sizeOf(t)
	if size > 8 {
		return append(append([]byte(nil), b...), make([]byte, max(0, size-10))...), Available
	}
	x, ok := floatOf(b, t)
	if !ok {
		return nil, NotSaved // the register does not hold a number
	}
	f, _ := x.Float64()
	b, err := encode(number{f: f, isFloat: true}, t)
	if err != nil {
		return nil, NotSaved
	}
	return b, Available
}
