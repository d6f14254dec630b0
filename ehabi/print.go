package ehabi

import (
	"fmt"
	"io"
)

// Printer writes entries as readelf -u does. Unlike readelf, it prints the instructions of each
// Generic entry with the data of a GNU personality routine, whatever the routine's name.
type Printer struct {
	W io.Writer

	// Name returns the symbol for an address, as "name" or "name+0x4", or "". It may be nil.
	Name func(addr uint64) string

	line []byte
}

// Header writes the heading of a section at an offset in the file.
func (p *Printer) Header(t *Table, offset uint64) error {
	noun := "entries"
	if t.count == 1 {
		noun = "entry"
	}
	_, err := fmt.Fprintf(p.W, "\nUnwind section '%s' at offset 0x%x contains %d %s:\n\n", t.Name(), offset, t.count, noun)
	return err
}

// Entry writes one entry with its instructions, or with the reason why it is invalid; bad may be nil.
func (p *Printer) Entry(e *Entry, bad error) error {
	b := fmt.Appendf(p.line[:0], "0x%x%s: ", e.Lo, p.symbol(e.Lo))
	switch {
	case e.Model == CantUnwind && bad == nil:
		b = append(b, "0x1 [cantunwind]\n"...)
	case e.Table != 0:
		b = fmt.Appendf(b, "@0x%x\n", e.Table)
	default:
		b = fmt.Appendf(b, "0x%x\n", e.Word)
	}
	switch {
	case bad != nil:
		b = fmt.Appendf(b, "  error: %v\n", bad)
	case e.Model == Generic:
		b = fmt.Appendf(b, "  Personality routine: 0x%x%s\n", e.Personality, p.symbol(e.Personality&^1))
	case e.Model != CantUnwind:
		b = fmt.Appendf(b, "  Compact model index: %d\n", e.Index)
	}
	for i := 0; i < e.Code.Len(); {
		op := e.Code.Op(i)
		b = append(e.Code.append(append(b, "  "...), i, &op), '\n')
		i += op.Size
	}
	p.line = append(b, '\n')
	_, err := p.W.Write(p.line)
	return err
}

func (p *Printer) symbol(addr uint64) string {
	if p.Name == nil {
		return ""
	}
	if name := p.Name(addr); name != "" {
		return " <" + name + ">"
	}
	return ""
}
