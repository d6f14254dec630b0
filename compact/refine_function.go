package compact

import (
	"errors"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/row"
	"dbg/row/compiled"
)

// worker refines functions, one after the other. It must be used by one goroutine.
type worker struct {
	x     *Refiner
	flow  flow.Flow
	trial flow.Flow // follows code that may be a separate function
	body  row.Row
	have  bool   // body is from the table
	text  []byte // of the function
	data  []data // in it
	out   refined
	ids   []int32 // frame -> row of out, plus 1
	agree []bool  // by frame: it is the frame of the body
}

// refine makes w.out for the part from lo to hi of an entry. It returns ErrNotCovered if there
// are no rows.
//
// The table and the code are combined as follows.
//
//   - All paths of the code are followed from the function's start. The function is confirmed if
//     somewhere on them the frame is that of the body: the same CFA, the same registers saved in
//     the same places. Then the instructions are trusted at every address that is reached, even
//     where they differ from the body's row, as in prologues, epilogues, and code that runs
//     before a late prologue or after an early epilogue.
//   - Where the instructions do not determine the CFA, the body's row applies. If the CFA is the
//     body's, it also applies to a register that the instructions have lost.
//   - Landing pads, the cases of a jump table and the code after a call that does not return are
//     not reached from the start. They are followed from the state in which they are entered: the
//     state at a call of this function, or at the jump through the table.
//   - Padding, which no path reaches, has no row.
//   - A function for which the table has no row gets rows if all paths from its start end in
//     returns, or in jumps to other functions, with the stack and the registers as they were;
//     otherwise it has none. The same applies to a function that is not confirmed: functions
//     without a frame have the null opcode on x86-64, for which LLVM's linker writes no entry, so
//     that they lie in the entry of the function before.
//   - Any other function that is not confirmed has the body's row everywhere except in its
//     padding: its code may be anything.
func (w *worker) refine(e *Entry, lo, hi uint64) error {
	w.out = refined{lo: lo, hi: hi, spans: w.out.spans[:0], rows: w.out.rows[:0], hash: w.out.hash[:0]}
	w.ids, w.agree = w.ids[:0], w.agree[:0]
	t := w.x.t
	err := t.Row(e, &w.body)
	w.have = err == nil
	var dwarf *ErrDWARF
	escaped := w.x.Escape != nil && errors.As(err, &dwarf)
	if err != nil && err != ErrNone && !escaped {
		return quiet(err)
	}
	w.text = nil
	if t.code != nil && refinable(t.arch) {
		w.text = t.code(lo, int(min(hi-lo, maxText)))
	}
	if len(w.text) == 0 {
		if !w.have {
			return ErrNotCovered
		}
		w.bodyOnly(lo, hi)
		return nil
	}
	w.flow.Reset(t.arch, lo, w.text)
	if lo != e.Lo || e.Opcode.StartsFunction() {
		w.flow.Follow(lo, flow.Entry(t.arch))
	}
	defer func() { w.out.insns = w.flow.Tally().Insns }()
	w.followTables()
	if escaped {
		w.have = w.escape()
	}
	if !w.have || !w.confirmed() {
		switch {
		case w.clean():
			w.have = false
			w.out.how = CodeOnly
			w.emit(hi)
		case w.have && !escaped:
			w.bodyOnly(lo, hi)
		default:
			return ErrNotCovered
		}
		return nil
	}
	w.out.how = Confirmed
	w.fillGaps()
	w.confirmed()     // of the paths just added
	w.have = !escaped // where the code does not determine the row, __eh_frame does
	w.emit(hi)
	return nil
}

// escape uses the last row of __eh_frame in the function as the body's row, since __eh_frame
// describes no epilogues. It reports whether there is one.
func (w *worker) escape() bool {
	last, any := uint64(0), false
	w.flow.Each(func(pc uint64, size, n int) bool {
		last, any = pc, true
		return true
	})
	return any && w.x.Escape(last, &w.body) == nil
}

