package eval

import (
	"encoding/binary"
	"strconv"
	"strings"

	"dbg/symbols/types"
)

// These registers of x86-64 are found in the XSAVE area of a thread only: those of AVX-512, and the control
// registers of the x87 and of SSE. Intel SDM, volume 1, sections 10.5.1 and 13.4.

// xsaveLayout tells where the parts of AVX-512 are in an area of the standard format. CPUID tells it to a
// program; a debugger of a core has only the size of the area, which tells the kinds of processors apart.
type xsaveLayout struct{ mask, upper, high int }

const (
	xsaveSize    = 512 + 64
	xsaveAVX     = 576
	xsaveXCR0    = 464 // in the bytes that the kernel uses: the parts that it has enabled
	xsaveAVX512  = 7 << 5
	xsaveIntel   = 2688 // the area of Intel's processors up to the upper 16 registers
	xsaveZen     = 2432 // that of AMD's, without the gap for MPX
	errNoAVX512  = Error("The processor, or the core file, has no AVX-512 registers.")
	errNoLayout  = Error("The layout of the AVX-512 registers is not known for an XSAVE area of this size.")
	errNoControl = Error("The floating-point state of the thread is not available.")
)

// layoutOf finds the parts of AVX-512.
func layoutOf(area []byte) (xsaveLayout, error) {
	if len(area) < xsaveSize || binary.LittleEndian.Uint64(area[xsaveXCR0:])&xsaveAVX512 != xsaveAVX512 {
		return xsaveLayout{}, errNoAVX512
	}
	mpx := binary.LittleEndian.Uint64(area[xsaveXCR0:])&(3<<3) != 0
	switch n := len(area); {
	case n >= xsaveIntel:
		return xsaveLayout{1088, 1152, 1664}, nil
	case n >= xsaveZen && n < xsaveIntel && !mpx:
		return xsaveLayout{832, 896, 1408}, nil
	}
	return xsaveLayout{}, errNoLayout
}

var (
	typeHalf       = types.New(types.Float, "_Float16", 2, true, nil)
	typeZMM        = vectorType(512, types.NewArray(typeUint128, 4))
	typeMXCSR      = types.New(types.Int, "i386_mxcsr", 4, true, nil)
	typeMask       = types.New(types.Uint, "uint64_t", 8, false, nil)
	mxcsrNames     = [32]string{"IE", "DE", "ZE", "OE", "UE", "PE", "DAZ", "IM", "DM", "ZM", "OM", "UM", "PM", 15: "FZ"}
	controlOffsets = map[string]struct{ at, size int }{"fctrl": {0, 2}, "fstat": {2, 2}, "ftag": {4, 1}, "fop": {6, 2},
		"fioff": {8, 4}, "fiseg": {12, 4}, "fooff": {16, 4}, "foseg": {20, 4}, "mxcsr": {24, 4}}
)

// IsXSaveRegister reports whether XSaveRegister knows a name.
func IsXSaveRegister(name string) bool {
	if _, ok := controlOffsets[name]; ok {
		return true
	}
	bank, n := registerBank(name)
	return bank == "zmm" && n < 32 || bank == "k" && n < 8 || (bank == "xmm" || bank == "ymm") && n >= 16 && n < 32
}

// registerBank splits zmm17 into its parts. The bank is "" if the name is not of that form.
func registerBank(name string) (bank string, n int) {
	bank = strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(bank):])
	if err != nil || strconv.Itoa(n) != name[len(bank):] {
		return "", 0
	}
	return bank, n
}

// XSaveRegister returns a register that only a thread's XSAVE area has. A nil area means that the frame is
// not the innermost one: nothing preserves these registers over calls.
func XSaveRegister(name string, area []byte) (Value, error) {
	v := Value{Name: name, fixed: "$" + name + " can't be assigned."}
	if at, ok := controlOffsets[name]; ok {
		if len(area) < 512 {
			return Value{}, errNoControl
		}
		v.Type = typeInt
		u := rawUint(area[at.at : at.at+at.size])
		switch name {
		case "mxcsr":
			v.Type = typeMXCSR
		case "ftag":
			u = fullTags(area)
		case "fop":
			u &= 0x7ff
		}
		v.Bytes = intValue(typeInt, u).Bytes
		return v, nil
	}
	l, err := layoutOf(area)
	if err != nil {
		return Value{}, err
	}
	bank, n := registerBank(name)
	low := func(size int) []byte { // of registers 0 to 15: SSE's, AVX's, and the rest
		b := append([]byte(nil), area[160+16*n:160+16*n+16]...)
		b = append(b, area[xsaveAVX+16*n:xsaveAVX+16*n+16]...)
		return append(b, area[l.upper+32*n:l.upper+32*n+32]...)[:size]
	}
	part := func(size int) []byte {
		if n < 16 {
			return low(size)
		}
		at := l.high + 64*(n-16)
		return append([]byte(nil), area[at:at+size]...)
	}
	switch bank {
	case "k":
		v.Type, v.Bytes = typeMask, append([]byte(nil), area[l.mask+8*n:l.mask+8*n+8]...)
	case "xmm":
		v.Type, v.Bytes = typeVector, part(16)
	case "ymm":
		v.Type, v.Bytes = typeWideVector, part(32)
	default:
		v.Type, v.Bytes = typeZMM, part(64)
	}
	return v, nil
}

// fullTags returns the x87's tag word, of which the area has one bit for each register: whether it is in
// use. The numbers tell the rest. Intel SDM, volume 1, section 10.5.1.1.
func fullTags(area []byte) uint64 {
	used, top := area[4], int(area[3]>>3)&7
	var out uint64
	for i := range 8 {
		tag := uint64(3) // empty
		if used>>i&1 == 1 {
			b := area[32+16*((i-top)&7):]
			exp, mant := rawUint(b[8:10])&0x7fff, rawUint(b[:8])
			switch {
			case exp == 0 && mant == 0:
				tag = 1
			case exp == 0x7fff || exp == 0 || mant>>63 == 0:
				tag = 2
			default:
				tag = 0
			}
		}
		out |= tag << (2 * i)
	}
	return out
}

// flagBits returns the names of the bits of a register that is shown by them.
func flagBits(t *types.Type) (names [32]string, ok bool) {
	switch t {
	case typeFlags:
		return flagNames, true
	case typeMXCSR:
		return mxcsrNames, true
	}
	return names, false
}
