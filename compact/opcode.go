package compact

import (
	"fmt"
	"strings"

	"dbg/arch"
)

// Opcode describes how to unwind. Apple's header calls it an encoding.
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

// Kind is the kind of an opcode, independent of its number on the architecture.
type Kind uint8

const (
	Unknown           Kind = iota
	None                   // the null opcode: there is no unwind information
	Frame                  // there is a frame pointer
	Frameless              // CFA is SP plus a size in the opcode
	FramelessIndirect      // CFA is SP plus a size in the function's code
	DWARF                  // there is an FDE in __eh_frame
)

var kindNames = [...]string{"unknown", "none", "frame", "frameless", "frameless, indirect", "DWARF"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Unknown]
}

// The kinds by number.
var (
	kindsX86   = [16]Kind{1: Frame, 2: Frameless, 3: FramelessIndirect, 4: DWARF}
	kindsARM64 = [16]Kind{2: Frameless, 3: DWARF, 4: Frame}
	kindsARM   = [16]Kind{1: Frame, armFrameD: Frame, 4: DWARF}
)

// StartsFunction reports whether the entry starts a function, which means that notFunctionStart
// is clear.
func (o Opcode) StartsFunction() bool { return o&notFunctionStart == 0 }

// HasLSDA reports whether the LSDA index has an entry to use for this opcode.
func (o Opcode) HasLSDA() bool { return o&hasLSDA != 0 }

// Personality returns the number of the personality routine, from 1, or 0 for none.
func (o Opcode) Personality() int { return int(o>>personalityShift) & 3 }

// Kind returns the opcode's kind. Kind 0 is None if only the bits that all architectures share
// are set.
func (o Opcode) Kind(a *arch.Arch) Kind {
	if o&(kindMask|valueMask) == 0 {
		return None
	}
	switch a {
	case arch.AMD64, arch.I386:
		return kindsX86[o>>kindShift&15]
	case arch.ARM64:
		return kindsARM64[o>>kindShift&15]
	case arch.ARM:
		return kindsARM[o>>kindShift&15]
	}
	return Unknown
}

// framePointer returns the register from which frames with a frame pointer are counted.
func framePointer(a *arch.Arch) arch.Reg {
	if a == arch.ARM {
		return framePointerARM
	}
	return a.FP
}

// String describes the opcode for an architecture in words: "frame: rbx at CFA-24, r14 at
// CFA-16".
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
		fmt.Fprintf(&s, "frame: CFA=%s%+d", a.RegName(framePointer(a)), b.Size)
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
		s.WriteString(", not a function start")
	}
	return s.String()
}
