package unwindtable

import (
	"context"
	"fmt"

	"dbg/compact"
	"dbg/image"
	"dbg/row"
)

// addCompact adds __unwind_info if the file has it.
func (f *file) addCompact() error {
	s, ok := f.Section("__unwind_info")
	if !ok || len(s.Data) == 0 {
		return nil
	}
	t, err := compact.New(compact.Config{Arch: f.arch, Data: s.Data, Base: uint64(f.HeaderAddr()), Code: f.code})
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "compact", section: s.Name, compact: t})
	return nil
}

// code is n bytes of the file's code, or nil.
func (f *file) code(addr uint64, n int) []byte {
	b := make([]byte, n)
	if got, _ := f.ReadAt(image.Addr(addr), b); got < n {
		return nil
	}
	return b
}

// compactTable prints __unwind_info.
func (p *printer) compactTable(ctx context.Context, s *source) error {
	if p.raw != nil && p.wanted == nil {
		p.printed++
		return s.compact.Print(p.out)
	}
	for e, err := range s.compact.All() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case !p.wanted.covers(e.Lo, e.Hi):
			continue
		case err != nil:
			p.bad++
			p.defect(s, uint64(e.Offset), err)
			continue
		case p.raw != nil:
			fmt.Fprintf(p.out, "0x%x: function 0x%x, encoding 0x%08x (%s)\n", e.Offset, e.Lo, uint32(e.Opcode), e.Opcode.String(p.f.arch))
		default:
			fn := function{lo: e.Lo, hi: e.Hi, name: p.f.nameAt(e.Lo), offset: uint64(e.Offset), kind: "entry", rows: s.body(e)}
			switch e.Opcode.Kind(p.f.arch) {
			case compact.None:
				fn.note = "no unwind information"
			case compact.DWARF:
				fn.note = "see __eh_frame"
			}
			p.style.function(p, s, &fn)
		}
		p.printed++
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// body is the one row of an entry.
func (s *source) body(e *compact.Entry) func(func(*row.Row, error) bool) {
	return func(yield func(*row.Row, error) bool) {
		var r row.Row
		err := s.compact.Row(e, &r)
		yield(&r, err)
	}
}
