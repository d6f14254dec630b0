package machocore

import (
	"dbg/arch"
	"dbg/target"
)

// layout describes an architecture's general thread state.
type layout struct {
	regs []arch.Reg // registers in order
	wide int        // number of registers of word size; the rest have 32 bits
	size int        // in bytes
}

// layouts lists the general thread states, as declared in <mach/i386/_structs.h> and
// <mach/arm/_structs.h>.
var layouts = map[*arch.Arch]layout{
	// x86_thread_state64_t
	arch.AMD64: {regs: []arch.Reg{arch.RAX, arch.RBX, arch.RCX, arch.RDX, arch.RDI, arch.RSI, arch.RBP, arch.RSP,
		arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15,
		arch.RIP, arch.RFLAGS, arch.CS, arch.FS, arch.GS}, wide: 21, size: 21 * 8},
	// x86_thread_state32_t: eax ebx ecx edx edi esi ebp esp ss eflags eip cs ds es fs gs
	arch.I386: {regs: []arch.Reg{0, 3, 1, 2, 7, 6, 5, 4, 42, 9, 8, 41, 43, 40, 44, 45}, wide: 16, size: 16 * 4},
	// arm_thread_state64_t: x0 to x28, fp, lr, sp, pc, and cpsr in 32 bits
	arch.ARM64: {regs: []arch.Reg{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
		29, 30, 31, 32, 40}, wide: 33, size: 33*8 + 4},
}

// Registers implements target.Target.
func (c *Core) Registers(id target.ThreadID) (arch.Registers, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	r := arch.Registers{Arch: c.arch}
	t := c.thread(id)
	if t == nil || c.base.Closed() {
		return r, target.ErrNoThread
	}
	c.decode(t, &r)
	return r, nil
}

// decode sets the registers from the state of a thread.
func (c *Core) decode(t *thread, r *arch.Registers) {
	l := layouts[c.arch]
	b := t.regs
	for i, reg := range l.regs {
		switch {
		case c.arch.PtrSize == 8 && i < l.wide:
			if len(b) < 8 {
				return
			}
			r.Set(reg, le.Uint64(b))
			b = b[8:]
		default:
			if len(b) < 4 {
				return
			}
			r.Set(reg, uint64(le.Uint32(b)))
			b = b[4:]
		}
		if c.arch == arch.ARM64 && reg >= 29 && reg <= 32 { // fp, lr, sp, pc
			v, _ := r.Get(reg)
			r.Set(reg, c.strip(v))
		}
	}
}

// CodeBits returns the number of bits in a code address, or 0 if no bits are used for a
// signature.
func (c *Core) CodeBits() uint8 {
	if c.arch != arch.ARM64 {
		return 0
	}
	if c.notes.lowBits == 0 {
		return appleBits
	}
	return uint8(c.notes.lowBits)
}

// appleBits is the largest number of address bits that Apple's processes use.
const appleBits = 47

// strip removes the pointer authentication code and the tag from an address. Bit 55 tells which
// half of the address space it is in.
func (c *Core) strip(v uint64) uint64 {
	high := v&(1<<55) != 0
	bits := c.notes.lowBits
	if high {
		bits = c.notes.highBits
	}
	if bits == 0 {
		bits = appleBits
	}
	mask := ^uint64(0) << bits
	if high {
		return v | mask
	}
	return v &^ mask
}

// WideRegister implements target.Target.
func (c *Core) WideRegister(id target.ThreadID, reg arch.Reg) ([]byte, error) {
	c.base.RLock()
	defer c.base.RUnlock()
	t := c.thread(id)
	if t == nil || c.base.Closed() {
		return nil, target.ErrNoThread
	}
	b, ok := c.wide(t, reg)
	if !ok {
		return nil, target.ErrNoRegister
	}
	return b, nil
}

// An x86 float state has two reserved words, then the part of the FXSAVE area with registers. It
// ends 4 bytes after that. The upper halves of the AVX registers follow 64 bytes later.
const (
	fxsaveAt    = 8
	fxsaveSize  = 512
	upperHalves = fxsaveAt + fxsaveSize + 4 + 64
)

func (c *Core) wide(t *thread, reg arch.Reg) ([]byte, bool) {
	switch c.arch {
	case arch.ARM64:
		if reg < 64 || reg >= 96 {
			return nil, false
		}
		b, ok := cut(t.float, uint64(reg-64)*16, 16)
		return append([]byte(nil), b...), ok
	case arch.I386:
		var ok bool
		if reg, ok = target.I386Wide(reg); !ok {
			return nil, false
		}
	}
	state := t.float
	if t.avx != nil {
		state = t.avx
	}
	if len(state) < fxsaveAt {
		return nil, false
	}
	b, ok := target.AMD64Wide(cutSome(state, fxsaveAt, fxsaveSize), reg)
	if ok && t.avx != nil && reg >= arch.XMM0 && reg < arch.XMM0+16 {
		if upper, there := cut(t.avx, upperHalves+16*uint64(reg-arch.XMM0), 16); there {
			b = append(b, upper...)
		}
	}
	return b, ok
}
