package session_test

import (
	"fmt"
	"strconv"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestTraceEveryHit: four threads call a function, and the tracepoint has each call once, with its
// values, in the order of each thread. The fast way and the full evaluator agree.
func TestTraceEveryHit(t *testing.T) {
	t.Parallel()
	const rounds = 1500
	exe := fixture.Build(t, "c/tracing.c", "-g", "-O0", "-pthread")
	for name, collect := range map[string][]string{
		"compiled": {"number", "*it", "text", "it->half * 4", "missing"},
		// A call is never compiled, and never made: its error is collected.
		"evaluated": {"number", "*it", "text", "it->half * 4", "missing", "work(1, it, text)"},
	} {
		for _, condition := range []string{"", "number % 3 != 1"} {
			t.Run(name+" "+condition, func(t *testing.T) {
				s := session.New(session.Config{})
				defer s.Close()
				if err := s.Load(session.Program{Path: exe, Args: []string{strconv.Itoa(rounds)}}); err != nil {
					t.Fatal(err)
				}
				bad := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "work"}, Trace: &session.TraceSpec{Collect: collect}}
				if _, err := s.SetBreakpoint(bad, false); err == nil {
					t.Fatal("an unknown name was accepted")
				}
				spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "work"}, Condition: condition}
				spec.Trace = &session.TraceSpec{Collect: append(append([]string{}, collect[:4]...), collect[5:]...)}
				b, err := s.SetBreakpoint(spec, false)
				if err != nil {
					t.Fatal(err)
				}
				events, cancel := s.Subscribe()
				defer cancel()
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				if ev, ok := next(t, events).(session.Ended); !ok || !ev.Exited {
					t.Fatalf("%+v", ev)
				}
				want := 4 * rounds
				if condition != "" {
					want = 4 * (rounds - rounds/3)
				}
				at := map[target.ThreadID]int{}
				seen := 0
				for from := uint64(1); ; {
					list, lost, err := s.TraceRecords(b.ID, from, 500)
					if err != nil || lost != 0 {
						t.Fatal(err, lost)
					}
					if len(list) == 0 {
						break
					}
					from = list[len(list)-1].Number + 1
					for _, r := range list {
						seen++
						i := at[r.Thread]
						if condition != "" && i%3 == 1 {
							i++
						}
						at[r.Thread] = i + 1
						text := map[bool]string{false: "even", true: "odd"}[i%2 == 1]
						v := r.Values
						if v[0].Text != strconv.Itoa(i) || v[3].Text != strconv.Itoa(2*i) || !hasSuffix(v[2].Text, strconv.Quote(text)) {
							t.Fatalf("hit %d: %+v", r.Number, v)
						}
						var thread, number int
						if n, err := fmt.Sscanf(v[1].Text, "{thread = %d, number = %d, ", &thread, &number); n != 2 || number != 10*i {
							t.Fatalf("hit %d: %s, %v", r.Number, v[1].Text, err)
						}
						if len(v) > 4 && v[4].Err == "" {
							t.Fatalf("hit %d: a call was made: %+v", r.Number, v[4])
						}
					}
				}
				if seen != want || len(at) != 4 {
					t.Errorf("%d records of %d hits in %d threads", seen, want, len(at))
				}
				for _, have := range s.Breakpoints() {
					if have.Hits != want {
						t.Errorf("%d hits, not %d", have.Hits, want)
					}
				}
			})
		}
	}
}

func hasSuffix(s, end string) bool { return len(s) >= len(end) && s[len(s)-len(end):] == end }
