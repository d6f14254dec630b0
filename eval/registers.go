package eval

import (
	"fmt"
	"strconv"
	"strings"

	"dbg/arch"
	"dbg/symbols/types"
)

// subRegister is a part of a register that has its own name.
type subRegister struct {
	reg  arch.Reg
	byte uint // its first byte
	typ  *types.Type
}

// subRegisterOf finds a part of an x86-64 register by its name: eax, ax, al, ah, r8d, r8w, r8l.
func subRegisterOf(a *arch.Arch, name string) (subRegister, bool) {
	if a != arch.AMD64 {
		return subRegister{}, false
	}
	for r := arch.RAX; r <= arch.R15; r++ {
		full := a.RegName(r)
		base := strings.TrimPrefix(full, "r") // ax, si, 8
		numbered := isDigit(base[0])
		switch {
		case numbered && name == full+"d", !numbered && name == "e"+base:
			return subRegister{r, 0, typeInt}, true
		case numbered && name == full+"w", !numbered && name == base && name != "sp":
			return subRegister{r, 0, typeShort}, true
		case numbered && (name == full+"l" || name == full+"b"):
			return subRegister{r, 0, typeSignedByte}, true
		case numbered:
		case strings.HasSuffix(base, "x") && name == base[:1]+"l", !strings.HasSuffix(base, "x") && name == base+"l":
			return subRegister{r, 0, typeSignedByte}, true
		case strings.HasSuffix(base, "x") && name == base[:1]+"h":
			return subRegister{r, 1, typeSignedByte}, true
		}
	}
	return subRegister{}, false
}

// Types of registers, the same as gdb's.
var (
	typeSignedByte  = types.New(types.Int, "int8_t", 1, true, nil)
	typeCodePointer = types.New(types.Pointer, "", 8, false, types.NewFunc(nil, nil))
	typeI386Ext     = types.New(types.Float, "i387_ext", 16, true, nil)
	typeVector      = vectorType(128, typeUint128)
	typeWideVector  = vectorType(256, types.NewArray(typeUint128, 2))
)

// vectorType returns the union type in which gdb shows a vector register of some bits.
func vectorType(bits int64, whole *types.Type) *types.Type {
	lane := func(name string, t *types.Type) types.Field {
		n := bits / 8 / t.Size
		return types.Field{Name: fmt.Sprintf("v%d_%s", n, name), Type: types.NewArray(t, n)}
	}
	last := "uint128"
	if bits > 128 {
		last = fmt.Sprintf("v%d_int128", bits/128)
	}
	return types.NewStruct(types.Union, fmt.Sprintf("vec%d", bits), bits/8, []types.Field{
		lane("bfloat16", types.New(types.Float, "bfloat16", 2, true, nil)),
		lane("half", typeHalf), lane("float", typeFloat), lane("double", typeDouble),
		lane("int8", typeSignedByte), lane("int16", typeShort),
		lane("int32", typeInt), lane("int64", typeLong),
		{Name: last, Type: whole},
	})
}

// wideVector returns $ymmN, if the processor has AVX: its lower half is $xmmN.
func wideVector(name string, fc *FrameContext) (Value, bool) {
	digits, ok := strings.CutPrefix(name, "ymm")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > 15 || fc.Arch != arch.AMD64 {
		return Value{}, false
	}
	v := Value{Type: typeWideVector, Name: name, fixed: "Only $xmm registers can be assigned."}
	b, avail := fc.register(arch.XMM0+arch.Reg(n), 32)
	if avail == Available && len(b) < 32 {
		return Value{}, false
	}
	v.Bytes, v.Avail = b, avail
	return v, true
}

