package unwindtable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/row"
	"dbg/sframe"
)

// Formats are the formats that Convert writes, by the names of the command line.
var Formats = []string{"sframe", "json"}

// ConvertOptions says what is converted, and to what.
type ConvertOptions struct {
	To      string // one of Formats
	Source  string // "eh_frame" or "debug_frame"; "": the first that the file has
	Output  string // for sframe: the ELF file to write, which has nothing but .sframe
	Version int    // of SFrame: 2 or 3; 0: 3
}

// Convert writes the call frame information of a file in another format. For sframe it writes a report to
// w: how many rows were converted, and how many were lost for each reason. For json it writes the rows to
// w, and nothing is lost.
func Convert(ctx context.Context, w io.Writer, path string, o ConvertOptions) error {
	if o.To == "json" {
		return Print(ctx, w, path, Options{Source: o.Source, JSON: true})
	}
	if o.Output == "" {
		return errors.New("the name of the file to write is missing")
	}
	img, err := image.Open(path)
	if err != nil {
		return err
	}
	defer img.Close()
	f, err := open(img, o.Source)
	if err != nil {
		return err
	}
	defer f.close()
	i := slices.IndexFunc(f.tables, func(s source) bool { return s.table != nil })
	if i < 0 || img.Kind() == image.Relocatable {
		return fmt.Errorf("%s: only the call frame information of linked files can be converted", path)
	}
	c, err := newConversion(f, cmp.Or(o.Version, 3))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := c.convert(ctx, f.tables[i].table); err != nil {
		return err
	}
	data, err := sframe.Encode(c.header, c.addr, c.functions)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(o.Output, elfWith(img, c.addr, data), 0o644); err != nil {
		return err
	}
	return c.report(w, &f.tables[i], len(data), o.Output)
}

// conversion is one run of Convert.
type conversion struct {
	header    sframe.Header
	arch      *arch.Arch
	addr      uint64 // of the new section: after all segments of the file
	functions []sframe.Function

	entries, rows int            // of the source
	written       int            // rows of the source that are in the new section
	merged        int            // of these, those that equal the row before them, as they differ in other registers only
	lost          map[string]int // other rows, by reason
	registers     int            // rules of other registers, which the format does not describe
	args          int            // sizes of arguments, likewise
}

func newConversion(f *file, version int) (*conversion, error) {
	c := &conversion{arch: f.arch, lost: map[string]int{}}
	c.header = sframe.Header{Version: uint8(version), Flags: sframe.FlagSorted | sframe.FlagPCRel}
	switch {
	case version != 2 && version != 3:
		return nil, fmt.Errorf("version %d of SFrame can't be written: expected 2 or 3", version)
	case f.arch == arch.AMD64:
		c.header.ABI, c.header.FixedRA = sframe.AMD64, -8
	case f.arch == arch.ARM64:
		c.header.ABI = sframe.AArch64Little
	default:
		return nil, fmt.Errorf("SFrame does not exist for %s", f.arch.Name)
	}
	for _, s := range f.Segments() {
		c.addr = max(c.addr, uint64(s.Hi))
	}
	c.addr = (c.addr + 0xfff) &^ 0xfff
	return c, nil
}

// convert makes the functions.
func (c *conversion) convert(ctx context.Context, t *cfi.Table) error {
	var list []cfi.FDE
	for e, err := range t.Section() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case err != nil:
			c.lost[lostMalformed]++
		case e.Kind == cfi.IsFDE && e.FDE.Lo < e.FDE.Hi:
			list = append(list, e.FDE)
		}
	}
	slices.SortStableFunc(list, func(a, b cfi.FDE) int { return cmp.Compare(a.Lo, b.Lo) })
	end := uint64(0)
	for _, fde := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.entries++
		if fde.Lo < end {
			for range t.Rows(fde) {
				c.rows++
				c.lost[lostOverlap]++
			}
			continue
		}
		end = fde.Hi
		c.function(t, fde)
	}
	return nil
}

// part is a function, or a part of one between rows that were lost.
type part struct {
	fn    sframe.Function
	rules []sframe.Rules

	merged, registers, args int // as those of conversion
}

