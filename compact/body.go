package compact

import (
	"fmt"

	"dbg/arch"
)

// Body is what an opcode says of a function's body.
type Body struct {
	Kind Kind

	// Size is what the CFA is above the frame pointer (Frame) or the stack pointer. Of FramelessIndirect, it is to be added to
	// the number of 4 bytes that stands SizeAt bytes behind the function's start.
	Size   int64
	SizeAt uint64

	FDE uint32 // of DWARF: its offset in __eh_frame; 0 also where the offset was too large to say

	saved [maxSaved]Saved
	n     int
}

// Saved is a register that is saved at an offset from the CFA.
type Saved struct {
	Reg arch.Reg
	At  int64
}

// maxSaved is how many registers an opcode can name: arm64's nine pairs, and frame pointer and return address.
const maxSaved = 20

// Saved gives the saved registers, the return address where it is on the stack too.
func (b *Body) Saved() []Saved { return b.saved[:b.n] }

func (b *Body) save(r arch.Reg, at int64) {
	b.saved[b.n] = Saved{r, at}
	b.n++
}

// Decode tells what the opcode says. An error names what is unknown or contradicts itself.
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
	return o.decodeX86(a, b)
}

func (o Opcode) wrong(format string, args ...any) error {
	return fmt.Errorf("opcode 0x%08x: %s", uint32(o), fmt.Sprintf(format, args...))
}
