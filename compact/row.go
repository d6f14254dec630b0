package compact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"dbg/arch"
	"dbg/row"
)

// ErrNone reports that the entry has the null opcode: the compiler or the linker had no unwind
// information.
var ErrNone = errors.New("the entry has no unwind information")

// ErrDWARF reports that __eh_frame has the function's unwind information.
type ErrDWARF struct {
	// FDE is the offset of its FDE in __eh_frame. Linkers write 0 if the offset has more than 24
	// bits: then look up the FDE by address.
	FDE uint32
}

func (e *ErrDWARF) Error() string {
	return fmt.Sprintf("the function's unwind information is the FDE at __eh_frame+0x%x", e.FDE)
}

// Row fills r with the row that is valid in the body of the function to which e belongs. Lo and
// Hi are those of the entry. The function does not change registers without a rule, as far as the
// format can tell.
func (t *Table) Row(e *Entry, r *row.Row) error {
	var b Body
	if err := e.Opcode.decode(t.arch, &b); err != nil {
		return t.at(e, err)
	}
	var sub int64
	switch b.Kind {
	case None:
		return ErrNone
	case DWARF:
		return &ErrDWARF{b.FDE}
	case FramelessIndirect:
		var err error
		if sub, err = t.indirect(e, &b); err != nil {
			return err
		}
	}
	t.fill(&b, sub, r)
	r.Lo, r.Hi, r.Source = e.Lo, e.Hi, uint64(e.Offset)
	return nil
}

func (t *Table) at(e *Entry, err error) error { return &Error{e.Offset, err.Error()} }

// fill makes the row of a body. sub is the indirect size.
func (t *Table) fill(b *Body, sub int64, r *row.Row) {
	a := t.arch
	r.Reset()
	if r.RA = a.LR; a.LR == arch.NoReg {
		r.RA = a.PC
	}
	r.CFA = row.Rule{Kind: row.InReg, Reg: a.SP, N: b.Size + sub}
	if b.Kind == Frame {
		r.CFA.Reg = framePointer(a)
	}
	for _, s := range b.Saved() {
		r.Regs = append(r.Regs, row.RegRule{Reg: s.Reg, Rule: row.Rule{Kind: row.At, N: s.At}})
	}
}

// subAMD64 and subI386 are "sub $imm32, %rsp" and "sub $imm32, %esp" up to the immediate operand.
var (
	subAMD64 = []byte{0x48, 0x81, 0xec}
	subI386  = []byte{0x81, 0xec}
)

// indirect reads the size of the frame from the instruction that allocates it. The opcode gives
// the offset of its immediate operand. The bytes before the operand are checked: the compiler of
// Xcode 6 wrote wrong offsets.
func (t *Table) indirect(e *Entry, b *Body) (int64, error) {
	start, err := t.FunctionStart(e)
	if err != nil {
		return 0, err
	}
	sub := subAMD64
	if t.arch == arch.I386 {
		sub = subI386
	}
	at := start + b.SizeAt - uint64(len(sub))
	var code []byte
	if t.code != nil && b.SizeAt >= uint64(len(sub)) {
		code = t.code(at, len(sub)+4)
	}
	if len(code) < len(sub)+4 {
		return 0, defect(e.Offset, "the size of the frame is in the code at 0x%x, which can't be read", at+uint64(len(sub)))
	}
	if !bytes.HasPrefix(code, sub) {
		return 0, defect(e.Offset, "the size of the frame is in the code at 0x%x, but there is no \"sub\" from the stack pointer", at+uint64(len(sub)))
	}
	n := int64(int32(binary.LittleEndian.Uint32(code[len(sub):])))
	if n < 0 || n+b.Size < int64(b.n*t.arch.PtrSize) {
		return 0, defect(e.Offset, "a frame of %d bytes, which the code at 0x%x makes, has no room for the return address and %d registers",
			n+b.Size, at, b.n-1)
	}
	return n, nil
}