// RegisterByName returns a register of a frame, or a part of one (eax, ax, al), as a typed value.
// The error is a *NotFoundError if there is no such register. wide reads vector and x87 registers,
// and may be nil. A register with an unknown value is NotSaved.
func RegisterByName(name string, a *arch.Arch, regs *arch.Registers, wide func(arch.Reg) ([]byte, error)) (Value, error) {
	fc := &FrameContext{Arch: a, Regs: regs, Wide: wide}
	r, ok := a.RegByName(name)
	if !ok {
		if v, ok := wideVector(name, fc); ok {
			return v, nil
		}
		sub, ok := subRegisterOf(a, name)
		if !ok {
			return Value{}, &NotFoundError{name}
		}
		v := Value{Type: sub.typ, Name: name, register: name}
		b, avail := fc.register(sub.reg, 8)
		if v.Avail = avail; avail == Available {
			v.Bytes = b[sub.byte : int64(sub.byte)+sub.typ.Size]
		}
		return v, nil
	}
	v := Value{Type: registerType(a, r), Name: name, register: name}
	b, avail := fc.register(r, v.Type.Size)
	if v.Avail = avail; avail == Available {
		// A slot may be wider or narrower than the type. Missing bytes are zero only if they are
		// the padding of a long double.
		if n := v.Type.Size - int64(len(b)); n > 0 && v.Type != typeI386Ext && len(b) == 8 {
			v.Type = typeLong
		} else if n > 0 {
			b = append(append([]byte(nil), b...), make([]byte, n)...)
		}
		v.Bytes = b
	}
	return v, nil
}

// registerType returns the type in which a register is shown.
func registerType(a *arch.Arch, r arch.Reg) *types.Type {
	word := typeLong
	if a.PtrSize == 4 {
		word = typeInt
	}
	switch {
	case r == a.PC:
		if a.PtrSize == 4 {
			return types.New(types.Pointer, "", 4, false, types.NewFunc(nil, nil))
		}
		return typeCodePointer
	case r == a.SP || r == a.FP && a == arch.AMD64:
		return pointerTo(nil, a.PtrSize)
	case r == a.Flags:
		return typeFlags
	}
	if a == arch.AMD64 {
		switch {
		case r >= arch.XMM0 && r < arch.XMM0+16:
			return typeVector
		case r >= arch.ST0 && r < arch.ST0+8:
			return typeI386Ext
		case r >= arch.ES && r <= arch.GS:
			return typeInt
		}
	}
	return word
}

// RegisterUpdate returns the register to change for the assignment $name = v, and its whole new
// value. It returns false if there is no such register, if its value does not fit in 64 bits, or if
// a part of an unknown register is assigned.
func RegisterUpdate(name string, v uint64, a *arch.Arch, regs *arch.Registers) (r arch.Reg, full uint64, ok bool) {
	if r, ok := a.RegByName(name); ok {
		t := registerType(a, r)
		return r, v, t.Size <= 8
	}
	sub, ok := subRegisterOf(a, name)
	if !ok {
		return arch.NoReg, 0, false
	}
	if sub.typ.Size == 4 && regs != nil {
		// Unlike the processor, gdb keeps the upper half, and so does dbg.
		if old, known := regs.Get(sub.reg); known {
			return sub.reg, old&^0xffffffff | v&0xffffffff, true
		}
		return arch.NoReg, 0, false
	}
	if regs == nil {
		return arch.NoReg, 0, false
	}
	old, known := regs.Get(sub.reg)
	mask := (uint64(1)<<(uint(sub.typ.Size)*8) - 1) << (sub.byte * 8)
	return sub.reg, old&^mask | v<<(sub.byte*8)&mask, known
}

// typeFlags is the type of the x86 status register, which is shown by the names of its set bits.
var typeFlags = types.New(types.Int, "i386_eflags", 4, true, nil)

// flagNames holds these names by bit; AMD64 Architecture Programmer's Manual, volume 2, 3.1.6.
var flagNames = [32]string{0: "CF", 1: "", 2: "PF", 4: "AF", 6: "ZF", 7: "SF", 8: "TF", 9: "IF", 10: "DF", 11: "OF",
	14: "NT", 16: "RF", 17: "VM", 18: "AC", 19: "VIF", 20: "VIP", 21: "ID"}

// formatFlags formats flags as gdb's "[ ZF PF ]".
func formatFlags(u uint32, names [32]string) string {
	out := "["
	for i, name := range names {
		if u&(1<<i) != 0 && name != "" {
			out += " " + name
		}
	}
	return out + " ]"
}
