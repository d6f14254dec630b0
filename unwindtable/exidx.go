package unwindtable

import (
	"context"
	"fmt"
	"iter"

	"dbg/ehabi"
	"dbg/image"
	"dbg/row"
)

// addExidx adds .ARM.exidx if the file has it.
func (f *file) addExidx() error {
	s, ok := f.ExceptionIndex()
	switch {
	case !ok || s.Size == 0:
		return nil
	case len(s.Data) == 0:
		f.elsewhere = true
		return nil
	}
	c := ehabi.Config{Data: s.Data, Addr: uint64(s.Addr), Bytes: func(a uint64, n int) []byte { return f.BytesAt(image.Addr(a), n) }}
	for _, p := range f.Segments() {
		if p.Exec {
			c.End = max(c.End, uint64(p.Hi))
		}
	}
	t, err := ehabi.New(c)
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "exidx", section: s.Name, other: exidxTable{t, s.Offset}})
	return nil
}

// exidxTable is .ARM.exidx.
type exidxTable struct {
	*ehabi.Table
	offset uint64 // in the file
}

// print prints a row for each entry, or the entries as readelf -u prints them.
func (t exidxTable) print(ctx context.Context, p *printer, s *source) error {
	raw := ehabi.Printer{W: p.out, Name: p.f.exactName}
	if p.raw != nil && p.wanted == nil {
		if err := raw.Header(t.Table, t.offset); err != nil {
			return err
		}
	}
	for e, err := range t.All() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case !p.wanted.covers(e.Lo, e.Hi) || e.Lo == e.Hi && p.wanted != nil:
			continue
		case p.raw != nil:
			p.printed++
			err = raw.Entry(e, err)
		case err != nil:
			p.bad++
			p.defect(s, uint64(e.Offset), err)
			err = nil
		default:
			p.printed++
			p.style.function(p, s, t.function(p, e))
		}
		if err != nil {
			return err
		}
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// function is the row of an entry, with its personality routine and its language-specific data.
func (t exidxTable) function(p *printer, e *ehabi.Entry) *function {
	fn := &function{lo: e.Lo, hi: e.Hi, name: p.f.nameAt(e.Lo), offset: uint64(e.Offset), kind: "entry"}
	if e.Model == ehabi.Generic {
		fn.personality = p.f.routine(e.Personality&^1, false)
	} else if e.Model != ehabi.CantUnwind {
		fn.personality = fmt.Sprintf("__aeabi_unwind_cpp_pr%d", e.Index)
	}
	if lsda, ok := e.LSDA(); ok {
		fn.lsda = lsda
	}
	var r row.Row
	if err := t.Row(e, &r); err != nil {
		fn.note = err.Error()
	}
	fn.rows = oneRow(&r)
	return fn
}

func oneRow(r *row.Row) iter.Seq2[*row.Row, error] {
	return func(yield func(*row.Row, error) bool) { yield(r, nil) }
}

// exactName is the symbol for an address, with an offset if it begins earlier; "" if there is none.
func (f *file) exactName(addr uint64) string {
	if name := f.nameAt(addr); name != "??" {
		return name
	}
	return ""
}
