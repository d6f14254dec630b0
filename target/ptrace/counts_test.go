package ptrace

import (
	"testing"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// What a false hit, a step, a stop and a resume cost is counted in ptrace requests. A false hit costs the same however many
// threads there are.
func TestRequests(t *testing.T) {
	var alone float64
	for _, idle := range []int{0, 200} {
		s := newStorm(t)
		const hits = 2000
		s.launch("idle", hits, idle)
		seen := s.sites(target.Pass)
		// Up to the first hit, threads are made.
		first := true
		s.SetJudge(func(h *target.Hit) target.Verdict {
			seen.Add(1)
			if first {
				first = false
				return target.Halt
			}
			return target.Pass
		})
		if e, _ := s.run(target.Resume{}); e.Kind != target.Stopped {
			t.Fatalf("%+v", e)
		}
		before := kernel.Requests()
		if e, _ := s.run(target.Resume{}); e.Kind != target.Exited {
			t.Fatalf("%+v", e)
		}
		each := float64(kernel.Requests()-before) / hits
		// GETREGSET, GETSIGINFO, SETREGSET, CONT; the resume, and the end of each idle thread, are shared by the hits.
		if each > 4.9 {
			t.Errorf("a false hit beside %d threads takes %.2f requests", idle, each)
		}
		if idle == 0 {
			alone = each
		} else if each > alone+0.6 {
			t.Errorf("a false hit takes %.2f requests beside %d threads, %.2f alone", each, idle, alone)
		}
		s.Close()
	}
	s := newStorm(t)
	const threads = 100
	s.launch("idle", -1, threads)
	s.sites(target.Halt)
	e, _ := s.run(target.Resume{})
	s.SetJudge(nil)
	before := kernel.Requests()
	const rounds = 20
	for range rounds {
		e, _ = s.run(target.Resume{Thread: e.Thread})
	}
	// For each thread PTRACE_INTERRUPT and PTRACE_CONT; one more of each for the thread that hit, to leave its SIGTRAP.
	if each := float64(kernel.Requests()-before) / rounds / (threads + 1); each > 4.5 {
		t.Errorf("a stop and a resume take %.2f requests for each thread", each)
	}
	before = kernel.Requests()
	e, _ = s.run(target.Resume{Thread: e.Thread, Alone: true, Step: true})
	if n := kernel.Requests() - before; n > 12 {
		t.Errorf("a step alone takes %d requests", n)
	}
}
