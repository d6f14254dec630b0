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
	f.tables = append(f.tables, source{name: "pdata", section: ".pdata", other: pdataTable{t}})
	return nil
}

// pdataTable is a function table of Windows.
type pdataTable struct{ *pdata.Table }

// print prints the rows of its entries, or what llvm-readobj --unwind prints.
func (t pdataTable) print(ctx context.Context, p *printer, s *source) error {
	if p.raw != nil {
		t.PrintBegin(p.out)
	}
	for i := range t.Entries() {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := t.Entry(i)
		if !p.wanted.covers(e.Lo, e.Hi) {
			continue
		}
		t.printEntry(p, s, &e)
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	if p.raw != nil {
		t.PrintEnd(p.out)
	}
	return nil
}

func (t pdataTable) printEntry(p *printer, s *source, e *pdata.Entry) {
	if p.raw != nil {
		t.PrintEntry(p.out, e)
		p.printed++
		return
	}
	list, err := t.Rows(e)
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
