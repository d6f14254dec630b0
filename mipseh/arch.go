package mipseh

import (
	"encoding/binary"

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
)

// ArchOf returns the facts about MIPS that printing rows needs.
func ArchOf(abi ABI, order binary.ByteOrder) *arch.Arch {
	return arch.WithOrder(map[ABI]*arch.Arch{O32: arch.MIPS32, N32: arch.N32, N64: arch.MIPS64}[abi], order)
}
