package dumptest

import (
	"math"

	"dbg/arch"
)

// AMD64 returns the CONTEXT of x64 with flags of its parts (1 control, 2 integer, 4 segments, 8
// floating point) and the known registers of r. The bytes of the FXSAVE area follow, as far as they fit.
func AMD64(flags uint32, r *arch.Registers, fxsave []byte) []byte {
	b := make([]byte, 1232)
	le.PutUint32(b[48:], 0x100000|flags)
	at := map[arch.Reg]int{arch.RAX: 120, arch.RCX: 128, arch.RDX: 136, arch.RBX: 144, arch.RSP: 152, arch.RBP: 160,
		arch.RSI: 168, arch.RDI: 176,
		arch.R8: 184, arch.R9: 192, arch.R10: 200, arch.R11: 208, arch.R12: 216, arch.R13: 224, arch.R14: 232,
		arch.R15: 240, arch.RIP: 248}
	for reg, off := range at {
		v, _ := r.Get(reg)
		le.PutUint64(b[off:], v)
	}
	for i, reg := range []arch.Reg{arch.CS, arch.DS, arch.ES, arch.FS, arch.GS, arch.SS} {
		v, _ := r.Get(reg)
		le.PutUint16(b[56+2*i:], uint16(v))
	}
	put32(b, 68, r, arch.RFLAGS)
	copy(b[256:768], fxsave)
	return b
}

// WithAVX adds a CONTEXT_EX and the upper halves of the AVX registers to a context of x86 or x64.
func WithAVX(context []byte, flagsAt int, upper []byte) []byte {
	le.PutUint32(context[flagsAt:], le.Uint32(context[flagsAt:])|0x40)
	area := append(long(4, 0, 0, 0, 0, 0, 0, 0), upper...)
	ex := words(0, 0, 0, 0, 32, uint32(len(area)), 0, 0)
	return join(context, ex, area)
}

// I386 returns the CONTEXT of x86, with the FXSAVE area.
func I386(flags uint32, r *arch.Registers, fxsave []byte) []byte {
	b := make([]byte, 716)
	le.PutUint32(b, 0x10000|flags)
	// gs fs es ds edi esi ebx edx ecx eax ebp eip cs eflags esp ss
	for i, reg := range []arch.Reg{45, 44, 40, 43, 7, 6, 3, 2, 1, 0, 5, 8, 41, 9, 4, 42} {
		put32(b, 140+4*i, r, reg)
	}
	copy(b[204:], fxsave)
	return b
}

// ARM64 returns the CONTEXT of ARM64 (flags: 1 control, 2 integer, 4 floating point).
func ARM64(flags uint32, r *arch.Registers, vectors []byte) []byte {
	b := make([]byte, 912)
	le.PutUint32(b, 0x400000|flags)
	put32(b, 4, r, 40)
	for reg := range arch.Reg(33) {
		v, _ := r.Get(reg)
		le.PutUint64(b[8+8*reg:], v)
	}
	copy(b[272:784], vectors)
	return b
}

// OldARM64 returns Breakpad's first context of ARM64 (flags: 2 integer, 4 floating point).
func OldARM64(flags uint32, r *arch.Registers, vectors []byte) []byte {
	b := make([]byte, 796)
	le.PutUint64(b, 0x80000000|uint64(flags))
	for reg := range arch.Reg(33) {
		v, _ := r.Get(reg)
		le.PutUint64(b[8+8*reg:], v)
	}
	put32(b, 272, r, 40)
	copy(b[284:], vectors)
	return b
}

// ARM returns the CONTEXT of ARM by Windows (flags: 1 control, 2 integer, 4 floating point).
func ARM(flags uint32, r *arch.Registers, vectors []byte) []byte {
	return arm(make([]byte, 416), 0x200000|flags, r, vectors)
}

// BreakpadARM returns Breakpad's context of ARM (flags: 2 integer, 4 floating point).
func BreakpadARM(flags uint32, r *arch.Registers, vectors []byte) []byte {
	return arm(make([]byte, 368), 0x40000000|flags, r, vectors)
}

func arm(b []byte, flags uint32, r *arch.Registers, vectors []byte) []byte {
	le.PutUint32(b, flags)
	for reg := range arch.Reg(17) {
		put32(b, 4+4*int(reg), r, reg)
	}
	copy(b[80:336], vectors)
	return b
}

func put32(b []byte, off int, r *arch.Registers, reg arch.Reg) {
	v, _ := r.Get(reg)
	le.PutUint32(b[off:], uint32(v&math.MaxUint32))
}