// clean handles a function whose body has no row, or the row of another function. It reports
// whether all paths from the start end in returns, or in jumps to other functions, in the state
// that callers expect. If so, the possible targets of a jump through a table are followed too, in
// the state of the jump. The table itself, which may be among the code, is not separated from it,
// and does no harm.
func (w *worker) clean() bool {
	n := w.flow.Tally()
	if n.Returns == 0 || n.Wrong+n.Unknown+n.Lost > 0 {
		return false
	}
	jumps := w.flow.Jumps()
	for pc := w.out.lo; len(jumps) > 0 && len(w.x.starts) > 0; {
		from, to := w.flow.Gap(pc)
		if from == to {
			break
		}
		at := from + w.padding(from, to)
		if end := max(w.dataAt(from), w.dataAt(at)); end > at {
			pc = end
			continue
		}
		if pc = to; at >= to {
			continue
		}
		w.flow.Follow(at, jumps[0].State)
		if pc = at; w.flow.Number(at) < 0 {
			return false
		}
	}
	return true
}

// confirmed finds the frames that agree with the body, and reports whether there is one.
func (w *worker) confirmed() bool {
	any := false
	frames := w.flow.Frames()
	for i := len(w.agree); i < len(frames); i++ {
		w.agree = append(w.agree, w.sameBody(&frames[i]))
	}
	for _, a := range w.agree {
		any = any || a
	}
	return any
}

// sameBody reports whether a frame agrees with the body.
func (w *worker) sameBody(f *flow.Frame) bool {
	if !f.IsAt(w.body.CFA.Reg, w.body.CFA.N) {
		return false
	}
	for _, rr := range w.body.Regs {
		if rr.Reg == w.body.RA && w.x.t.arch.LR == arch.NoReg {
			continue
		}
		if off, ok := f.SavedAt(rr.Reg); !ok || int64(off) != rr.N {
			return false
		}
	}
	return true
}

// fillGaps follows the code that is not reached from the function's start.
func (w *worker) fillGaps() {
	lo := w.out.lo
	for pc := lo; ; {
		from, to := w.flow.Gap(pc)
		if from == to {
			return
		}
		at := from + w.padding(from, to)
		if end := max(w.dataAt(from), w.dataAt(at)); end > at {
			pc = end
			continue
		}
		if at >= to {
			pc = to
			continue
		}
		s, ok := w.entered(from, at)
		if !ok {
			pc = to
			continue
		}
		w.flow.Follow(at, s)
		if pc = at; w.flow.Number(at) < 0 { // the text ends
			return
		}
	}
}

// entered returns the state at the entry of code that no path reaches; from is the end of the
// code before it. It is the state of the jump through a table directly before; or of a call,
// whose landing pad the code may be; or of any jump through a table; or the body's, with the most
// frequent stack pointer in the body.
func (w *worker) entered(from, at uint64) (flow.State, bool) {
	a := w.x.t.arch
	if len(w.x.starts) == 0 && w.startsFunction(at) {
		return flow.Entry(a), true
	}
	jumps := w.flow.Jumps()
	for i := range jumps {
		if jumps[i].PC+uint64(jumps[i].Size) == from {
			return jumps[i].State, true
		}
	}
	w.confirmed()
	if s := w.usual(w.flow.Calls()); s != nil {
		state := s.State
		state.Return()
		return state, true
	}
	if s := w.usual(jumps); s != nil {
		return s.State, true
	}
	s, ok := flow.FromRow(a, &w.body)
	if n := w.flow.Most(w.agree); ok && n >= 0 {
		s.SetSP(&w.flow.Frames()[n])
	}
	return s, ok
}

// usual returns the most frequent state with the body's frame.
func (w *worker) usual(list []flow.Seen) *flow.Seen {
	var best *flow.Seen
	for i := range list {
		if n := w.flow.Number(list[i].PC); n >= 0 && w.agree[n] && (best == nil || list[i].Count > best.Count) {
			best = &list[i]
		}
	}
	return best
}

// trialText is the maximum length of a prologue, in bytes.
const trialText = 256

