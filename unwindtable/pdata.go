package unwindtable

import (
	"context"

	"dbg/image"
	"dbg/pdata"
	"dbg/row"
)

// addPData adds the function table of a PE image if the file has one.
func (f *file) addPData() error {
	data, addr, ok := f.FunctionTable()
	if !ok {
		return nil
	}
	t, err := pdata.New(pdata.Config{Arch: f.arch, Data: data, Addr: uint64(addr), Base: uint64(f.ImageBase()),
		Read: func(a uint64, n int) []byte { return f.Bytes(image.Addr(a), n) }})
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "pdata", section: ".pdata", pdata: t})
	return nil
}

// pdataTable prints a function table of Windows: its rows, or what it has.
func (p *printer) pdataTable(ctx context.Context, s *source) error {
	if p.raw != nil {
		s.pdata.PrintBegin(p.out)
	}
	for i := range s.pdata.Entries() {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := s.pdata.Entry(i)
		if !p.wanted.covers(e.Lo, e.Hi) {
			continue
		}
		p.pdataEntry(s, &e)
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	if p.raw != nil {
		s.pdata.PrintEnd(p.out)
	}
	return nil
}

func (p *printer) pdataEntry(s *source, e *pdata.Entry) {
	if p.raw != nil {
		s.pdata.PrintEntry(p.out, e)
		p.printed++
		return
	}
	list, err := s.pdata.Rows(e)
	if len(list) == 0 && err != nil {
		p.bad++
		p.defect(s, uint64(e.Offset), err)
		return
	}
	p.style.function(p, s, &function{lo: e.Lo, hi: e.Hi, name: p.f.nameAt(e.Lo), offset: uint64(e.Offset), kind: "entry",
		rows: func(yield func(*row.Row, error) bool) {
			for i := range list {
				if !yield(&list[i], nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
			}
		}})
	p.printed++
}
