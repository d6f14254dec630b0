package eval

import (
	"errors"
	"slices"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// assign evaluates = and the compound assignments.
func (e *evaluator) assign(n *node) (Value, error) {
	if s, ok := e.env.(Scope); ok {
		return e.assignScoped(s, n)
	}
	left, err := e.eval(n.a)
	if err != nil {
		return Value{}, err
	}
	if left, err = follow(left, e.env); err != nil {
		return Value{}, err
	}
	right, err := e.operand(n.b)
	if v, ok := nameOfEnum(n.b, left, err); ok {
		right, err = v, nil
	}
	if err != nil {
		return Value{}, err
	}
	if n.op != "=" {
		old, err := e.read(left)
		if err != nil {
			return Value{}, err
		}
		if right, err = e.operate(n.op[:len(n.op)-1], old, right); err != nil {
			return Value{}, err
		}
	} else {
		if v, done, err := e.assignText(left, right); done {
			return v, err
		}
		if v, done, err := e.assignByOperator(left, right); done {
			return v, err
		}
	}
	return e.store(left, right)
}

// increment evaluates ++ and --, as prefix and postfix operators.
func (e *evaluator) increment(n *node) (Value, error) {
	if s, ok := e.env.(Scope); ok {
		return e.assignScoped(s, n)
	}
	left, err := e.eval(n.a)
	if err != nil {
		return Value{}, err
	}
	if left, err = follow(left, e.env); err != nil {
		return Value{}, err
	}
	old, err := e.read(left)
	if err != nil {
		return Value{}, err
	}
	right, err := e.operate(n.op[1:2], old, intValue(typeInt, 1))
	if err != nil {
		return Value{}, err
	}
	v, err := e.store(left, right)
	if err == nil && n.op[0] == 'p' {
		return Value{Type: old.Type, Bytes: old.Bytes, BitSize: old.BitSize, BitOffset: old.BitOffset}, nil
	}
	return v, err
}

// Assign converts right to the type of left, stores it in left, which was evaluated before, and
// returns the new value of left.
func Assign(left, right Value, env Env) (Value, error) {
	e := &evaluator{env: env}
	left, err := follow(left, env)
	if err != nil {
		return Value{}, err
	}
	if right, err = e.read(right); err != nil {
		return Value{}, err
	}
	return e.store(left, right)
}

// store writes right to the place of left.
func (e *evaluator) store(left, right Value) (Value, error) {
	if left.fixed != "" {
		return Value{}, Error(left.fixed)
	}
	if left.variable != "" {
		return e.storeConvenience(left.variable, right), nil
	}
	if left.register == "" && !left.HasAddr && !left.InReg {
		if err := availabilityError(left); err != nil {
			return Value{}, err
		}
		return Value{}, Error("Left operand of assignment is not an lvalue.")
	}
	if left.function != "" {
		return Value{}, errInvalidCast
	}
	data, err := e.converted(left, right)
	if err != nil || e.dry > 0 {
		left.Bytes = data
		return left, err
	}
	switch {
	case left.register != "":
		if r, ok := e.env.Arch().RegByName(left.register); ok && !slices.Contains(e.env.Arch().General, r) && left.BitSize == 0 {
			err = e.env.SetRegisterPart(r, int(left.regByte), data[:min(len(data), widest(r, left))])
			break
		}
		if len(data) > 8 || left.regByte != 0 {
			return Value{}, errorf("Only integers of up to 8 bytes can be assigned to $%s.", left.register)
		}
		err = e.env.SetRegister(left.register, rawUint(data))
	case left.InReg:
		err = e.storeRegister(left, data)
	default:
		err = e.storeMemory(left, data)
	}
	if err != nil {
		return Value{}, err
	}
	left.Avail, left.Err, left.missing = Available, nil, nil
	left.Bytes = data
	if left.BitSize > 0 {
		left.Bytes = mergeBits(make([]byte, byteSize(left)), left, data)
	}
	return left, nil
}

// storeConvenience stores a copy: $foo does not change with the object that was assigned to it.
func (e *evaluator) storeConvenience(name string, v Value) Value {
	v = Fetch(v, e.env)
	if v.Bytes != nil {
		v.HasAddr, v.Addr, v.InReg = false, 0, false
	}
	v.Name, v.fixed, v.register, v.variable = "", "", "", ""
	if e.dry == 0 {
		e.env.SetConvenience(name, v)
	}
	return v
}

// converted returns right as the new bytes of left. For a bit-field it returns bytes of the whole
// type.
func (e *evaluator) converted(left, right Value) ([]byte, error) {
	k := kindOf(left.Type)
	if isStruct(left.Type) || k == types.Array {
		same := kindOf(right.Type) == k && sizeOf(right.Type) == sizeOf(left.Type) &&
			(k == types.Array || left.Type.Strip().Name == right.Type.Strip().Name)
		if !same {
			return nil, errInvalidCast
		}
		if right = load(right, e.env); right.Avail != Available || right.Bytes == nil {
			return nil, errors.Join(availabilityError(right), errNoPlaceIf(right.Avail == Available))
		}
		return right.Bytes, nil
	}
	v, err := e.cast(left.Type, right)
	if err != nil {
		return nil, err
	}
	if v.Bytes == nil {
		return nil, errInvalidCast
	}
	return v.Bytes, nil
}

func errNoPlaceIf(b bool) error {
	if b {
		return errNoPlace
	}
	return nil
}

// mergeBits inserts the bits of data in old, at the bit-field's place.
func mergeBits(old []byte, v Value, data []byte) []byte {
	out := append([]byte(nil), old...)
	for i := range v.BitSize {
		at := v.BitOffset + i
		if at/8 >= int64(len(out)) || i/8 >= int64(len(data)) {
			break
		}
		out[at/8] &^= 1 << (at % 8)
		out[at/8] |= data[i/8] >> (i % 8) & 1 << (at % 8)
	}
	return out
}

// storeMemory writes only the bytes of the value.
func (e *evaluator) storeMemory(v Value, data []byte) error {
	if v.BitSize > 0 {
		old := make([]byte, byteSize(v))
		if n, err := e.env.ReadMemory(v.Addr, old); err != nil {
			return cannotAccess(err, v.Addr+target.Addr(n))
		}
		data = mergeBits(old, v, data)
	}
	n, err := e.env.WriteMemory(v.Addr, data)
	var m *target.MemoryError
	if errors.As(err, &m) {
		return cannotAccess(err, v.Addr+target.Addr(n))
	}
	return err
}

// widest returns how many bytes of a value are in a register: a long double has 16 bytes in memory, of
// which ten are in an x87 register.
func widest(r arch.Reg, v Value) int {
	if kindOf(v.Type) == types.Float && sizeOf(v.Type) > 10 && r >= arch.ST0 && r < arch.ST0+8 {
		return 10
	}
	return 64
}

// storeRegister changes a variable in a register. Bits of the register outside the variable do not
// change.
func (e *evaluator) storeRegister(v Value, data []byte) error {
	general := slices.Contains(e.env.Arch().General, v.Reg)
	if v.BitSize > 0 || v.regByte < 0 || general && v.regByte+int64(len(data)) > 8 {
		return Error("This part of a register can't be assigned.")
	}
	if !general {
		return e.env.SetRegisterPart(v.Reg, int(v.regByte), data[:min(len(data), widest(v.Reg, v))])
	}
	full := rawUint(data)
	if len(data) < 8 {
		old, err := e.env.Register(e.env.Arch().RegName(v.Reg))
		if err != nil {
			return err
		}
		if err := availabilityError(old); err != nil {
			return err
		}
		if len(old.Bytes) > 8 { // a vector register: its low part is assigned
			old.Bytes = old.Bytes[:8]
		}
		shift := uint(v.regByte) * 8
		mask := (uint64(1)<<(uint(len(data))*8) - 1) << shift
		full = rawUint(old.Bytes)&^mask | full<<shift&mask
	}
	return e.env.SetFrameRegister(v.Reg, full)
}
