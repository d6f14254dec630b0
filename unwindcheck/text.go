package unwindcheck

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// String returns the range on one line, without the counts.
func (w *Wrong) String() string {
	var s strings.Builder
	if w.Module == "" {
		fmt.Fprintf(&s, "0x%x", w.Lo)
	} else {
		fmt.Fprintf(&s, "%s+0x%x", w.Module, w.Lo)
	}
	if w.Function != "" {
		fmt.Fprintf(&s, " <%s+0x%x>", w.Function, w.Offset)
	}
	fmt.Fprintf(&s, ": %s: %s", w.Origin, w.Text)
	return s.String()
}

// WriteText writes a report as text: the wrong ranges, one per line, and the summary.
func WriteText(out io.Writer, r *Report) error {
	var s strings.Builder
	for i := range r.Ranges {
		w := &r.Ranges[i]
		s.WriteString(w.String())
		switch {
		case w.Places > 1:
			fmt.Fprintf(&s, " [%d times, %d instructions up to +0x%x]\n", w.Hits, w.Places, w.Hi)
		case w.Hits == 1:
			s.WriteString(" [once]\n")
		default:
			fmt.Fprintf(&s, " [%d times]\n", w.Hits)
		}
	}
	if len(r.Ranges) > 0 {
		s.WriteString("\n")
	}
	fmt.Fprintf(&s, "%s: %s, %s\n", r.Program, count(r.Instructions, "instruction"), count(uint64(r.Threads), "thread"))
	fmt.Fprintf(&s, "  judged      %d: %s%% correct, %d wrong in %s\n", r.Judged(), percent(r.Correct, r.Judged()), r.Wrong, count(uint64(len(r.Ranges)), "range"))
	fmt.Fprintf(&s, "  exercised   %s of %s\n", count(uint64(r.Rows), "row"), count(uint64(r.Functions), "function"))
	for _, c := range r.Strategies {
		fmt.Fprintf(&s, "  %-11s %d: %s%% correct\n", c.Name, c.Judged, percent(c.Correct, c.Judged))
	}
	fmt.Fprintf(&s, "  deeper      %d callers of callers: %s%% correct\n", r.Deeper+r.DeeperWrong, percent(r.Deeper, r.Deeper+r.DeeperWrong))
	if r.Exact+r.ExactWrong > 0 {
		fmt.Fprintf(&s, "  exact       %d had trust exact: %s%% correct\n", r.Exact+r.ExactWrong, percent(r.Exact, r.Exact+r.ExactWrong))
	}
	if r.NotGivenBack > 0 {
		fmt.Fprintf(&s, "  not kept    %d wrong callers are due to registers that functions do not restore\n", r.NotGivenBack)
	}
	if r.WrongRows > 0 {
		fmt.Fprintf(&s, "  wrong rows  at %s; the unwinder rejected them\n", count(r.WrongRows, "instruction"))
	}
	if r.Proven > 0 {
		fmt.Fprintf(&s, "  landed      %d proven by where control went\n", r.Proven)
	}
	if r.UnknownRegisters > 0 {
		fmt.Fprintf(&s, "  registers   %d unknown\n", r.UnknownRegisters)
	}
	for _, why := range slices.Sorted(maps.Keys(r.NotJudged)) {
		fmt.Fprintf(&s, "  not judged  %d: %s\n", r.NotJudged[why], why)
	}
	if r.Signals > 0 || r.Execs > 0 {
		fmt.Fprintf(&s, "  events      %s, %s\n", count(r.Signals, "signal"), count(uint64(r.Execs), "exec"))
	}
	switch {
	case r.Signal != 0:
		fmt.Fprintf(&s, "  ended       by signal %d\n", r.Signal)
	case r.Exit != 0:
		fmt.Fprintf(&s, "  ended       with status %d\n", r.Exit)
	}
	if r.Instructions > 0 {
		fmt.Fprintf(&s, "  time        %.1f s, %.1f µs an instruction\n", r.Elapsed.Seconds(), float64(r.Elapsed.Microseconds())/float64(r.Instructions))
	}
	_, err := io.WriteString(out, s.String())
	return err
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// percent never rounds up to 100.
func percent(part, whole uint64) string {
	if part >= whole {
		return "100"
	}
	return fmt.Sprintf("%.4f", min(99.9999, 100*float64(part)/float64(whole)))
}
