package ptrace

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/stepall"
)

// counter is a visitor that counts and looks at the code, for its next instruction.
type counter struct {
	p     *Process
	left  int
	by    [stepall.CauseGone + 1]int
	tids  map[target.ThreadID]bool
	every int // a SIGUSR1 each so many steps
	last  stepall.Step
	code  map[uint64]stepall.Instruction

	syscall func(nr uint64) // called before each
}

func (c *counter) VisitStep(s *stepall.Step) stepall.Next {
	c.by[s.Cause]++
	c.last = *s
	if s.Regs == nil {
		return stepall.Next{}
	}
	c.tids[s.Thread] = true
	pc, _ := s.Regs.Get(arch.RIP)
	if s.Cause == stepall.CauseExec {
		clear(c.code)
	}
	n, ok := c.code[pc]
	if !ok {
		switch instruction.ClassAt(c.p.mem, target.Addr(pc)) {
		case instruction.Syscall:
			n = stepall.Syscall
		case instruction.Pushf:
			n = stepall.Pushf
		}
		c.code[pc] = n
	}
	if nr, _ := s.Regs.Get(arch.RAX); n == stepall.Syscall && c.syscall != nil {
		c.syscall(nr)
	}
	c.left--
	next := stepall.Next{Instruction: n, Stop: c.left == 0}
	if c.every > 0 && c.by[stepall.CauseDone]%c.every == c.every-1 {
		next.Signal = 10
	}
	return next
}

func stepProgram(t testing.TB, left, every int, path string, args ...string) *counter {
	t.Helper()
	c, err := stepUntil(context.Background(), t, &counter{left: left, every: every}, path, args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func stepUntil(ctx context.Context, t testing.TB, c *counter, path string, args ...string) (*counter, error) {
	t.Helper()
	p, err := Launch(LaunchOptions{Path: path, Args: args, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c.p, c.tids, c.code = p, map[target.ThreadID]bool{}, map[uint64]stepall.Instruction{}
	err = p.StepAll(ctx, c)
	if c.last.Cause != stepall.CauseGone {
		if _, err := p.Registers(c.last.Thread); err != nil {
			t.Errorf("the process is not stopped: %v", err)
		}
	}
	return c, err
}

func TestStepAllToTheEnd(t *testing.T) {
	c := stepProgram(t, -1, 0, fixture.Build(t, "check/handled.c", "-O2", "-static"))
	if c.by[stepall.CauseFirst] != 1 || c.by[stepall.CauseDone] < 10_000 || c.by[stepall.CauseGone] != 1 || c.last.Status != 0 {
		t.Errorf("stops by cause: %v; last: %+v", c.by, c.last)
	}
}

// TestStepAllChildrenAndExec: children are let go and end as they should; exec begins another program.
func TestStepAllChildrenAndExec(t *testing.T) {
	c := stepProgram(t, -1, 0, fixture.Build(t, "check/execs.c", "-O2", "-static"))
	if c.by[stepall.CauseExec] != 1 || c.last.Cause != stepall.CauseGone || c.last.Status != 3 || len(c.tids) != 1 {
		t.Errorf("stops by cause: %v; threads %v; last: %+v", c.by, c.tids, c.last)
	}
}

func TestStepAllThreads(t *testing.T) {
	c := stepProgram(t, -1, 0, fixture.Build(t, "check/threads.c", "-O2", "-static"))
	if c.by[stepall.CauseThread] != 4 || c.by[stepall.CauseExit] < 4 || len(c.tids) != 5 || c.last.Cause != stepall.CauseGone || c.last.Status != 0 {
		t.Errorf("stops by cause: %v; threads %v; last: %+v", c.by, c.tids, c.last)
	}
}

func TestStepAllSignals(t *testing.T) {
	prog := fixture.Build(t, "check/handled.c", "-O2", "-static")
	// The first is sent when the handler is there.
	c := stepProgram(t, -1, 40_000, prog)
	if n := c.by[stepall.CauseSignal]; n < 2 || c.last.Status != 0 || c.last.Signal != 0 {
		t.Errorf("stops by cause: %v; last: %+v", c.by, c.last)
	}
	c = stepProgram(t, -1, 1000, prog) // before there is a handler
	if c.last.Cause != stepall.CauseGone || c.last.Signal != 10 || c.by[stepall.CauseDone] > 1001 {
		t.Errorf("stops by cause: %v; last: %+v", c.by, c.last)
	}
}

// TestStepAllEnds: a thread that waits in the kernel does not keep StepAll from ending.
func TestStepAllEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const nanosleep = 230
	c, err := stepUntil(ctx, t, &counter{left: -1, syscall: func(nr uint64) {
		if nr == nanosleep {
			cancel()
		}
	}}, fixture.Build(t, "check/sleeps.c", "-O2", "-static"))
	if !errors.Is(err, context.Canceled) || c.by[stepall.CauseDone] < 1000 {
		t.Errorf("error %v; stops by cause: %v", err, c.by)
	}
	c = stepProgram(t, 5000, 0, "/bin/true")
	if n := c.by[stepall.CauseDone]; n != 4999 {
		t.Errorf("%d steps", n)
	}
}

// TestStepAllAllocatesNothing: not for a step.
func TestStepAllAllocatesNothing(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := stepProgram(t, 20_000, 0, "/bin/true")
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > uint64(c.by[stepall.CauseDone]/10) {
		t.Errorf("%d allocations in %d steps", n, c.by[stepall.CauseDone])
	}
}

func BenchmarkStepAll(b *testing.B) {
	b.ReportAllocs()
	stepProgram(b, b.N, 0, "/bin/ls", "-lR", "/usr/share/doc")
}
