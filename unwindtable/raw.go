package unwindtable

import (
	"fmt"
	"strconv"

	"dbg/arch"
	"dbg/cfi"
	safe "dbg/internal/plain"
)

// raw is what readelf --debug-dump=frames prints.
type raw struct {
	line  []byte
	ended bool // the last entry was a terminator: readelf prints one of several
}

func (w *raw) begin(p *printer, s *source) {
	w.ended = false
	fmt.Fprintf(p.out, "Contents of the %s section:\n\n", s.section)
}

func (w *raw) defect(p *printer, offset uint64, err error) {
	fmt.Fprintf(p.out, "\n%08x error: %v\n", offset, err)
}

func (w *raw) entry(p *printer, s *source, e *cfi.Entry) {
	digits := 2 * p.f.arch.PtrSize
	id := 8
	if e.Wide {
		id = 16
	}
	if w.ended && e.Kind == cfi.Terminator {
		return
	}
	w.ended = e.Kind == cfi.Terminator
	fmt.Fprintf(p.out, "\n%08x ", e.Offset)
	switch e.Kind {
	case cfi.Terminator:
		fmt.Fprint(p.out, "ZERO terminator\n\n")
		return
	case cfi.IsCIE:
		fmt.Fprintf(p.out, "%0*x %0*x CIE\n", digits, e.Length, id, e.ID)
		w.cie(p, &e.CIE)
	case cfi.IsFDE:
		fmt.Fprintf(p.out, "%0*x %0*x FDE cie=%08x pc=%0*x..%0*x\n", digits, e.Length, id, e.ID, e.CIE.Offset, digits, e.FDE.Lo, digits, e.FDE.Hi)
	}
	if data := s.table.AugmentationData(e); len(data) > 0 {
		fmt.Fprintf(p.out, "  Augmentation data:     % x\n", data)
	}
	for i, err := range s.table.Instructions(e) {
		if err != nil {
			fmt.Fprintf(p.out, "  error: %v\n", err)
			return
		}
		w.line = append(w.instruction(append(w.line[:0], ' ', ' '), p.f.arch, &e.CIE, i), '\n')
		p.out.Write(w.line)
	}
}

func (w *raw) cie(p *printer, c *cfi.CIE) {
	fmt.Fprintf(p.out, "  Version:               %d\n", c.Version)
	fmt.Fprintf(p.out, "  Augmentation:          \"%s\"\n", safe.Line(string(c.Augmentation)))
	if c.Version >= 4 {
		fmt.Fprintf(p.out, "  Pointer Size:          %d\n", c.AddrSize)
		fmt.Fprintf(p.out, "  Segment Size:          %d\n", c.SegSize)
	}
	fmt.Fprintf(p.out, "  Code alignment factor: %d\n", c.CodeAlign)
	fmt.Fprintf(p.out, "  Data alignment factor: %d\n", c.DataAlign)
	fmt.Fprintf(p.out, "  Return address column: %d\n", c.RAColumn)
}

// instruction appends one instruction with its operands, factored ones multiplied.
func (w *raw) instruction(b []byte, a *arch.Arch, c *cfi.CIE, i *cfi.Instruction) []byte {
	form := &forms[i.Op]
	b = append(b, "DW_CFA_"...)
	if i.Op == 0x2d && a == arch.ARM64 { // the same number
		return append(b, "AARCH64_negate_ra_state"...)
	}
	if form.name == "" {
		return fmt.Appendf(b, "??? (User defined call frame op: %#x)", i.Op)
	}
	b = append(b, form.name...)
	if form.shape == none {
		return b
	}
	if form.shape == block {
		return append(append(append(b, " ("...), operations(a, i.Block)...), ')')
	}
	b = append(b, ": "...)
	arg := i.Arg
	switch form.shape {
	case move:
		b = strconv.AppendUint(b, arg[0]*c.CodeAlign, 10)
		return appendPadded(append(b, " to "...), i.Loc, 2*a.PtrSize)
	case place:
		return appendPadded(b, i.Loc, 2*a.PtrSize)
	case plain:
		return strconv.AppendUint(b, arg[0], 10)
	case plainFactored:
		return strconv.AppendInt(b, int64(arg[0])*c.DataAlign, 10)
	}
	if arg[0] > maxPeerRegister {
		b = append(b, "bad register: "...)
	}
	b = appendReg(b, a, arg[0])
	switch form.shape {
	case regAt:
		return appendSigned(append(b, " at cfa"...), int64(arg[1])*c.DataAlign)
	case regAtNegative:
		return appendSigned(append(b, " at cfa"...), -int64(arg[1])*c.DataAlign)
	case regIs:
		return appendSigned(append(b, " is cfa"...), int64(arg[1])*c.DataAlign)
	case regIn:
		return appendReg(append(b, " in "...), a, arg[1])
	case regOffset:
		return strconv.AppendUint(append(b, " ofs "...), arg[1], 10)
	case regOffsetFactored:
		return strconv.AppendInt(append(b, " ofs "...), int64(arg[1])*c.DataAlign, 10)
	case regBlock:
		return append(append(append(b, " ("...), operations(a, i.Block)...), ')')
	}
	return b
}

// maxPeerRegister is the largest number of a register that readelf accepts. LLVM numbers the return address of
// the 68000 -1.
const maxPeerRegister = 4096

// appendReg writes a register as readelf does, "r7 (rsp)", by its DWARF number.
func appendReg(b []byte, a *arch.Arch, n uint64) []byte {
	b = strconv.AppendInt(append(b, 'r'), int64(int32(n)), 10)
	if name := peerName(a, n); name != "" {
		b = append(append(append(b, " ("...), name...), ')')
	}
	return b
}

// appendPadded writes an address with all its digits.
func appendPadded(b []byte, v uint64, digits int) []byte {
	for n := hexDigits(v); n < digits; n++ {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, v, 16)
}
