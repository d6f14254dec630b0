package compact

import (
	"fmt"
	"strings"

	"dbg/arch"
)

// Opcode says how to unwind; Apple's header calls it an encoding.
type Opcode uint32

// The bits that all architectures share.
const (
	notFunctionStart = 1 << 31
	hasLSDA          = 1 << 30
	personalityShift = 28 // 2 bits
	kindShift        = 24 // 4 bits
	kindMask         = 0xf << kindShift
	valueMask        = 1<<kindShift - 1
)

// Kind is what an opcode means, whatever its number on the architecture.
type Kind uint8

const (
	Unknown           Kind = iota
	None                   // the null opcode: there is no unwind information
	Frame                  // there is a frame pointer
	Frameless              // CFA is SP plus a size that the opcode says
	FramelessIndirect      // CFA is SP plus a size that the function's code says
	DWARF                  // there is an FDE in __eh_frame
)

var kindNames = [...]string{"unknown", "none", "frame", "frameless", "frameless, indirect", "DWARF"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Unknown]
}

// The kinds by their number.
var (
	kindsX86   = [16]Kind{1: Frame, 2: Frameless, 3: FramelessIndirect, 4: DWARF}
	kindsARM64 = [16]Kind{2: Frameless, 3: DWARF, 4: Frame}
)

// StartsFunction tells that the entry starts a function: its bit for the contrary is clear.
func (o Opcode) StartsFunction() bool { return o&notFunctionStart == 0 }

// HasLSDA tells that the LSDA index has an entry for it that is to be used.
func (o Opcode) HasLSDA() bool { return o&hasLSDA != 0 }

// Personality is the number of the personality routine from 1, or 0 for none.
func (o Opcode) Personality() int { return int(o>>personalityShift) & 3 }

// Kind of the opcode. Kind 0 is None if nothing else but the bits that all architectures share is set.
func (o Opcode) Kind(a *arch.Arch) Kind {
	if o&(kindMask|valueMask) == 0 {
		return None
	}
	switch a {
	case arch.AMD64, arch.I386:
		return kindsX86[o>>kindShift&15]
	case arch.ARM64:
		return kindsARM64[o>>kindShift&15]
	}
	return Unknown
}

// String is the opcode in words that a person can check, on an architecture: "frame: rbx at CFA-24, r14 at CFA-16".
func (o Opcode) String(a *arch.Arch) string {
	b, err := o.Decode(a)
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	switch b.Kind {
	case None:
		s.WriteString("none")
	case Frame:
		fmt.Fprintf(&s, "frame: CFA=%s%+d", a.RegName(a.FP), b.Size)
	case Frameless:
		fmt.Fprintf(&s, "frameless: CFA=%s%+d", a.RegName(a.SP), b.Size)
	case FramelessIndirect:
		fmt.Fprintf(&s, "frameless: CFA=%s%+d+[function+%d]", a.RegName(a.SP), b.Size, b.SizeAt)
	case DWARF:
		fmt.Fprintf(&s, "DWARF: __eh_frame+0x%x", b.FDE)
	}
	for _, r := range b.Saved() {
		fmt.Fprintf(&s, ", %s at CFA%+d", a.RegName(r.Reg), r.At)
	}
	if p := o.Personality(); p != 0 {
		fmt.Fprintf(&s, ", personality %d", p)
	}
	if o.HasLSDA() {
		s.WriteString(", LSDA")
	}
	if !o.StartsFunction() {
		s.WriteString(", not a function's start")
	}
	return s.String()
}
