package frames

import (
	"context"
	"fmt"

	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// Evidence describes how a frame was found, for `frame why`. It comes from a second walk.
type Evidence struct {
	Frame *Frame
	// Tries are the strategies that were tried, in their order. The last one found the frame. If
	// there is no such frame, Frame is nil, and the walk ends before it.
	Tries []Try
	End   End // set if there is no such frame
}

// Try is one strategy's attempt at a frame.
type Try struct {
	Strategy Strategy
	Found    bool
	Why      string // why it failed

	// For strategies that use a table: the section and the row, in the module's address space.
	// HasRow is set if there was a row.
	HasRow bool
	Origin Origin
	Bias   uint64

	Reads  []Read   // memory that was read, in order
	Guards []string // the checks that passed
}

// Read is a word of memory that a strategy has read.
type Read struct {
	Addr  target.Addr
	Value uint64
	Err   error
	Reg   arch.Reg // the caller's register that was read, or NoReg
}

// maxReads limits the recorded memory reads of one try: scanning reads a lot.
const maxReads = 64

// recorder collects evidence.
type recorder struct {
	tries []Try
	now   Try
}

// Explain walks to the frame with an index and describes how it was found. Index 0 is the thread's
// own registers: nothing was tried. A cancelled ctx is an error.
func (w *Walk) Explain(ctx context.Context, index int) (Evidence, error) {
	e := &Walk{u: w.u, start: w.start, Record: index == 1}
	for f, err := range e.Frames(ctx) {
		switch {
		case err != nil:
			return Evidence{}, err
		case f.Index == index:
			return Evidence{Frame: f.Clone(), Tries: f.Tries}, nil
		case f.Index == index-2: // the following frame's caller is the wanted frame
			e.rec, e.slow = &recorder{}, true
		}
	}
	ev := Evidence{End: e.End()}
	if e.rec != nil {
		ev.Tries = e.rec.tries
	}
	return ev, nil
}

// guard records a check that passed.
func (w *Walk) guard(what string) {
	if w.rec != nil {
		w.rec.now.Guards = append(w.rec.now.Guards, what)
	}
}

// usesRow records the row that is applied.
func (w *Walk) usesRow(s *site) {
	if w.rec == nil {
		return
	}
	n := &w.rec.now
	n.Bias = s.module.Bias()
	if o, err := w.u.Origin(s.pc, s.precise); err == nil {
		n.Origin, n.HasRow = o, true
	}
}

// found records that a strategy has found the caller.
func (w *Walk) found(how Strategy) {
	if w.rec != nil {
		w.rec.close(how, "")
		reads := w.rec.tries[len(w.rec.tries)-1].Reads
		for i := range reads {
			reads[i].Reg = w.caller.SavedAt(reads[i].Addr)
		}
	}
}

func (r *recorder) close(how Strategy, why string) {
	r.now.Strategy, r.now.Why, r.now.Found = how, why, why == ""
	r.tries = append(r.tries, r.now)
	r.now = Try{}
}

// recording is memory that records each read.
type recording struct {
	row.Words
	rec *recorder
}

func (m recording) Word(addr target.Addr, size int) (uint64, error) {
	v, err := m.Words.Word(addr, size)
	if n := &m.rec.now; len(n.Reads) < maxReads {
		n.Reads = append(n.Reads, Read{Addr: addr, Value: v, Err: err, Reg: arch.NoReg})
	}
	return v, err
}

// RowString returns the row of a try in words, for comparison with a dump of the section.
func (t *Try) RowString(a *arch.Arch) string {
	if !t.HasRow {
		return ""
	}
	r := &t.Origin.Row
	s := fmt.Sprintf("CFA=%s", r.CFAString(a))
	if r.CFA.Kind == row.ValExpr {
		s = "CFA " + r.CFA.Explain(a)
	}
	for _, rr := range r.Regs {
		if rr.Reg != r.RA {
			s += fmt.Sprintf(", %s %s", a.RegName(rr.Reg), rr.Explain(a))
		}
	}
	if t.Origin.Table == ".sframe" {
		s += ", other registers not described"
	}
	switch ra := r.Rule(r.RA); {
	case ra.Kind != row.Unspecified:
		s += ", return address " + ra.Explain(a)
	case r.RA == a.LR:
		s += ", return address in " + a.RegName(a.LR)
	}
	return s
}
