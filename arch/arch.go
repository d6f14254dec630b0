package arch

import "encoding/binary"

// Reg is a register's DWARF number, as assigned by its architecture's ABI. It is always below
// MaxRegs. Arch.FromDWARF converts an untrusted number.
type Reg uint16

// MaxRegs is the number of slots in a register file. It covers every DWARF number that unwinding
// and variables use on the supported architectures. ARM's D0..D31 (256..287) are in 64..95, a range
// that the ARM ABI no longer uses.
const MaxRegs = 96

// NoReg means that there is no register.
const NoReg Reg = 0xffff

// Arch holds the facts about one architecture. Its fields must not be changed.
type Arch struct {
	Name      string           // Go's name: "amd64", "386", "arm64", "arm", "riscv64"
	PtrSize   int              // bytes in an address
	ByteOrder binary.ByteOrder // of data in memory

	PC Reg // program counter; it has a slot even if DWARF has no number for it
	SP Reg // stack pointer
	FP Reg // frame pointer, by the ABI's convention
	LR Reg // link register, or NoReg if a call pushes its return address

	// Flags is the slot of the processor's status register, or NoReg.
	Flags Reg

	// RegNames holds the usual lower-case name of each slot, or "" for an unused slot.
	RegNames [MaxRegs]string

	// General lists the registers that "info registers" shows, in the usual order.
	General []Reg

	// User lists the kernel's user register set in order, one word each: the pr_reg of NT_PRSTATUS
	// (<asm/elf.h>, <asm/ptrace.h>). NoReg stands for a word that is not a register.
	User []Reg

	// CalleeSaved lists the registers that a function must preserve under the platform's usual ABI,
	// without SP.
	CalleeSaved []Reg

	// CalleeSavedSet is CalleeSaved as a set.
	CalleeSavedSet RegSet

	// Breakpoint holds the bytes of the trap instruction. BreakpointAdjust is the number of bytes
	// that the PC has moved past its start when the trap is reported.
	Breakpoint       []byte
	BreakpointAdjust uint64

	MinInstr int // size of the smallest instruction in bytes; every PC is a multiple of it
	MaxInstr int // size of the largest instruction in bytes

	// fromDWARF maps DWARF numbers at or above MaxRegs to slots, or all numbers if remapped is set. It
	// is nil if there are none.
	fromDWARF func(uint64) (Reg, bool)
	remapped  bool
}

// FromDWARF returns the register with DWARF number n on this architecture. It returns false if no
// slot exists for n, which may come from a corrupt file.
func (a *Arch) FromDWARF(n uint64) (Reg, bool) {
	if n < MaxRegs && !a.remapped {
		return Reg(n), true
	}
	if a.fromDWARF != nil {
		return a.fromDWARF(n)
	}
	return NoReg, false
}

// RegName returns the register's usual name, or "" for a slot that this architecture does not use.
func (a *Arch) RegName(r Reg) string {
	if int(r) >= len(a.RegNames) {
		return ""
	}
	return a.RegNames[r]
}

// RegByName returns the register with a name, which is written without "%" or "$". The generic
// names pc, sp and fp work on every architecture.
func (a *Arch) RegByName(name string) (Reg, bool) {
	switch name {
	case "":
		return NoReg, false
	case "pc":
		return a.PC, true
	case "sp":
		return a.SP, true
	case "fp":
		return a.FP, true
	}
	for r, n := range a.RegNames {
		if n == name {
			return Reg(r), true
		}
	}
	return NoReg, false
}

// All lists the supported architectures.
func All() []*Arch { return []*Arch{AMD64, I386, ARM64, ARM, RISCV64} }

// ByName returns the architecture with a Go name, or nil.
func ByName(name string) *Arch {
	for _, a := range All() {
		if a.Name == name {
			return a
		}
	}
	return nil
}
