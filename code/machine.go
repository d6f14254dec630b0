package code

import "dbg/arch"

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
	arch: arch.AMD64, sp: 4, fp: 5, link: None, nregs: 16, nslots: 6,
	slot: [32]int8{-1, -1, -1, 0, -1, 1, -1, -1, -1, -1, -1, -1, 2, 3, 4, 5},
	regs: [32]arch.Reg{arch.RAX, arch.RCX, arch.RDX, arch.RBX, arch.RSP, arch.RBP, arch.RSI, arch.RDI,
		arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15},
	saved: [MaxSlots]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15},
	order: []uint8{4, 5, 3, 12, 13, 14, 15, 0, 1, 2, 6, 7, 8, 9, 10, 11},
	call:  1<<rax | 1<<rcx | 1<<rdx | 1<<rsi | 1<<rdi | 0xf00,
	keeps: 1<<rbx | 1<<rbp | 1<<rsp | 0xf000,
	probe: rax,
}

var arm64 = func() *machine {
	m := &machine{arch: arch.ARM64, sp: 31, fp: 29, link: 11, nregs: 32, nslots: MaxSlots, probe: 9}
	m.call, m.keeps = 0x7ffff|1<<30, 0xfff80000
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
	if m.link == None {
		return -int32(m.arch.PtrSize)
	}
	return 0
}

// slotOf returns the slot of a register, including D registers, or -1 if it has none.
func (m *machine) slotOf(n uint8) int {
	switch {
	case n < 32:
		return int(m.slot[n])
	case dreg+8 <= n && n < dreg+16 && m == arm64:
		return int(n-dreg-8) + 12
	}
	return -1
}

// Register numbers of x86-64.
const (
	rax, rcx, rdx, rbx = 0, 1, 2, 3
	rsp, rbp, rsi, rdi = 4, 5, 6, 7
)

// Decode decodes the instruction at the start of b. The architecture must be Supported. For arm
// it decodes ARM code; see DecodeThumb for Thumb.
func Decode(a *arch.Arch, b []byte) Insn {
	switch a {
	case arch.ARM64:
		return DecodeARM64(b)
	case arch.RISCV64:
		return DecodeRISCV(b)
	case arch.I386:
		return DecodeI386(b)
	case arch.ARM:
		return DecodeARM(b)
	}
	return DecodeX86(b)
}

// LinkSlot returns the slot of the link register, or -1 if a call pushes the return address.
func LinkSlot(a *arch.Arch) int {
	if m := machineOf(a); m != nil && m.link != None {
		return int(m.link)
	}
	return -1
}

// Supported reports whether this package can follow the instructions of an architecture.
func Supported(a *arch.Arch) bool { return machineOf(a) != nil }

// Slots lists the registers described by Frame.Regs, by slot.
func Slots(a *arch.Arch) []arch.Reg {
	if m := machineOf(a); m != nil {
		return m.saved[:m.nslots]
	}
	return nil
}
