package minidump

import (
	"dbg/arch"
	"dbg/target"
)

// field is one register in a context.
type field struct {
	reg    arch.Reg
	offset uint16
	size   uint8
	part   uint8 // the bit of the context's flags that covers it
}

// The parts of a context: the low bits of its flags. Each processor uses some of them.
const (
	partControl  = 1
	partInteger  = 2
	partSegments = 4
	partX87      = 8    // x86-64: all of FXSAVE
	partFXSAVE   = 0x20 // x86
	partARMFloat = 4
	partXState   = 0x40 // x86, x86-64: a CONTEXT_EX follows
)

// layout describes the context of a processor.
type layout struct {
	arch      *arch.Arch
	flagsAt   int    // offset of the flags
	wideFlags bool   // the flags have 64 bits
	mark      uint32 // the bit of the flags that names the processor
	size      int
	fields    []field
	floatPart uint8 // covers the floating-point registers
	floatAt   int   // their offset: FXSAVE, V0 or D0
}

// layouts lists the contexts: winnt.h's CONTEXT of each processor, and Breakpad's (minidump_cpu_*.h).
// For ARM64 the first is that of Windows and of Breakpad since 2018, the second Breakpad's older
// form, which is packed to 4 bytes. For ARM, Breakpad's form has other flags, and one flag for all
// sixteen registers.
var layouts = []layout{
	{arch: arch.AMD64, flagsAt: 48, mark: 0x00100000, size: 1232, fields: amd64Fields(), floatPart: partX87, floatAt: 256},
	{arch: arch.I386, mark: 0x00010000, size: 716, fields: i386Fields(), floatPart: partFXSAVE, floatAt: 204},
	{arch: arch.ARM64, mark: 0x00400000, size: 912, fields: arm64Fields(8, 4, partControl), floatPart: partARMFloat,
		floatAt: 272},
	{arch: arch.ARM64, wideFlags: true, mark: 0x80000000, size: 796, fields: arm64Fields(8, 272, partInteger),
		floatPart: partARMFloat, floatAt: 284},
	{arch: arch.ARM, mark: 0x00200000, size: 416, fields: armFields(partControl), floatPart: partARMFloat, floatAt: 80},
	{arch: arch.ARM, mark: 0x40000000, size: 368, fields: armFields(partInteger), floatPart: partARMFloat, floatAt: 80},
}

// run returns the fields of registers that follow each other.
func run(offset uint16, size, part uint8, regs ...arch.Reg) []field {
	var out []field
	for i, r := range regs {
		out = append(out, field{r, offset + uint16(i)*uint16(size), size, part})
	}
	return out
}

func amd64Fields() []field {
	out := run(120, 8, partInteger, arch.RAX, arch.RCX, arch.RDX, arch.RBX)
	out = append(out, field{arch.RSP, 152, 8, partControl})
	out = append(out, run(160, 8, partInteger, arch.RBP, arch.RSI, arch.RDI, arch.R8, arch.R9, arch.R10, arch.R11,
		arch.R12, arch.R13, arch.R14, arch.R15)...)
	return append(out, field{arch.RIP, 248, 8, partControl}, field{arch.CS, 56, 2, partControl},
		field{arch.DS, 58, 2, partSegments}, field{arch.ES, 60, 2, partSegments}, field{arch.FS, 62, 2, partSegments},
		field{arch.GS, 64, 2, partSegments}, field{arch.SS, 66, 2, partControl}, field{arch.RFLAGS, 68, 4, partControl})
}

func i386Fields() []field {
	out := run(140, 4, partSegments, 45, 44, 40, 43)                    // gs fs es ds
	out = append(out, run(156, 4, partInteger, 7, 6, 3, 2, 1, 0)...)    // edi esi ebx edx ecx eax
	return append(out, run(180, 4, partControl, 5, 8, 41, 9, 4, 42)...) // ebp eip cs eflags esp ss
}

// arm64Fields returns the fields for X0 at an offset, and CPSR at another. control is the part of FP,
// LR, SP, PC and CPSR.
func arm64Fields(x0, cpsr uint16, control uint8) []field {
	var out []field
	for r := range arch.Reg(33) { // PC is 32, as in DWARF's numbering by this program
		part := uint8(partInteger)
		if r >= 29 {
			part = control
		}
		out = append(out, field{r, x0 + 8*uint16(r), 8, part})
	}
	return append(out, field{arch.ARM64.Flags, cpsr, 4, control})
}

