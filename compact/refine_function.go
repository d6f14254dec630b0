package compact

import (
	"errors"

	"dbg/arch"
	"dbg/code"
	"dbg/row"
	"dbg/row/compiled"
)

// worker refines one function after the other; it is for one goroutine.
type worker struct {
	x     *Refiner
	flow  code.Flow
	trial code.Flow // of what may be a function of its own
	body  row.Row
	have  bool   // body is the table's
	text  []byte // of the function
	data  []data // in it
	out   refined
	ids   []int32 // frame -> row of out, plus 1
	agree []bool  // of frames: it is the body's
}

// refine makes w.out for the part from lo to hi of an entry. ErrNotCovered if it has no rows.
//
// What the table says and what the code says are weighed as follows.
//
//   - The code is followed from the function's start, all ways. The function is confirmed if somewhere on them the frame is that of
//     the body: the same CFA, the same registers saved in the same places. Then the instructions are believed at every address that
//     is reached, even where they differ from the body's row, as in prologues, epilogues, and code that runs before a
//     late prologue or behind an early epilogue.
//   - Where they can't say where the CFA is, the body's row holds. It also holds for a register that the instructions have lost sight
//     of, where the CFA is the body's.
//   - Landing pads, the cases of a jump table and what follows a call that does not return are not reached from the start. They are
//     followed from the state in which they are entered: that at a call of this function, or at the jump through the table.
//   - Padding, which nothing reaches, has no row.
//   - A function of which the table says nothing has rows where all ways from its start end in returns, or in jumps to other functions, with the
//     stack and the registers as they were; else none. So has one that is not confirmed: functions without a frame have the null
//     opcode on x86-64, for which LLVM's linker writes no entry, so that they lie in that of the function before.
//   - Otherwise a function that is not confirmed keeps the body's row everywhere but in its padding: its code may be anything.
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
		w.flow.Follow(lo, code.Entry(t.arch))
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
	w.confirmed()     // what is new
	w.have = !escaped // where the code can't say it, __eh_frame does
	w.emit(hi)
	return nil
}

// escape takes the last row that __eh_frame has of the function as its body's, since it describes no epilogues; whether
// there is one.
func (w *worker) escape() bool {
	last, any := uint64(0), false
	w.flow.Each(func(pc uint64, size, n int) bool {
		last, any = pc, true
		return true
	})
	return any && w.x.Escape(last, &w.body) == nil
}

// clean reports whether all ways from the start of a function without a row of its body, or with one that is not its own, end in returns, or in
// jumps to other functions, in the state that callers expect. Then what a jump through a table may lead to is followed too, in
// the state of the jump; the table itself, which may be there as well, is not told from code, and does no harm.
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

// confirmed finds out which frames are the body's; whether there is one.
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

// sameBody reports whether a frame is the body's.
func (w *worker) sameBody(f *code.Frame) bool {
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

// fillGaps follows what the function's start does not lead to.
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
		if pc = at; w.flow.Number(at) < 0 { // out of instructions
			return
		}
	}
}

// entered is the state in which code is entered that nothing leads to; from is where what is before it ends. It is that of the jump
// through a table just before; else of a call, whose landing pad it may be; else of any jump through a table; else the body's, with the stack
// pointer where most of the body has it.
func (w *worker) entered(from, at uint64) (code.State, bool) {
	a := w.x.t.arch
	if len(w.x.starts) == 0 && w.startsFunction(at) {
		return code.Entry(a), true
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
	s, ok := code.FromRow(a, &w.body)
	if n := w.flow.Most(w.agree); ok && n >= 0 {
		s.SetSP(&w.flow.Frames()[n])
	}
	return s, ok
}

// usual is the state with the body's frame that most of them have.
func (w *worker) usual(list []code.Seen) *code.Seen {
	var best *code.Seen
	for i := range list {
		if n := w.flow.Number(list[i].PC); n >= 0 && w.agree[n] && (best == nil || list[i].Count > best.Count) {
			best = &list[i]
		}
	}
	return best
}

// trialText is how long a prologue may be.
const trialText = 256

// startsFunction reports whether a function starts at an address: its first instructions make the body's frame.
func (w *worker) startsFunction(at uint64) bool {
	text := w.text[at-w.out.lo:]
	w.trial.Reset(w.x.t.arch, at, text[:min(len(text), trialText)])
	w.trial.Follow(at, code.Entry(w.x.t.arch))
	frames := w.trial.Frames()
	for i := range frames {
		if w.sameBody(&frames[i]) {
			return true
		}
	}
	return false
}

// padding is how many bytes from an address on are no code of the function.
func (w *worker) padding(from, to uint64) uint64 {
	b := w.text[from-w.out.lo : to-w.out.lo]
	return uint64(code.Padding(w.x.t.arch, b))
}

// bodyOnly gives the body's row to all but the padding at the end.
func (w *worker) bodyOnly(lo, hi uint64) {
	w.out.how = BodyOnly
	if n := uint64(len(w.text)); n == hi-lo {
		hi -= uint64(code.PaddingAtEnd(w.x.t.arch, w.text))
	}
	w.add(lo, hi, w.bodyRow())
}

// emit makes spans of what was reached; the function ends at hi.
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
			w.add(max(pc, end), to, w.ids[n]-1) // of instructions that overlap, the first
			end = to
		}
		return true
	})
	if n := w.out.lo + uint64(len(w.text)); n < hi && w.have {
		w.add(n, hi, w.bodyRow())
	}
}

// rowOf is the row of a frame, by its place in out.rows; -2 if there is none.
func (w *worker) rowOf(f *code.Frame) int32 {
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

// newRow is an empty one at the end of out.rows, with the memory of an earlier function's.
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

// intern finds the last row among those before, and drops it then.
func (w *worker) intern() int32 {
	last := len(w.out.rows) - 1
	h := compiled.HashRow(&w.out.rows[last])
	for i, have := range w.out.hash { // some ten; a Flow has no more than a few thousand frames
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

// refinable reports whether rows are refined by the code. For i386 it has not been shown to be right.
func refinable(a *arch.Arch) bool { return a != arch.I386 && code.Supported(a) }
