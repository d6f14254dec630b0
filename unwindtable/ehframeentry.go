package unwindtable

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"dbg/image"
	"dbg/mipseh"
	"dbg/row"
)

// compactEH is the name of MIPS's compact exception tables in Sources.
const compactEH = "eh_frame_entry"

func (f *file) order() binary.ByteOrder {
	if f.BigEndian() {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// mipsABI returns the calling convention by the flags of the ELF header, which the first segment contains.
func (f *file) mipsABI() (mipseh.ABI, bool) {
	const abi2 = 0x20 // EF_MIPS_ABI2
	if f.Is64() {
		return mipseh.N64, true
	}
	for _, s := range f.Segments() {
		b := f.BytesAt(s.Lo, 40)
		if len(b) < 40 || string(b[:4]) != "\x7fELF" {
			continue
		}
		if f.order().Uint32(b[36:])&abi2 != 0 {
			return mipseh.N32, true
		}
		return mipseh.O32, true
	}
	return 0, false
}

// addCompactEH adds MIPS's compact exception tables if the file has them.
func (f *file) addCompactEH() error {
	s, ok := f.Section(".eh_frame_hdr")
	abi, known := f.mipsABI()
	if !ok || !known || !strings.HasPrefix(f.Machine(), "MIPS") || !mipseh.IsTable(s.Data) {
		return nil
	}
	t, err := mipseh.New(mipseh.Config{ABI: abi, Order: f.order(), Data: s.Data, Addr: uint64(s.Addr),
		Bytes: func(a uint64, n int) []byte { return f.BytesAt(image.Addr(a), n) }})
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: compactEH, section: t.Name(), other: compactEHTable{t}})
	return nil
}

// compactEHTable is a table of compact exception entries.
type compactEHTable struct{ *mipseh.Table }

// print prints the row of each entry, or the entry with its instructions.
func (t compactEHTable) print(ctx context.Context, p *printer, s *source) error {
	for e, err := range t.All() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if !p.wanted.covers(e.Lo, e.Hi) {
			continue
		}
		switch {
		case p.raw != nil:
			p.printed++
			t.printRaw(p, e, err)
		case err != nil:
			p.bad++
			p.defect(s, uint64(e.Offset), err)
		default:
			p.printed++
			p.style.function(p, s, t.function(p, e))
		}
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// printRaw prints an entry as no other tool does: binutils has no decoder for it.
func (t compactEHTable) printRaw(p *printer, e *mipseh.Entry, bad error) {
	fmt.Fprintf(p.out, "0x%x..0x%x %s: %s", e.Lo, e.Hi, p.f.nameAt(e.Lo), e.Form)
	switch {
	case e.Form == mipseh.FDE:
		fmt.Fprintf(p.out, " 0x%x\n", e.Data)
		return
	case e.Form == mipseh.OutOfLine:
		fmt.Fprintf(p.out, " @0x%x", e.Data)
	}
	fmt.Fprintf(p.out, ", %s\n", t.personality(p, e))
	for i, op := range e.Ops() {
		fmt.Fprintf(p.out, "  % x  %s\n", e.Code[i:i+op.Size], op.Text(t.ABI))
	}
	if bad != nil {
		fmt.Fprintf(p.out, "  error: %v\n", bad)
	}
}

func (t compactEHTable) personality(p *printer, e *mipseh.Entry) string {
	if e.Index != 0 {
		return fmt.Sprintf("__gnu_compact_pr%d", e.Index)
	}
	text := fmt.Sprintf("0x%x", e.Personality)
	if name := p.f.exactName(e.Personality); name != "" {
		text += " " + name
	}
	return text
}

// function is the row of an entry. The routines 2 and 3 have data for exceptions after the instructions.
// Whether others have is not known.
func (t compactEHTable) function(p *printer, e *mipseh.Entry) *function {
	fn := &function{lo: e.Lo, hi: e.Hi, name: p.f.nameAt(e.Lo), offset: uint64(e.Offset), kind: "entry"}
	if e.Form != mipseh.FDE {
		fn.personality = t.personality(p, e)
	}
	if e.Form == mipseh.OutOfLine && e.Index > 1 {
		fn.lsda, fn.otherData = e.LSDA, true
	}
	var r row.Row
	if err := t.Row(e, &r); err != nil {
		fn.note = err.Error()
	}
	fn.rows = oneRow(&r)
	return fn
}
