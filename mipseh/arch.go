package mipseh

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
)

// ABI is a calling convention of MIPS.
type ABI uint8

const (
	O32 ABI = iota // registers are saved in 4 bytes; the stack is aligned to 8
	N32            // registers are saved in 8 bytes; the stack is aligned to 16
	N64
)

func (a ABI) String() string { return [...]string{"o32", "n32", "n64"}[a] }

func (a ABI) registerSize() int64 {
	if a == O32 {
		return 4
	}
	return 8
}

func (a ABI) stackAlign() int64 { return 2 * a.registerSize() }

// DWARF numbers of MIPS.
const (
	firstSaved = 16 // s0
	gp         = 28
	sp         = 29
	fp         = 30 // s8
	ra         = 31
	firstFloat = 32 // f0
	pc         = 66 // a slot of ours
)

// ArchOf returns the facts about MIPS that printing rows needs. Package arch does not list it: nothing else
// supports MIPS.
func ArchOf(abi ABI, order binary.ByteOrder) *arch.Arch {
	a := &arch.Arch{Name: "mips", PtrSize: 4, ByteOrder: order,
		PC: pc, SP: sp, FP: fp, LR: ra, Flags: arch.NoReg, MinInstr: 2, MaxInstr: 4}
	if abi == N64 {
		a.Name, a.PtrSize = "mips64", 8
	}
	copy(a.RegNames[:], []string{"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3",
		"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7",
		"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra"})
	for i := range 32 {
		a.RegNames[firstFloat+i] = fmt.Sprintf("f%d", i)
	}
	a.RegNames[64], a.RegNames[65], a.RegNames[pc] = "hi", "lo", "pc"
	a.CalleeSaved = []arch.Reg{16, 17, 18, 19, 20, 21, 22, 23, fp}
	a.CalleeSavedSet = arch.SetOf(a.CalleeSaved...)
	return a
}
