package module

import (
	"strings"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image/gopclntab"
	"dbg/row"
	"dbg/row/compiled"
)

// goTable provides the rows of Go's own table (package gopclntab), which its runtime uses to
// unwind: the distance that the stack pointer has moved at each address. It is used for programs
// without .debug_frame. It does not describe saved registers.
type goTable struct {
	*gopclntab.Table
	arch *arch.Arch
}

// goSource returns the source for the module's goTable, or nil.
func (m *Module) goSource(a *arch.Arch) *Source {
	if !m.contents.Go || m.contents.file == nil || a != arch.AMD64 && a != arch.ARM64 && a != arch.I386 {
		return nil
	}
	m.contents.reading.Lock()
	defer m.contents.reading.Unlock()
	t, err := gopclntab.Open(m.contents.file)
	if err != nil {
		return nil
	}
	return &Source{arch: a, kind: KindCFI, maxMisses: int64(t.Len()), table: &goTable{t, a}}
}

func (t *goTable) Name() string { return ".gopclntab" }

func (t *goTable) RowAt(pc uint64, r *row.Row) error {
	f, ok := t.Find(pc)
	if !ok {
		return cfi.ErrNotCovered
	}
	return t.rowOf(&f, pc, r)
}

func (t *goTable) rowOf(f *gopclntab.Func, pc uint64, r *row.Row) error {
	delta, lo, hi, ok := f.SPDelta(pc)
	top := f.Top() && !strings.HasPrefix(f.Name, "runtime.sig") // a signal handler has a caller, the kernel's trampoline
	if !ok && !top {
		return cfi.ErrNotCovered
	}
	r.Reset()
	r.Lo, r.Hi, r.Source = lo, hi, f.Lo
	switch {
	case top:
		if !ok {
			r.Lo, r.Hi = f.Lo, f.Hi
		}
		cfa := int64(delta)
		if r.RA = t.arch.LR; r.RA == arch.NoReg {
			r.RA = t.arch.PC
			cfa += int64(t.arch.PtrSize)
		}
		r.CFA = row.Rule{Kind: row.InReg, Reg: t.arch.SP, N: cfa}
		r.Set(r.RA, row.Rule{Kind: row.Undefined})
	case t.arch.LR != arch.NoReg:
		// The link register is at the bottom of the frame, but a leaf function has no frame.
		r.RA = t.arch.LR
		r.CFA = row.Rule{Kind: row.InReg, Reg: t.arch.SP, N: int64(delta)}
		if delta > 0 {
			r.Set(r.RA, row.Rule{Kind: row.At, N: -int64(delta)})
		}
	default:
		r.RA = t.arch.PC
		r.CFA = row.Rule{Kind: row.InReg, Reg: t.arch.SP, N: int64(delta) + int64(t.arch.PtrSize)}
		r.Set(r.RA, row.Rule{Kind: row.At, N: -int64(t.arch.PtrSize)})
	}
	return nil
}

func (t *goTable) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	f, ok := t.Find(pc)
	return f.Lo, f.Hi, ok
}

func (t *goTable) Entries() int { return t.Len() }

func (t *goTable) EachRow(i, j int, fn cfi.RowFunc) bool {
	var r row.Row
	for ; i < j; i++ {
		f, ok := t.Func(i)
		if !ok {
			continue
		}
		for pc := f.Lo; pc < f.Hi; pc = r.Hi {
			if t.rowOf(&f, pc, &r) != nil || r.Hi <= pc {
				break
			}
			if !fn(pc, r.Hi, &r, compiled.HashRow(&r)) { // its start is before pc in an outermost function's padding
				return false
			}
		}
	}
	return true
}