// armFields returns the fields of ARM. control is the part of SP, LR, PC and CPSR.
func armFields(control uint8) []field {
	var out []field
	for r := range arch.Reg(17) { // CPSR is 16
		part := uint8(partInteger)
		if r >= 13 {
			part = control
		}
		out = append(out, field{r, 4 + 4*uint16(r), 4, part})
	}
	return out
}

// flags returns the flags of a context, or 0 if it is cut before them.
func (l *layout) flags(b []byte) uint32 {
	if len(b) < l.flagsAt+4 || l.wideFlags && len(b) < 8 {
		return 0
	}
	return le.Uint32(b[l.flagsAt:])
}

// matches reports whether the flags name the layout's processor. The high bits of Breakpad's older
// ARM contexts are 0, and bit 6 is set; other bits at and above bit 24 are set by Windows for
// exception reporting (CONTEXT_EXCEPTION_ACTIVE and others).
func (l *layout) matches(b []byte) bool {
	f := l.flags(b)
	if l.wideFlags {
		return f&0x80ff0000 == l.mark && le.Uint32(b[4:]) == 0
	}
	const oldARM = 0x40
	if l.arch == arch.ARM && l.mark == 0x40000000 && f&0xffffff00 == 0 && f&oldARM != 0 {
		return true
	}
	if l.mark > 0x00ffffff {
		return f&0xffff0000 == l.mark
	}
	return f&0x00ff0000 == l.mark
}

// layoutOf returns the layout of a context, or nil if its flags fit none of a processor's. With nil
// it looks among the layouts of all processors, and then the size must fit, too.
func layoutOf(a *arch.Arch, b []byte) *layout {
	for i := range layouts {
		l := &layouts[i]
		if a != nil && l.arch != a || a == nil && len(b) != l.size {
			continue
		}
		if l.matches(b) {
			return l
		}
	}
	return nil
}

// decode sets the registers that the context has.
func (l *layout) decode(b []byte, r *arch.Registers) {
	have := uint8(l.flags(b))
	for _, f := range l.fields {
		end := int(f.offset) + int(f.size)
		if have&f.part == 0 || end > len(b) {
			continue
		}
		switch v := b[f.offset:end]; f.size {
		case 8:
			r.Set(f.reg, le.Uint64(v))
		case 4:
			r.Set(f.reg, uint64(le.Uint32(v)))
		default:
			r.Set(f.reg, uint64(le.Uint16(v)))
		}
	}
}

// wide returns the bytes of a register outside the general set.
func (l *layout) wide(b []byte, reg arch.Reg) ([]byte, bool) {
	if uint8(l.flags(b))&l.floatPart == 0 || len(b) < l.floatAt {
		return nil, false
	}
	float := b[l.floatAt:]
	vector := func(size uint64) ([]byte, bool) {
		if reg < 64 || reg >= 96 {
			return nil, false
		}
		v, whole := cut(float, uint64(reg-64)*size, size)
		return append([]byte(nil), v...), whole
	}
	switch l.arch {
	case arch.ARM64:
		return vector(16)
	case arch.ARM:
		return vector(8)
	case arch.I386:
		var ok bool
		if reg, ok = target.I386Wide(reg); !ok {
			return nil, false
		}
	}
	const fxsave = 512
	if len(float) > fxsave {
		float = float[:fxsave:fxsave]
	}
	v, ok := target.AMD64Wide(float, reg)
	if ok && reg >= arch.XMM0 && reg < arch.XMM0+16 {
		v = append(v, l.upper(b, uint64(reg-arch.XMM0))...)
	}
	return v, ok
}

// upper returns the upper half of an AVX register, or nil if the context does not have it. It is in
// the XSAVE area after the context: CONTEXT_EX (winnt.h) has three pairs of offset and length, the
// third for that area, relative to itself. The area begins with the XSAVE header, whose first word
// has bit 2 set if the upper halves are stored. They follow the header.
func (l *layout) upper(b []byte, i uint64) []byte {
	const avx, header = 4, 64
	if uint8(l.flags(b))&partXState == 0 || len(b) < l.size+24 {
		return nil
	}
	ex := b[l.size:]
	at := int64(l.size) + int64(int32(le.Uint32(ex[16:])))
	if at < int64(l.size) {
		return nil
	}
	area, _ := cut(b, uint64(at), uint64(le.Uint32(ex[20:])))
	if len(area) < header || le.Uint64(area)&avx == 0 {
		return nil
	}
	if v, whole := cut(area, header+16*i, 16); whole {
		return v
	}
	return nil
}
