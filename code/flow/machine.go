package flow

import (
	"dbg/arch"
	"dbg/code"
)

// machine describes the registers of an architecture.
type machine struct {
	arch   *arch.Arch
	sp, fp uint8
	link   uint8 // slot of the link register; None if a call pushes the return address
	nregs  int
	nslots int
	slot   [32]int8           // number -> slot; -1 for registers that a function need not preserve
	regs   [32]arch.Reg       // number -> DWARF number
	saved  [MaxSlots]arch.Reg // slot -> DWARF number
	order  []uint8            // registers; those that are most useful to callers come first
	call   uint32             // registers that a called function may change
	keeps  uint32             // registers that a function must preserve, or that lead to the caller
	probe  uint8              // holds the size of a large frame while its pages are touched
}

// MaxSlots is the largest number of registers that a function must preserve, including the link
// register.
const MaxSlots = 20

var amd64 = &machine{
	arch: arch.AMD64, sp: 4, fp: 5, link: code.None, nregs: 16, nslots: 6,
	slot: [32]int8{-1, -1, -1, 0, -1, 1, -1, -1, -1, -1, -1, -1, 2, 3, 4, 5},
	regs: [32]arch.Reg{arch.RAX, arch.RCX, arch.RDX, arch.RBX, arch.RSP, arch.RBP, arch.RSI, arch.RDI,
		arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15},
	saved: [MaxSlots]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15},
	order: []uint8{4, 5, 3, 12, 13, 14, 15, 0, 1, 2, 6, 7, 8, 9, 10, 11},
	call:  code.ChangedByCall(arch.AMD64),
	keeps: 0xf038, // RBX, RSP, RBP, R12 to R15
	probe: 0,      // RAX
}

var arm64 = func() *machine {
	m := &machine{arch: arch.ARM64, sp: 31, fp: 29, link: 11, nregs: 32, nslots: MaxSlots, probe: 9}
	m.call, m.keeps = code.ChangedByCall(arch.ARM64), 0xfff80000
	m.order = []uint8{31, 29}
	for n := range 32 {
		m.slot[n], m.regs[n] = -1, arch.Reg(n)
		if 19 <= n && n <= 30 {
			m.slot[n] = int8(n - 19)
			m.saved[n-19] = arch.Reg(n)
		}
		if n < 29 {
			m.order = append(m.order, uint8(28-n)) // x28 first: callers know those that are preserved
		}
	}
	for i := range 8 {
		m.saved[12+i] = arch.Reg(72 + i) // D8 to D15
	}
	return m
}()

// i386 is 32-bit x86. Registers 8 to 15 do not exist.
var i386 = &machine{
	arch: arch.I386, sp: 4, fp: 5, link: code.None, nregs: 8, nslots: 4,
	slot: [32]int8{-1, -1, -1, 0, -1, 1, 2, 3, -1, -1, -1, -1, -1, -1, -1, -1,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
	regs:  [32]arch.Reg{0, 1, 2, 3, 4, 5, 6, 7},
	saved: [MaxSlots]arch.Reg{3, 5, 6, 7},
	order: []uint8{4, 5, 3, 6, 7, 0, 1, 2},
	call:  code.ChangedByCall(arch.I386),
	keeps: 0xf8, // EBX, ESP, EBP, ESI, EDI
	probe: code.None,
}

// arm is 32-bit ARM with the registers of the AAPCS. D8 to D15 are not tracked.
var arm = func() *machine {
	m := &machine{arch: arch.ARM, sp: 13, fp: 11, link: 0, nregs: 16, nslots: 9, probe: code.None}
	m.call, m.keeps = code.ChangedByCall(arch.ARM), 0xff0|3<<13
	m.order = []uint8{13, 11, 7, 4, 5, 6, 8, 9, 10, 12, 3, 2, 1, 0, 14}
	for n := range 32 {
		m.slot[n], m.regs[n] = -1, arch.Reg(n)
	}
	for i, n := range []int{14, 4, 5, 6, 7, 8, 9, 10, 11} {
		m.slot[n], m.saved[i] = int8(i), arch.Reg(n)
	}
	return m
}()

// riscv64 is RV64 with the registers of the psABI.
var riscv64 = func() *machine {
	m := &machine{arch: arch.RISCV64, sp: 2, fp: 8, link: 0, nregs: 32, nslots: 13, probe: code.None}
	m.call = code.ChangedByCall(arch.RISCV64)
	m.keeps = 1<<1 | 1<<2 | 3<<8 | 0x3ff<<18
	m.order = []uint8{2, 8, 9}
	for n := range 32 {
		m.slot[n], m.regs[n] = -1, arch.Reg(n)
	}
	for i, n := range []int{1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27} { // ra, s0 to s11
		m.slot[n], m.saved[i] = int8(i), arch.Reg(n)
	}
	for n := 31; n > 0; n-- {
		if n != 2 && n != 8 && n != 9 {
			m.order = append(m.order, uint8(n))
		}
	}
	return m
}()

func machineOf(a *arch.Arch) *machine {
	switch a {
	case arch.AMD64:
		return amd64
	case arch.ARM64:
		return arm64
	case arch.RISCV64:
		return riscv64
	case arch.I386:
		return i386
	case arch.ARM:
		return arm
	}
	return nil
}

// entrySP returns the offset of the stack pointer from the CFA at a function's first instruction.
func (m *machine) entrySP() int32 {
	if m.link == code.None {
		return -int32(m.arch.PtrSize)
	}
	return 0
}

// slotOf returns the slot of a register, including D registers, or -1 if it has none.
func (m *machine) slotOf(n uint8) int {
	switch {
	case n < 32:
		return int(m.slot[n])
	case code.D0+8 <= n && n < code.D0+16 && m == arm64:
		return int(n-code.D0-8) + 12
	}
	return -1
}

// LinkSlot returns the slot of the link register, or -1 if a call pushes the return address.
func LinkSlot(a *arch.Arch) int {
	if m := machineOf(a); m != nil && m.link != code.None {
		return int(m.link)
	}
	return -1
}

// Slots lists the registers described by Frame.Regs, by slot.
func Slots(a *arch.Arch) []arch.Reg {
	if m := machineOf(a); m != nil {
		return m.saved[:m.nslots]
	}
	return nil
}

// Machine describes the registers of an architecture.
type Machine struct{ m *machine }

// MachineOf returns the machine of a supported architecture.
func MachineOf(a *arch.Arch) Machine { return Machine{machineOf(a)} }

// Saves returns the mask of registers that an instruction stores relative to the stack pointer or
// the frame pointer.
func (m Machine) Saves(in *code.Insn) uint32 {
	if in.Op == code.Push || in.Base == m.m.sp || in.Op == code.Store && in.Base == m.m.fp {
		return in.Stores()
	}
	return 0
}

// FreesStack reports whether an instruction removes words from the stack.
func (m Machine) FreesStack(in *code.Insn) bool {
	return in.Op == code.Pop || in.Op == code.Leave || in.Op == code.Add && in.Dst == m.m.sp && in.Src == m.m.sp && in.Imm > 0
}

// SlotsOf returns the mask of the slots for a mask of registers.
func (m Machine) SlotsOf(regs uint32) (slots uint32) {
	for n := uint8(0); regs != 0; n, regs = n+1, regs>>1 {
		if i := m.m.slotOf(n); regs&1 != 0 && i >= 0 {
			slots |= 1 << i
		}
	}
	return slots
}
