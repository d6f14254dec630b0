package ptrace

import (
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/instruction"
)

// An instruction that is not emulated is executed out of line, by several threads at once: each hit is seen, and nobody is
// stopped for it.
func TestOutOfLine(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	s.launch("vector", 200, 4)
	var hits atomic.Int64
	s.SetJudge(func(*target.Hit) target.Verdict { hits.Add(1); return target.Pass })
	if err := s.InsertBreakpoint(symbolIn(t, stormProgram(t), "vector")); err != nil {
		t.Fatal(err)
	}
	e, _ := s.run(target.Resume{})
	s.wantExit(e)
	if hits.Load() != 800 || s.count(stormHits) != 800 {
		t.Errorf("%d hits, %d counted; want 800", hits.Load(), s.count(stormHits))
	}
	if s.scratch.Addr() == 0 {
		t.Fatal("there is no room in the vDSO")
	}
	if s.slow != 0 {
		t.Errorf("all threads were stopped %d times", s.slow)
	}
}

// A fault of an instruction that is executed out of line is one of the program's own instruction.
func TestFaultOutOfLine(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		function string
		signal   unix.Signal
	}{{"load", unix.SIGSEGV}, {"divide", unix.SIGFPE}} {
		s := newStorm(t)
		s.launch("fault", i)
		s.SetJudge(func(*target.Hit) target.Verdict { return target.Pass })
		a := symbolIn(t, stormProgram(t), c.function)
		if err := s.InsertBreakpoint(a); err != nil {
			t.Fatal(err)
		}
		e, _ := s.run(target.Resume{})
		if e.Kind != target.Stopped || e.Signal == nil || e.Signal.Number != int(c.signal) {
			t.Fatalf("%+v", e)
		}
		want := a
		if c.signal == unix.SIGSEGV {
			want = 16
		}
		if e.Signal.Addr != want {
			t.Errorf("the fault is at %v, want %v", e.Signal.Addr, want)
		}
		r, err := s.Registers(e.Thread)
		if err != nil {
			t.Fatal(err)
		}
		if pc, _ := r.PC(); target.Addr(pc) != a {
			t.Errorf("PC %#x, want %v", pc, a)
		}
		var b [instruction.ScratchSize]byte
		if n, _ := s.mem.Read(s.scratch.Addr(), b[:]); n != len(b) || b != [instruction.ScratchSize]byte{} {
			t.Errorf("% x is left in the vDSO", b)
		}
		if e, _ = s.run(target.Resume{}); e.Kind != target.Killed || e.Signal.Number != int(c.signal) {
			t.Fatalf("%+v", e)
		}
	}
}
