package unwindtable

import (
	"context"
	"errors"
	"fmt"

	"dbg/image"
	"dbg/sframe"
)

// addSFrame adds .sframe if the file has it.
func (f *file) addSFrame() error {
	s, ok := f.SFrame()
	switch {
	case !ok || s.Size == 0:
		return nil
	case len(s.Data) == 0:
		f.elsewhere = true
		return nil
	}
	c := sframe.Config{Data: s.Data, Addr: uint64(s.Addr)}
	switch {
	case f.Kind() != image.Relocatable:
	case f.BigEndian():
		return errors.New("it is a big-endian object file, whose relocations dbg can't apply: link it")
	default:
		c.Data, _ = relocated(f.File, s)
	}
	t, err := sframe.New(c)
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "sframe", section: s.Name, other: sframeTable{t}})
	return nil
}

// sframeTable is .sframe.
type sframeTable struct{ *sframe.Table }

// print prints the rows of each function, or the section as readelf --sframe prints it.
func (t sframeTable) print(ctx context.Context, p *printer, s *source) error {
	raw := sframe.Printer{W: p.out}
	if p.raw != nil && p.wanted == nil {
		if err := raw.Header(t.Table); err != nil {
			return err
		}
	}
	i := -1
	for e, err := range t.All() {
		i++
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case !p.wanted.covers(e.Lo, e.Hi):
			continue
		case p.raw != nil:
			p.printed++
			if err := raw.FDE(t.Table, i, e, err); err != nil {
				return err
			}
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

// function is an FDE with what all of its rows have in common.
func (t sframeTable) function(p *printer, e *sframe.FDE) *function {
	fn := &function{lo: e.Lo, hi: e.Hi, name: p.f.nameAt(e.Lo), offset: uint64(e.Offset), kind: "FDE"}
	fn.signal, fn.rows = e.Signal, t.RowsOf(e)
	fn.remark = "other registers unknown"
	if e.Masked {
		fn.remark += fmt.Sprintf(", repeats every %d bytes", e.Repeat)
	}
	if e.KeyB {
		fn.remark += ", signed with key B"
	}
	if e.FREs == 0 {
		fn.note = "no rows: outermost, or a function that the format can't describe"
	}
	return fn
}
