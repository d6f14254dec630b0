package compact

import (
	"fmt"

	"dbg/arch"
)

// Body is the decoded meaning of an opcode: how to unwind from a function's body.
type Body struct {
	Kind Kind

	// Size is the distance in bytes from the frame pointer (Frame) or the stack pointer up to the
	// CFA. For FramelessIndirect, it is added to the 4-byte number that is SizeAt bytes after the
	// function's start.
	Size   int64
	SizeAt uint64

	FDE uint32 // for DWARF: offset of the FDE in __eh_frame; also 0 if the offset was too large to encode

	saved [maxSaved]Saved
	n     int
}

// Saved is a register that is saved at an offset from the CFA, in bytes.
type Saved struct {
	Reg arch.Reg
	At  int64
}

// maxSaved is the largest number of registers in an opcode: arm64's nine pairs, the frame pointer
// and the return address.
const maxSaved = 20

// Saved returns the saved registers, including the return address if it is on the stack.
func (b *Body) Saved() []Saved { return b.saved[:b.n] }

func (b *Body) save(r arch.Reg, at int64) {
	b.saved[b.n] = Saved{r, at}
	b.n++
}

// Decode decodes the opcode. The error names the part that is unknown or contradictory.
func (o Opcode) Decode(a *arch.Arch) (Body, error) {
	var b Body
	err := o.decode(a, &b)
	return b, err
}

func (o Opcode) decode(a *arch.Arch, b *Body) error {
	b.Kind, b.Size, b.SizeAt, b.FDE, b.n = o.Kind(a), 0, 0, 0, 0
	switch b.Kind {
	case None:
		return nil
	case DWARF:
		b.FDE = uint32(o & valueMask)
		return nil
	case Unknown:
		return fmt.Errorf("opcode 0x%08x: kind %d of %s is unknown", uint32(o), o>>kindShift&15, a.Name)
	}
	if a == arch.ARM64 {
		return o.decodeARM64(b)
	}
	if a == arch.ARM {
		return o.decodeARM(b)
	}
	return o.decodeX86(a, b)
}

func (o Opcode) wrong(format string, args ...any) error {
	return fmt.Errorf("opcode 0x%08x: %s", uint32(o), fmt.Sprintf(format, args...))
}
