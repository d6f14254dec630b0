package ptrace

import (
	"testing"

	"dbg/target"
)

// A thread whose event the judge passes goes on with the end of its step. The stops of others that
// were put back before it stay pending.
func TestPassedEventKeepsPending(t *testing.T) {
	for _, tc := range []struct {
		name string
		why  stop
	}{{"watched", watched}, {"noticed", noticed}} {
		t.Run(tc.name, func(t *testing.T) {
			p := newProcess(target.Launched)
			p.setPID(1 << 30) // no such process: nothing is sent to the kernel
			p.decide = func(*target.Hit) target.Verdict { return target.Pass }
			frozen, stepper := newThread(1<<30+1), newThread(1<<30+2)
			frozen.icy, frozen.why = true, breakpoint
			stepper.why, stepper.stepDone = tc.why, true
			for _, th := range []*thread{frozen, stepper} {
				p.threads[th.tid] = th
				p.arrived(th)
			}
			p.running, p.stepping, p.stepper = true, true, stepper
			if p.reportPending() {
				t.Fatal("a stop was reported")
			}
			if !stepper.parked {
				t.Error("the end of the step was not judged")
			}
			if len(p.pending) != 1 || p.pending[0] != frozen {
				t.Errorf("%d stops are pending; want that of the frozen thread", len(p.pending))
			}
		})
	}
}
