package frames

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/frames/follow"
	"dbg/frames/machine"
	"dbg/frames/module"
	"dbg/target"
)

// Reasons why there is no rule for a PC.
var (
	notCalled = &follow.Rule{Why: "the called function does not lead to PC"}
	noStart   = &follow.Rule{Why: "no symbol or table entry marks the function's start"}
)

// startOf follows the code of the site's function from its first instruction to the site, once: the
// words that it has pushed make up the frame. It needs the function's start from a symbol or a
// table entry. Unlike reading ahead, it works if the code does not return.
func (w *Walk) startOf(s *site) *follow.Rule {
	if s.start == nil {
		s.start = noStart
		if m := s.module; m != nil && code.Supported(w.u.arch) {
			if lo, hi, ok := w.boundsOf(s); ok {
				start := lo + m.Bias()
				if w.u.arch == arch.ARM && w.isThumb(m, lo) {
					start |= 1
				}
				s.start, _ = w.from(s, start, lo+m.Bias(), hi+m.Bias())
			}
		}
	}
	return s.start
}

// boundsOf returns the range of the site's function: from its symbol, or from its table entry, if
// that begins as functions do (the entry of a split-off part does not). The table may be wrong
// further on.
func (w *Walk) boundsOf(s *site) (lo, hi uint64, ok bool) {
	m, pc := s.module, s.filePC()
	if lo, hi, ok = m.Symbol(pc); ok && lo <= pc {
		return lo, hi, true
	}
	for _, t := range m.Sources(w.u.arch) {
		if lo, hi, ok = t.Bounds(pc); ok && w.u.Use.Has(howByKind[t.Kind()]) {
			if t.Kind() == module.KindEHABI {
				return lo, hi, true // its rows are not those of the first instruction
			}
			return lo, hi, t.RowAt(lo, &w.u.row) == nil && flow.IsEntry(w.u.arch, &w.u.row)
		}
	}
	return 0, 0, false
}

// isThumb reports whether the function that starts at an address in the file is Thumb code. Its
// symbol decides. Without one, its first instructions do.
func (w *Walk) isThumb(m *Module, lo uint64) bool {
	if thumb, known := m.ThumbSymbol(lo); known {
		return thumb
	}
	if lo%4 != 0 {
		return true
	}
	var buf [32]byte
	r := w.reader(m)
	return code.LooksLikeThumb(r.Read(lo+m.Bias(), buf[:]))
}

// Limits of byCalls.
const (
	callWords  = 1024
	callStarts = 64
	callReads  = 30_000 // instructions that are read, or would be if none had been read before
)

// byCalls searches for the call that has entered the function: a word on the stack that follows a
// direct call. The code from the call's target must lead to PC, with a frame size that puts the
// return address exactly at that word. This needs neither table nor symbol, and a match is rarely
// wrong.
func (w *Walk) byCalls(s *site) bool {
	a := w.u.arch
	sp, known := w.lowest()
	if !known || !code.Supported(a) {
		return false
	}
	if link := flow.LinkSlot(a); link >= 0 && !w.frame.PCIsReturnAddress {
		// A leaf function, or one that has not saved the link register yet.
		if lr, known := w.frame.Regs.Get(a.LR); known {
			if r, _ := w.byCall(s, w.code64(lr)); r != nil && r.Regs[link].Kind == follow.AsNow {
				return w.byCode(r)
			}
		}
	}
	size := uint64(a.PtrSize)
	tried, read := 0, 0
	for i := range uint64(callWords) {
		at := (sp+size-1)&^(size-1) + size*i
		v, err := w.stack.Word(target.Addr(at), int(size))
		if err != nil {
			break
		}
		r, n := w.byCall(s, w.code64(v))
		if r == nil {
			continue
		}
		if ra, ok := w.returnsAt(r); ok && ra == at {
			return w.byCode(r)
		}
		read += n
		if tried++; tried >= callStarts || read > callReads {
			break
		}
	}
	return w.failed(Prologue, "no call on the stack leads to PC")
}

// byCall returns the rule from the code of the function that the direct call before a return
// address calls, and the number of instructions that it takes. It returns nil if there is no such
// call.
func (w *Walk) byCall(s *site, ra uint64) (*follow.Rule, int) {
	if ra < page || !w.u.space.Executable(target.Addr(ra-1)) {
		return nil, 0
	}
	next := w.site(target.Addr(ra), false)
	if next.after != machine.Yes {
		return nil, 0
	}
	fn := w.calledBefore(next)
	if to := w.throughPLT(fn); to != 0 {
		fn = to
	}
	if fn == 0 {
		return nil, 0
	}
	return w.fromTo(s, uint64(fn))
}

// returnsAt returns the stack address at which a rule has the return address.
func (w *Walk) returnsAt(r *follow.Rule) (uint64, bool) {
	if r.Why != "" {
		return 0, false
	}
	cfa, known := w.locateCFA(r)
	if !known {
		return 0, false
	}
	link := flow.LinkSlot(w.u.arch)
	if link < 0 {
		return cfa - uint64(w.u.arch.PtrSize), true
	}
	switch rc := &r.Regs[link]; rc.Kind {
	case follow.InFrame:
		return cfa + uint64(rc.At.Off), true
	case follow.InStack:
		return w.locate(rc.At)
	}
	return 0, false
}

// fromTo returns the rule from the code from a function's start to the site, and the number of
// instructions that it takes. It caches the last result. A split-off part of the function may be
// before its start.
func (w *Walk) fromTo(s *site, fn uint64) (*follow.Rule, int) {
	if s.entered == nil || s.enteredAt != fn {
		s.entered, s.enteredAt, s.enteredBy = notCalled, fn, 0
		if uint64(s.pc)-fn+follow.MaxFunction < 2*follow.MaxFunction {
			s.entered, s.enteredBy = w.from(s, fn, 0, 1<<64-1)
		}
	}
	return s.entered, s.enteredBy
}

// from returns the rule from the code from a function's start to the site.
func (w *Walk) from(s *site, start, lo, hi uint64) (*follow.Rule, int) {
	r, read, slots := w.u.starts.Rule(w.reader(s.module), start, lo, hi, uint64(s.pc), w.epoch)
	s.slots = s.slots || slots
	return r, read
}
