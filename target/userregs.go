package target

import (
	"encoding/binary"

	"dbg/arch"
)

// AMD64UserRegsSize is the size in bytes of x86-64's struct user_regs_struct, the contents of
// PTRACE_GETREGSET(NT_PRSTATUS) and of a core's prstatus note.
const AMD64UserRegsSize = 27 * 8

// DecodeUser decodes the registers in an architecture's user register set (arch.Arch.User).
// Registers whose bytes are missing stay unknown.
func DecodeUser(a *arch.Arch, b []byte) arch.Registers {
	r := arch.Registers{Arch: a}
	SetUser(&r, b)
	return r
}

// SetUser sets the registers of r from the user register set of its architecture, and does not
// change the others.
func SetUser(r *arch.Registers, b []byte) {
	size := r.Arch.PtrSize
	for i, reg := range r.Arch.User {
		if reg == arch.NoReg || len(b) < (i+1)*size {
			continue
		}
		if size == 8 {
			r.Set(reg, r.Arch.ByteOrder.Uint64(b[i*8:]))
		} else {
			r.Set(reg, uint64(r.Arch.ByteOrder.Uint32(b[i*4:])))
		}
	}
}

// AMD64UserOffset returns the offset of a register in a user_regs_struct, in bytes.
func AMD64UserOffset(r arch.Reg) (int, bool) {
	for i, n := range arch.AMD64.User {
		if n == r && r != arch.NoReg {
			return i * 8, true
		}
	}
	return 0, false
}

// Layout of the XSAVE area in its standard format, which both PTRACE_GETREGSET(NT_X86_XSTATE) and
// the core's note use: Intel SDM volume 1, 13.4. The first 512 bytes are the FXSAVE area, which
// is also the layout of NT_PRFPREG. Linux stores XCR0 at byte 464, in the part that the processor
// ignores (struct _fpx_sw_bytes).
const (
	fxFTW    = 2
	fxST     = 32
	fxXMM    = 160
	fxSize   = 512
	xXCR0    = 464
	xYMMHigh = 576
)

// I386Wide returns the x86-64 number of an x87, MMX or SSE register of i386, whose DWARF numbers
// differ (System V ABI, Intel386 supplement, "DWARF Register Number Mapping"). It returns false
// for other registers.
func I386Wide(r arch.Reg) (arch.Reg, bool) {
	switch {
	case r >= 11 && r < 19:
		return r - 11 + arch.ST0, true
	case r >= 21 && r < 29:
		return r - 21 + arch.XMM0, true
	case r >= 29 && r < 37:
		return r - 29 + arch.MM0, true
	}
	return 0, false
}

// AMD64Wide returns the bytes of a vector or floating-point register in an XSAVE or FXSAVE area.
// A vector register has 32 bytes if AVX is enabled, else 16. An x87 register has 10 bytes, and an
// MMX register 8.
func AMD64Wide(x []byte, r arch.Reg) ([]byte, bool) {
	cut := func(off, n int) ([]byte, bool) {
		if len(x) < off+n {
			return nil, false
		}
		return append([]byte(nil), x[off:off+n]...), true
	}
	switch {
	case r >= arch.XMM0 && r < arch.XMM0+16:
		i := int(r - arch.XMM0)
		b, ok := cut(fxXMM+16*i, 16)
		if ok && len(x) >= xYMMHigh+256 && binary.LittleEndian.Uint64(x[xXCR0:])&4 != 0 {
			b = append(b, x[xYMMHigh+16*i:xYMMHigh+16*i+16]...)
		}
		return b, ok
	case r >= arch.ST0 && r < arch.ST0+8:
		return cut(fxST+16*int(r-arch.ST0), 10)
	case r >= arch.MM0 && r < arch.MM0+8:
		if len(x) < fxSize {
			return nil, false
		}
		// MMn is the physical register n. The area holds the registers from the top of the x87
		// stack on (bits 11..13 of the status word).
		top := int(binary.LittleEndian.Uint16(x[fxFTW:])>>11) & 7
		return cut(fxST+16*((int(r-arch.MM0)-top)&7), 8)
	}
	return nil, false
}