// function makes the FDEs of one function: several if rows are lost, since a row of SFrame is valid up to
// the next one.
func (c *conversion) function(t *cfi.Table, fde cfi.FDE) {
	var p part
	for r, err := range t.Rows(fde) {
		if err != nil {
			c.lost[lostMalformed]++
			break
		}
		if r.Lo >= r.Hi {
			continue
		}
		c.rows++
		rules, outermost, lost := rulesOf(&c.header, c.arch, r)
		if lost == "" && fde.CIE.Signal && c.header.Version < 3 {
			lost = lostSignal
		}
		if lost == "" && !outermost && c.header.Version < 3 && !c.header.SetRules(new(sframe.FRE), &rules, false) {
			lost = lostFlexible
		}
		if lost != "" {
			c.lost[lost]++
			c.finish(&p)
			continue
		}
		c.add(&p, fde, r, rules, outermost)
	}
	c.finish(&p)
}

// add adds a row to a part, or to the end of its last row if it is equal.
func (c *conversion) add(p *part, fde cfi.FDE, r *row.Row, rules sframe.Rules, outermost bool) {
	if len(p.fn.Rows) == 0 {
		p.fn.FDE = sframe.FDE{Lo: r.Lo, Signal: fde.CIE.Signal, KeyB: c.arch == arch.ARM64 && fde.CIE.BKey}
	}
	for i := range r.Regs {
		if reg := r.Regs[i].Reg; reg != r.RA && reg != c.arch.FP && reg != c.arch.SP {
			p.registers++
		}
	}
	if r.ArgsSize != 0 {
		p.args++
	}
	f := sframe.FRE{Start: uint32(r.Lo - p.fn.Lo), Mangled: r.Signed && !outermost, Size: 1}
	p.fn.Hi = r.Hi
	if n := len(p.rules); n > 0 && p.rules[n-1] == rules && p.fn.Rows[n-1].Mangled == f.Mangled {
		p.merged++
		return
	}
	if !outermost && !c.header.SetRules(&f, &rules, false) {
		p.fn.Flexible = true
	}
	p.fn.Rows, p.rules = append(p.fn.Rows, f), append(p.rules, rules)
}

// finish adds a part to the functions, and makes it empty. If one of its rows is flexible, all are.
func (c *conversion) finish(p *part) {
	done := *p
	*p = part{}
	fn, rows := done.fn, len(done.fn.Rows)+done.merged
	if rows == 0 {
		return
	}
	reason := ""
	if fn.Flexible {
		reason = c.makeFlexible(&fn, done.rules)
	}
	if size := fn.Hi - fn.Lo; size > 1<<32-1 || len(fn.Rows) > 1<<16-1 {
		reason = lostRange
	} else if size > 1<<16 {
		fn.FREType = 2
	} else if size > 1<<8 {
		fn.FREType = 1
	}
	if reason != "" {
		c.lost[reason] += rows
		return
	}
	c.written += rows
	c.merged += done.merged
	c.registers += done.registers
	c.args += done.args
	c.functions = append(c.functions, fn)
}

func (c *conversion) makeFlexible(fn *sframe.Function, rules []sframe.Rules) (lost string) {
	for i := range fn.Rows {
		if rules[i] != (sframe.Rules{}) && !c.header.SetRules(&fn.Rows[i], &rules[i], true) {
			return lostRange
		}
	}
	return ""
}

// report writes what was converted and what was lost.
func (c *conversion) report(w io.Writer, s *source, size int, output string) error {
	b := fmt.Appendf(nil, "%s: %d entries, %d rows\n", s.section, c.entries, c.rows)
	b = fmt.Appendf(b, "%s: .sframe version %d, %d bytes at 0x%x, %d functions\n", output, c.header.Version, size, c.addr,
		len(c.functions))
	b = fmt.Appendf(b, "rows converted: %d, of which %d differ from the row before them in other registers only\n",
		c.written, c.merged)
	b = fmt.Appendf(b, "rules of other registers lost: %d\n", c.registers)
	if c.args > 0 {
		b = fmt.Appendf(b, "sizes of arguments lost: %d\n", c.args)
	}
	for _, reason := range slices.Sorted(maps.Keys(c.lost)) {
		b = fmt.Appendf(b, "rows lost: %d: %s\n", c.lost[reason], reason)
	}
	_, err := w.Write(b)
	return err
}