// startsFunction reports whether a function starts at an address: its first instructions set up
// the body's frame.
func (w *worker) startsFunction(at uint64) bool {
	text := w.text[at-w.out.lo:]
	w.trial.Reset(w.x.t.arch, at, text[:min(len(text), trialText)])
	w.trial.Follow(at, flow.Entry(w.x.t.arch))
	frames := w.trial.Frames()
	for i := range frames {
		if w.sameBody(&frames[i]) {
			return true
		}
	}
	return false
}

// padding returns the number of bytes from an address on that are not code of the function.
func (w *worker) padding(from, to uint64) uint64 {
	b := w.text[from-w.out.lo : to-w.out.lo]
	return uint64(code.Padding(w.x.t.arch, b))
}

// bodyOnly applies the body's row to everything except the padding at the end.
func (w *worker) bodyOnly(lo, hi uint64) {
	w.out.how = BodyOnly
	if n := uint64(len(w.text)); n == hi-lo {
		hi -= uint64(code.PaddingAtEnd(w.x.t.arch, w.text))
	}
	w.add(lo, hi, w.bodyRow())
}

// emit makes spans from the code that was reached. The function ends at hi.
func (w *worker) emit(hi uint64) {
	end := w.out.lo
	frames := w.flow.Frames()
	for range len(frames) {
		w.ids = append(w.ids, 0)
	}
	w.flow.Each(func(pc uint64, size, n int) bool {
		if w.ids[n] == 0 {
			w.ids[n] = w.rowOf(&frames[n]) + 1
		}
		if size == 0 || w.ids[n] < 0 {
			return true
		}
		if to := pc + uint64(size); to > end {
			w.add(max(pc, end), to, w.ids[n]-1) // if instructions overlap, the first
			end = to
		}
		return true
	})
	if n := w.out.lo + uint64(len(w.text)); n < hi && w.have {
		w.add(n, hi, w.bodyRow())
	}
}

// rowOf returns the index in out.rows of the row for a frame, or -2 if that frame has no row.
func (w *worker) rowOf(f *flow.Frame) int32 {
	if !f.CFA.Known() {
		if !w.have {
			return -2
		}
		return w.bodyRow()
	}
	r := w.newRow()
	f.Row(r)
	if w.have && f.Lost != 0 && f.IsAt(w.body.CFA.Reg, w.body.CFA.N) {
		for i := range r.Regs {
			if rr := &r.Regs[i]; rr.Kind == row.Undefined {
				if b := w.body.Rule(rr.Reg); b.Kind != row.Unspecified {
					rr.Rule = b
				}
			}
		}
	}
	return w.intern()
}

func (w *worker) bodyRow() int32 {
	w.newRow().CopyFrom(&w.body)
	return w.intern()
}

// newRow appends an empty row to out.rows. It reuses the memory of an earlier function.
func (w *worker) newRow() *row.Row {
	if n := len(w.out.rows); n < cap(w.out.rows) {
		w.out.rows = w.out.rows[:n+1]
		w.out.rows[n].Reset()
	} else {
		w.out.rows = append(w.out.rows, row.Row{})
		w.out.rows[n].Reset()
	}
	return &w.out.rows[len(w.out.rows)-1]
}

// intern looks for the last row among the earlier ones, and removes it if it finds an equal one.
func (w *worker) intern() int32 {
	last := len(w.out.rows) - 1
	h := compiled.HashRow(&w.out.rows[last])
	for i, have := range w.out.hash { // about ten; a Flow has at most a few thousand frames
		if have == h {
			w.out.rows = w.out.rows[:last]
			return int32(i)
		}
	}
	w.out.hash = append(w.out.hash, h)
	return int32(last)
}

// add appends a span.
func (w *worker) add(lo, hi uint64, r int32) {
	if lo >= hi {
		return
	}
	if n := len(w.out.spans); n > 0 {
		if s := &w.out.spans[n-1]; s.hi == lo && s.row == r {
			s.hi = hi
			return
		}
	}
	w.out.spans = append(w.out.spans, span{lo, hi, r})
}

// refinable reports whether the code may refine rows. For i386 and Thumb the result has not been verified.
func refinable(a *arch.Arch) bool { return a != arch.I386 && a != arch.ARM && code.Supported(a) }
