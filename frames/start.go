package frames

import (
	"dbg/arch"
	"dbg/code"
	"dbg/row"
	"dbg/target"
)

// Limits of reading from a function's start.
const (
	startInstructions = 10_000
	maxPaths          = 256
)

// startOf reads the code of the site's function from its first instruction to the site, once: what it
// has pushed by then is what the frame consists of. It needs a symbol or a table entry, which say where the function
// starts, and gives more than reading ahead where that leads to no return.
func (w *Walk) startOf(s *site) *codeRule {
	if s.start == nil {
		s.start = notSymbolled
		if m := s.module; m != nil && code.Supported(w.u.arch) {
			if lo, hi, ok := w.boundsOf(s); ok {
				start := lo + m.contents.Bias
				if w.u.arch == arch.ARM && w.isThumb(m, lo) {
					start |= 1
				}
				s.start, _ = w.from(s, start, lo+m.contents.Bias, hi+m.contents.Bias)
			}
		}
	}
	return s.start
}

// boundsOf is the range of the site's function: by its symbol, or by its table entry, if that begins as functions do
// (one for a part that was split off does not). The table may be wrong further on.
func (w *Walk) boundsOf(s *site) (lo, hi uint64, ok bool) {
	m, pc := s.module, s.filePC()
	if m.contents.FunctionAt != nil {
		if lo, hi, ok = m.contents.FunctionAt(pc); ok && lo <= pc {
			return lo, hi, true
		}
	}
	for _, t := range m.load(w.u.arch).list {
		if lo, hi, ok = t.Bounds(pc); ok && w.u.Use.Has(t.how) {
			return lo, hi, t.RowAt(lo, &w.u.row) == nil && isEntry(w.u.arch, &w.u.row)
		}
	}
	return 0, 0, false
}

// isEntry reports whether a row is that of a function's first instruction.
func isEntry(a *arch.Arch, r *row.Row) bool {
	s, ok := code.FromRow(a, r)
	ra := r.Rule(r.RA)
	return ok && s == code.Entry(a) &&
		(ra.Kind == row.Unspecified && r.RA == a.LR || ra.Kind == row.At && ra.N == -int64(a.PtrSize))
}

// Limits of byCalls.
const (
	callWords  = 1024
	callStarts = 64
	callReads  = 30_000  // how many instructions are read, or would be if none had been read before
	callReach  = 1 << 20 // how large a function may be
)

// byCalls looks for the call that has entered the function: a word on the stack that follows a direct call from
// whose target the code leads to PC, with a frame of just the size that puts the return address
// where the word is. That needs neither table nor symbol, and what it finds is hardly anything else.
func (w *Walk) byCalls(s *site) bool {
	a := w.u.arch
	sp, known := w.lowest()
	if !known || !code.Supported(a) {
		return false
	}
	if link := code.LinkSlot(a); link >= 0 && !w.frame.PCIsReturnAddress {
		// A leaf, or a function that has not saved the link register yet.
		if lr, known := w.frame.Regs.Get(a.LR); known {
			if r, _ := w.byCall(s, w.code64(lr)); r != nil && r.regs[link].kind == asNow {
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

// byCall is what the code of the function says that a direct call before a return address calls, and how many instructions that
// takes; nil if there is no such call.
func (w *Walk) byCall(s *site, ra uint64) (*codeRule, int) {
	if ra < page || !w.u.space.Executable(target.Addr(ra-1)) {
		return nil, 0
	}
	next := w.site(target.Addr(ra), false)
	if next.after != yes {
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

// returnsAt is where on the stack a rule has the return address.
func (w *Walk) returnsAt(r *codeRule) (uint64, bool) {
	if r.why != "" {
		return 0, false
	}
	cfa, known := w.locateCFA(r)
	if !known {
		return 0, false
	}
	link := code.LinkSlot(w.u.arch)
	if link < 0 {
		return cfa - uint64(w.u.arch.PtrSize), true
	}
	switch rc := &r.regs[link]; rc.kind {
	case inFrame:
		return cfa + uint64(rc.at.off), true
	case inStack:
		return w.locate(rc.at)
	}
	return 0, false
}

// fromTo is what the code from a function's start to the site says, and how many instructions that takes; the last
// answer is kept. A part of the function that was split off may be before its start.
func (w *Walk) fromTo(s *site, fn uint64) (*codeRule, int) {
	if s.entered == nil || s.enteredAt != fn {
		s.entered, s.enteredAt, s.enteredBy = notCalled, fn, 0
		if uint64(s.pc)-fn+callReach < 2*callReach {
			s.entered, s.enteredBy = w.from(s, fn, 0, 1<<64-1)
		}
	}
	return s.entered, s.enteredBy
}

// Limits of what is kept of functions that were read from their starts.
const (
	keptStarts       = 128
	keptInstructions = 64 << 10
)

// starts keeps what was read from functions' starts: those that were asked for of late, and those before.
type starts struct {
	late, early map[startKey]*forward
	size        int // of late
}

// startKey is a function as a module has it.
type startKey struct {
	module        *Module
	start, lo, hi uint64
}

// from is what the code from a function's start to the site says. As with a site, the code of a module is taken to stay
// as it is; other code, and what leads through slots in memory, is read again when the space has changed.
func (w *Walk) from(s *site, start, lo, hi uint64) (*codeRule, int) {
	kept, key := &w.u.starts, startKey{s.module, start, lo, hi}
	f := kept.late[key]
	if f.stale(w) {
		f = kept.early[key]
		if f.stale(w) {
			f = newForward(w.u.arch, s.module, start, lo, hi)
		}
		if f.epoch = w.epoch; kept.late == nil || len(kept.late) >= keptStarts || kept.size >= keptInstructions {
			kept.early, kept.late, kept.size = kept.late, map[startKey]*forward{}, 0
		}
		kept.late[key] = f
		kept.size += f.size()
	}
	size := f.size()
	r, read := f.ruleAt(w, uint64(s.pc))
	kept.size += f.size() - size
	s.slots = s.slots || f.sim.slots
	return r, read
}

// stale reports whether f must be read anew: it rests on memory that may have changed.
func (f *forward) stale(w *Walk) bool {
	return f == nil || (f.sim.module == nil || f.sim.slots) && f.epoch != w.epoch
}
