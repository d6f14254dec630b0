package ptrace

import (
	"context"
	"os"
	"testing"

	"dbg/arch"
	"dbg/target"
)

// counter is a visitor that counts and looks at the code, for its next instruction.
type counter struct {
	p     *Process
	left  int
	by    [StepGone + 1]int
	tids  map[target.ThreadID]bool
	every int // a SIGUSR1 each so many steps
	last  Step
	code  map[uint64]Instruction
}

func (c *counter) VisitStep(s *Step) Next {
	c.by[s.Cause]++
	c.last = *s
	if s.Regs == nil {
		return Next{}
	}
	c.tids[s.Thread] = true
	pc, _ := s.Regs.Get(arch.RIP)
	if s.Cause == StepExec {
		clear(c.code)
	}
	n, ok := c.code[pc]
	if !ok {
		var b [15]byte
		got, _ := c.p.ReadMemory(target.Addr(pc), b[:])
		switch decode(b[:got]) {
		case insnSyscall:
			n = SyscallInstruction
		case insnPushf:
			n = PushfInstruction
		}
		c.code[pc] = n
	}
	c.left--
	next := Next{Instruction: n, Stop: c.left == 0}
	if c.every > 0 && c.by[StepDone]%c.every == 0 {
		next.Signal = 10
	}
	return next
}

func stepProgram(t testing.TB, left, every int, path string, args ...string) *counter {
	p, err := Launch(LaunchOptions{Path: path, Args: args, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := &counter{p: p, left: left, every: every, tids: map[target.ThreadID]bool{}, code: map[uint64]Instruction{}}
	if err := p.StepAll(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStepAllToTheEnd(t *testing.T) {
	c := stepProgram(t, -1, 0, "/bin/true")
	if c.by[StepFirst] != 1 || c.by[StepDone] < 10_000 || c.by[StepGone] != 1 || c.last.Status != 0 {
		t.Errorf("stops by cause: %v; last: %+v", c.by, c.last)
	}
}

func BenchmarkStepAll(b *testing.B) {
	b.ReportAllocs()
	stepProgram(b, b.N, 0, "/bin/ls", "-lR", "/usr/share/doc")
}
