package sframe

import (
	"fmt"
	"io"

	"dbg/arch"
)

// Printer writes a section as readelf --sframe of binutils 2.47 does.
type Printer struct {
	W    io.Writer
	line []byte
}

// Header writes the heading of a section.
func (p *Printer) Header(t *Table) error {
	b := fmt.Appendf(p.line[:0], "Contents of the SFrame section %s:\n  Header :\n\n", t.Name())
	b = fmt.Appendf(b, "    Version: SFRAME_VERSION_%d\n    Flags: ", t.Version)
	sep := ""
	for _, f := range [...]struct {
		flag uint8
		name string
	}{
		{FlagSorted, "SFRAME_F_FDE_SORTED"}, {FlagFramePointer, "SFRAME_F_FRAME_POINTER"},
		{FlagPCRel, "SFRAME_F_FDE_FUNC_START_PCREL"},
	} {
		if t.Flags&f.flag != 0 {
			b = append(append(b, sep...), f.name...)
			sep = ",\n           "
		}
	}
	if t.Flags == 0 {
		b = append(b, "NONE"...)
	}
	b = append(b, '\n')
	if t.FixedFP != 0 {
		b = fmt.Appendf(b, "    CFA fixed FP offset: %d\n", t.FixedFP)
	}
	if t.FixedRA != 0 {
		b = fmt.Appendf(b, "    CFA fixed RA offset: %d\n", t.FixedRA)
	}
	p.line = fmt.Appendf(b, "    Num FDEs: %d\n    Num FREs: %d\n\n  Function Index :\n", t.FDEs, t.FREs)
	_, err := p.W.Write(p.line)
	return err
}

// FDE writes FDE number i of the section with its rows, or with the reason why it is invalid; bad may be
// nil.
func (p *Printer) FDE(t *Table, i int, e *FDE, bad error) error {
	b := fmt.Appendf(p.line[:0], "\n    func idx [%d]: pc = 0x%x, size = %d bytes", i, e.Lo, e.Hi-e.Lo)
	attr := ""
	if e.Signal {
		attr += "S"
	}
	if e.Flexible {
		attr += "F"
	}
	if attr != "" {
		b = fmt.Appendf(b, ", attr = \"%s\"", attr)
	}
	if e.KeyB {
		b = append(b, ", pauth = B key"...)
	}
	masked := "   "
	if e.Masked {
		masked = "[m]"
	}
	b = fmt.Appendf(b, "\n    STARTPC%s      CFA       FP        RA           \n", masked)
	if bad == nil {
		var f FRE
		c := t.Rows(e)
		for c.Next(&f) {
			b = t.appendRow(b, e, &f)
		}
		bad = c.err
	}
	if bad != nil {
		b = fmt.Appendf(b, "    error: %v\n", bad)
	}
	p.line = b
	_, err := p.W.Write(b)
	return err
}

// appendRow appends the line of a row.
func (t *Table) appendRow(b []byte, e *FDE, f *FRE) []byte {
	at := uint64(f.Start)
	if !e.Masked {
		at += e.Lo
	}
	b = fmt.Appendf(b, "    %016x  ", at)
	rules, err := t.Rules(e, f)
	switch {
	case err != nil:
		return fmt.Appendf(b, "error: %v\n", err)
	case f.Outermost():
		return append(b, "RA undefined\n"...)
	}
	ra, fp := t.text(&rules.RA), t.text(&rules.FP)
	switch { // readelf has "f" for return addresses only
	case rules.FP.Fixed && e.Flexible:
		fp = "u"
	case rules.FP.Fixed:
		fp = fmt.Sprintf("c%+d", rules.FP.Offset)
	}
	if f.Mangled {
		ra += "[s]"
	}
	cfa := t.text(&rules.CFA)
	if !e.Flexible { // readelf writes "sp+-8" there
		cfa = fmt.Sprintf("%s+%d", t.registerText(rules.CFA.Reg), rules.CFA.Offset)
	}
	return fmt.Appendf(b, "%-10s%-10s%-13s\n", cfa, fp, ra)
}

// text returns the rule as readelf prints it: "sp+8", "(fp-8)", "c-16", "f" for that of the header, "U"
// for a word that says that there is none, "u" for none.
func (t *Table) text(r *Rule) string {
	switch {
	case r.Pad:
		return "U"
	case r.Fixed:
		return "f"
	case !r.Set:
		return "u"
	case !r.ByReg:
		return fmt.Sprintf("c%+d", r.Offset)
	case r.Deref:
		return fmt.Sprintf("(%s%+d)", t.registerText(r.Reg), r.Offset)
	}
	if t.Version == 2 { // the register of an odd offset
		return fmt.Sprintf("r%d", r.Reg)
	}
	return fmt.Sprintf("%s%+d", t.registerText(r.Reg), r.Offset)
}

func (t *Table) registerText(r arch.Reg) string {
	switch regs := registersOf[t.ABI]; r {
	case regs.sp:
		return "sp"
	case regs.fp:
		return "fp"
	}
	return fmt.Sprintf("r%d", r)
}
