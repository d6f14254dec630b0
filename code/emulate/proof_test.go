//go:build linux && amd64

package emulate

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
)

// corpus returns the instructions to try.
func corpus(t testing.TB) [][]byte {
	all := distinct(t)
	if fixture.All() {
		return all
	}
	return sample(all, 3, 97)
}

// TestRunLikeProcessor compares Run with a step of the processor, for instructions of the libraries
// and for generated ones, with random registers and memory.
func TestRunLikeProcessor(t *testing.T) {
	p := newProcessor(t)
	judge := newJudge(t)
	model := &arena{arenaBase, make([]byte, arenaSize)}
	fill(p.arena)
	copy(model.data, p.arena)
	claimed, compared, failures := 0, 0, 0
	perSet := 3
	if fixture.All() {
		perSet = 30
	}
	for _, code := range append(corpus(t), generated(perSet)...) {
		if _, ok := Decode(code, 0); !ok {
			continue
		}
		claimed++
		rng := randomFor(code)
		successes := 0
		for range 12 {
			try := newTrial(code, rng, p.arena)
			copy(model.data, p.arena)
			ok, difference := judge.compare(p, try, model)
			if ok {
				successes++
			}
			if difference != "" {
				t.Errorf("% x (%s)\n%s", try.code, name(try.code), difference)
				if failures++; failures > 20 {
					t.Fatal("too many differences")
				}
				break
			}
		}
		if successes == 0 {
			t.Errorf("% x (%s): never executed", code, name(code))
		}
		compared += successes
	}
	t.Logf("%d distinct instructions, %d comparisons", claimed, compared)
}

func fill(arena []byte) {
	rng := randomFor(nil)
	for i := range arena {
		arena[i] = byte(rng.Uint32())
	}
}

func name(code []byte) string {
	in, err := x86asm.Decode(code, 64)
	if err != nil {
		return "unknown to x86asm"
	}
	return x86asm.IntelSyntax(in, codeBase, nil)
}

// judge compares outcomes.
type judge struct {
	amd bool // Undefined flags are as Run leaves them.
}

func newJudge(t testing.TB) judge {
	info, err := os.ReadFile("/proc/cpuinfo")
	check(t, err)
	amd := bytes.Contains(info, []byte("AuthenticAMD"))
	if !amd {
		t.Log("not a processor of AMD: undefined flags are not compared")
	}
	return judge{amd}
}

// compare executes a trial with Run and by a step. It returns false if Run has refused it, and how
// the outcomes differ.
func (j judge) compare(p *processor, try trial, model *arena) (ok bool, difference string) {
	op, _ := Decode(try.code, try.regs.RIP)
	r := try.regs
	if err := op.Run(&r, model); err != nil {
		if r != try.regs || !bytes.Equal(model.data, p.arena) {
			return false, "Run has changed something and returned " + err.Error()
		}
		return false, ""
	}
	copy(p.code[try.regs.RIP-codeBase:], try.code)
	regs := p.registers(&try.regs)
	signal := p.step(&regs)
	if signal != unix.SIGTRAP {
		return true, fmt.Sprintf("Run has executed it, the processor raised %v", signal)
	}
	real := regsOf(&regs)
	if !j.amd {
		undefined := undefinedFlags(&op, &try.regs)
		real.Flags &^= undefined
		r.Flags &^= undefined
	}
	return true, differences(&try.regs, &r, &real) + memoryDifferences(model.data, p.arena)
}

// undefinedFlags returns the flags that the SDM leaves undefined after an instruction.
func undefinedFlags(o *Op, r *Regs) uint64 {
	count, _ := o.read(r, nil, o.src, 1)
	if o.src == memoryPlace || o.src == absolute {
		count = 0
	}
	switch o.kind {
	case and, or, xor, test:
		return flagAF
	case imul, imul3:
		return flagSF | flagZF | flagAF | flagPF
	case bt, bts, btr, btc:
		return flagOF | flagSF | flagAF | flagPF
	case rol, ror:
		if shiftCount(count, o.size) != 1 {
			return flagOF
		}
	case shl, shr, sar:
		switch n := shiftCount(count, o.size); {
		case n == 0:
			return 0
		case n == 1:
			return flagAF
		case n >= 8*uint64(o.size):
			return flagAF | flagOF | flagCF
		}
		return flagAF | flagOF
	}
	return 0
}

func memoryDifferences(got, want []byte) string {
	for i := range got {
		if got[i] != want[i] {
			end := min(i+16, len(got))
			return fmt.Sprintf("  memory at %#x: emulated % x, processor % x\n", arenaBase+i, got[i:end], want[i:end])
		}
	}
	return ""
}
