package unwindtable

import (
	"fmt"

	"dbg/arch"
	"dbg/cfi"
)

// raw is what readelf --debug-dump=frames prints.
type raw struct {
	ended bool // the last entry was a terminator: readelf prints one of several
}

func (w *raw) begin(p *printer, s *source) {
	w.ended = false
	fmt.Fprintf(p.out, "Contents of the %s section:\n\n", s.section)
}

func (w *raw) defect(p *printer, s *source, e *cfi.Entry, err error) {
	fmt.Fprintf(p.out, "\n%08x error: %v\n", e.Offset, err)
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
		fmt.Fprintf(p.out, "  %s\n", instruction(p.f.arch, &e.CIE, i))
	}
}

func (w *raw) cie(p *printer, c *cfi.CIE) {
	fmt.Fprintf(p.out, "  Version:               %d\n", c.Version)
	fmt.Fprintf(p.out, "  Augmentation:          \"%s\"\n", c.Augmentation)
	if c.Version >= 4 {
		fmt.Fprintf(p.out, "  Pointer Size:          %d\n", c.AddrSize)
		fmt.Fprintf(p.out, "  Segment Size:          %d\n", c.SegSize)
	}
	fmt.Fprintf(p.out, "  Code alignment factor: %d\n", c.CodeAlign)
	fmt.Fprintf(p.out, "  Data alignment factor: %d\n", c.DataAlign)
	fmt.Fprintf(p.out, "  Return address column: %d\n", c.RAColumn)
}

// instruction is one instruction with its operands, factored ones multiplied.
func instruction(a *arch.Arch, c *cfi.CIE, i *cfi.Instruction) string {
	form := forms[i.Op]
	if i.Op == 0x2d && a == arch.ARM64 { // the same number
		return "DW_CFA_AARCH64_negate_ra_state"
	}
	if form.name == "" {
		return fmt.Sprintf("DW_CFA_??? (User defined call frame op: %#x)", i.Op)
	}
	s := "DW_CFA_" + form.name
	arg := i.Arg
	switch form.shape {
	case none:
		return s
	case move:
		return fmt.Sprintf("%s: %d to %0*x", s, arg[0]*c.CodeAlign, 2*a.PtrSize, i.Loc)
	case place:
		return fmt.Sprintf("%s: %0*x", s, 2*a.PtrSize, i.Loc)
	case reg:
		return fmt.Sprintf("%s: %s", s, dwarfReg(a, arg[0]))
	case regAt:
		return fmt.Sprintf("%s: %s at cfa%+d", s, dwarfReg(a, arg[0]), int64(arg[1])*c.DataAlign)
	case regAtNegative:
		return fmt.Sprintf("%s: %s at cfa%+d", s, dwarfReg(a, arg[0]), -int64(arg[1])*c.DataAlign)
	case regIs:
		return fmt.Sprintf("%s: %s is cfa%+d", s, dwarfReg(a, arg[0]), int64(arg[1])*c.DataAlign)
	case regIn:
		return fmt.Sprintf("%s: %s in %s", s, dwarfReg(a, arg[0]), dwarfReg(a, arg[1]))
	case regOffset:
		return fmt.Sprintf("%s: %s ofs %d", s, dwarfReg(a, arg[0]), arg[1])
	case regOffsetFactored:
		return fmt.Sprintf("%s: %s ofs %d", s, dwarfReg(a, arg[0]), int64(arg[1])*c.DataAlign)
	case plain:
		return fmt.Sprintf("%s: %d", s, arg[0])
	case plainFactored:
		return fmt.Sprintf("%s: %d", s, int64(arg[0])*c.DataAlign)
	case block:
		return fmt.Sprintf("%s (%s)", s, operations(a, i.Block))
	case regBlock:
		return fmt.Sprintf("%s: %s (%s)", s, dwarfReg(a, arg[0]), operations(a, i.Block))
	}
	return s
}

// dwarfReg is a register as readelf writes it, "r7 (rsp)", by its DWARF number.
func dwarfReg(a *arch.Arch, n uint64) string {
	if name := peerName(a, n); name != "" {
		return fmt.Sprintf("r%d (%s)", n, name)
	}
	return fmt.Sprintf("r%d", n)
}
