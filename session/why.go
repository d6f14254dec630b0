package session

import (
	"context"

	"dbg/frames"
	"dbg/target"
)

// Why tells how one level of a backtrace was found.
type Why struct {
	Frame    Frame
	Evidence frames.Evidence // of the machine frame
	// EntryFunctions holds, for each of Evidence.Tries, the name of the function of the table's
	// entry, or "".
	EntryFunctions []string
}

// Why tells how a level of a thread's backtrace was found: the strategies that were tried, the
// table's entry and rule, the memory that was read, the checks that passed. It repeats the walk.
func (s *Session) Why(t target.ThreadID, level int) (Why, error) {
	return ask(s, func() (Why, error) {
		f, err := s.frame(t, level)
		if err != nil {
			return Why{}, err
		}
		regs, err := s.tgt.Registers(t)
		if err != nil {
			return Why{}, err
		}
		ev, err := s.unwinder().Walk(&regs).Explain(context.Background(), f.Machine.Index)
		if err != nil {
			return Why{}, err
		}
		w := Why{Frame: f, Evidence: ev}
		for i := range ev.Tries {
			try := &ev.Tries[i]
			name := ""
			if try.HasRow {
				name, _, _ = s.symbolize(target.Addr(try.Origin.Row.Lo + try.Bias))
			}
			w.EntryFunctions = append(w.EntryFunctions, name)
		}
		return w, nil
	})
}
