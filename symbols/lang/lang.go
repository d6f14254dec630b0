package lang

import (
	"strings"

	"dbg/dwarf"
)

// Lang is the language of a compilation unit.
type Lang uint8

// The languages. Unknown stands for all others.
const (
	Unknown Lang = iota
	C
	CPlusPlus
	Rust
	Go
	Asm
)

// Of returns the language of a unit. A unit of the GNU assembler is Asm, whatever code it has.
func Of(u *dwarf.Unit) Lang {
	root := u.Root()
	if strings.HasPrefix(root.Producer, "GNU AS") {
		return Asm
	}
	return FromCode(root.Language)
}

// FromCode returns the language of a DW_LANG_ code.
func FromCode(code uint64) Lang {
	switch code {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e:
		return C
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a:
		return CPlusPlus
	case 0x1c:
		return Rust
	case 0x16:
		return Go
	case 0x8001, 0x31:
		return Asm
	}
	return Unknown
}

// Scoped reports whether structures of the language may contain functions and types.
func (l Lang) Scoped() bool { return l != C && l != Go }

// Flat reports whether the names of the language have no namespaces or classes in front of them.
func (l Lang) Flat() bool { return l == C || l == Go || l == Asm }
