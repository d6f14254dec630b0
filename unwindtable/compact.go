package unwindtable

import (
	"context"
	"fmt"

	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/image"
	"dbg/row"
)

// addCompact adds __unwind_info if the file has it, or the descriptors of an object file.
func (f *file) addCompact() error {
	s, ok := f.Section("__unwind_info")
	if !ok || len(s.Data) == 0 {
		return f.addDescriptors()
	}
	t, err := compact.New(compact.Config{Arch: f.codeArch(), Data: s.Data, Base: uint64(f.HeaderAddr()), Code: f.code})
	if err != nil {
		return err
	}
	f.tables = append(f.tables, source{name: "compact", section: s.Name, other: compactTable{t}})
	return nil
}

// codeArch returns the architecture of the instructions and opcodes: arm64_32 has those of ARM64.
func (f *file) codeArch() *arch.Arch {
	if f.arch == arch.ARM6432 {
		return arch.ARM64
	}
	return f.arch
}

// code is n bytes of the file's code, or nil.
func (f *file) code(addr uint64, n int) []byte {
	b := make([]byte, n)
	if got, _ := f.ReadAt(image.Addr(addr), b); got < n {
		return nil
	}
	return b
}

// compactTable is __unwind_info.
type compactTable struct{ *compact.Table }

// print prints the rows that the table and the code make together, as the unwinder has them.
func (t compactTable) print(ctx context.Context, p *printer, s *source) error {
	if p.raw != nil {
		return t.printRaw(ctx, p, s)
	}
	r := compact.NewRefiner(t.Table, p.f.starts())
	r.Escape = p.f.escape()
	var list rows
	for i := range r.Entries() {
		if err := ctx.Err(); err != nil {
			return err
		}
		lo, hi, e, err := r.Function(i)
		switch {
		case !p.wanted.covers(lo, hi):
			continue
		case err != nil:
			p.bad++
			p.defect(s, uint64(e.Offset), err)
			continue
		}
		list = list[:0]
		r.EachRow(i, i+1, list.add)
		fn := function{lo: lo, hi: hi, name: p.f.nameAt(lo), offset: uint64(e.Offset), kind: "entry", rows: list.each}
		if len(list) == 0 {
			fn.note = "no unwind information"
			if e.Opcode.Kind(p.f.codeArch()) == compact.DWARF {
				fn.note = "see __eh_frame"
			}
		}
		t.exceptionsOf(p.f, &e, &fn)
		p.style.function(p, s, &fn)
		p.printed++
		if _, err := p.out.Write(nil); err != nil {
			return err
		}
	}
	return nil
}

// exceptionsOf notes the personality routine and the language-specific data of an entry.
func (t compactTable) exceptionsOf(f *file, e *compact.Entry, fn *function) {
	if slot, ok, err := t.Personality(e); ok && err == nil {
		fn.personality = f.routine(slot, true)
	}
	if at, ok, err := t.LSDA(e); ok && err == nil {
		fn.lsda = at
	}
}

// printRaw prints the section as it is, or the entries that are asked for.
func (t compactTable) printRaw(ctx context.Context, p *printer, s *source) error {
	if p.wanted == nil {
		p.printed++
		return t.Print(p.out)
	}
	for e, err := range t.All() {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		switch {
		case !p.wanted.covers(e.Lo, e.Hi):
		case err != nil:
			p.bad++
			p.defect(s, uint64(e.Offset), err)
		default:
			fmt.Fprintf(p.out, "0x%x: function 0x%x, encoding 0x%08x (%s)\n", e.Offset, e.Lo, uint32(e.Opcode), e.Opcode.String(p.f.codeArch()))
			p.printed++
		}
	}
	return nil
}

// starts are where the file says that functions begin.
func (f *file) starts() (list []uint64) {
	for _, a := range f.FunctionStarts() {
		list = append(list, uint64(a))
	}
	return list
}

// escape gives the rows of __eh_frame, for functions that __unwind_info leaves to it; nil if there is none.
func (f *file) escape() func(pc uint64, r *row.Row) error {
	eh, ok := f.Section("__eh_frame")
	if !ok || len(eh.Data) == 0 {
		return nil
	}
	return cfi.New(cfi.Config{Arch: f.arch, Data: eh.Data, Addr: uint64(eh.Addr), DarwinEH: true}).RowAt
}

// rows are a function's; those that are nil have an error.
type rows []rowOrError

type rowOrError struct {
	row.Row
	err error
}

func (l *rows) add(lo, hi uint64, r *row.Row, _ uint64) bool {
	*l = append(*l, rowOrError{})
	n := &(*l)[len(*l)-1]
	if r == nil {
		n.err = fmt.Errorf("the rows from 0x%x to 0x%x can't be made", lo, hi)
		return true
	}
	n.CopyFrom(r)
	n.Lo, n.Hi = lo, hi
	return true
}

func (l *rows) each(yield func(*row.Row, error) bool) {
	for i := range *l {
		if n := &(*l)[i]; !yield(&n.Row, n.err) {
			return
		}
	}
}
