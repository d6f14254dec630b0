package follow

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/frames/module"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

// nothing is an address space without memory: the code is in the module.
type nothing struct{}

func (n nothing) ReadMemory(a target.Addr, _ []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Why: "not mapped"}
}
func (n nothing) Executable(target.Addr) bool { return true }

// startTo reads from a start to one address, as forward does for all of them together: the plain way to say what
// forward has to give.
func startTo(r Reader, start, lo, hi, to uint64) *Rule {
	sim := simulation{Reader: r}
	seen := map[uint64]bool{}
	behind := notReached
	ways, waiting := []codePath{entryAt(arch.AMD64, start)}, []codePath(nil)
	for len(ways)+len(waiting) > 0 {
		if len(ways) == 0 {
			ways, waiting = waiting, nil
		}
		at := ways[len(ways)-1]
		ways = ways[:len(ways)-1]
	way:
		for {
			if at.pc == to && lo <= to && to < hi {
				return ruleAt(&at)
			}
			if at.pc < lo || at.pc >= hi || seen[at.pc] {
				break
			}
			seen[at.pc] = true
			if sim.count++; sim.count > startInstructions {
				return behind
			}
			var buf [aheadBytes]byte
			in := code.DecodeX86(sim.Read(at.pc, buf[:]))
			if in.Next == code.Bad || in.Len == 0 {
				break
			}
			at.pc += uint64(in.Len)
			switch in.Next {
			case code.Return:
				break way
			case code.Trap:
				if at.pc == to && behind == notReached {
					behind = ruleAt(&at)
				}
				break way
			case code.Jump, code.Indirect:
				if to := sim.leadsTo(&in, at.pc); to != 0 {
					at.pc = to
				} else if first := entryAt(arch.AMD64, start); *ruleAt(&at) == *ruleAt(&first) || hi-lo <= MaxFunction {
					break way
				}
				continue
			case code.Branch:
				if len(ways) < maxPaths {
					other := at
					other.pc += uint64(int64(in.Imm))
					ways = append(ways, other)
				}
			}
			at.Apply(&in)
			if (in.Next == code.Call || in.Next == code.CallFar) && len(waiting) < maxPaths {
				waiting = append(waiting, at)
				break
			}
		}
	}
	return behind
}

func ruleAt(at *codePath) *Rule {
	var f flow.Frame
	at.Frame(&f)
	return ruleOf(arch.AMD64, &f)
}

// TestForwardOnce holds what is found for all addresses of a function together against what is found for each alone, in
// whatever order they are asked for.
func TestForwardOnce(t *testing.T) {
	path, err := filepath.EvalSymlinks("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		fixture.Missing(t, err.Error())
	}
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Arch() != arch.AMD64 {
		fixture.Missing(t, "a libc of x86-64")
	}
	m := module.Of(f, nil)
	r := Reader{Arch: arch.AMD64, Memory: nothing{}, File: m}
	functions, addresses, found, byTable := 0, 0, 0, 0
	for i, s := range f.Symbols() {
		if i%3 != 0 || s.Size < 16 || s.Size > 4000 || m.CodeAt(uint64(s.Addr), int(s.Size)) == nil {
			continue
		}
		lo, hi := uint64(s.Addr), uint64(s.Addr)+s.Size
		bounds := [2]uint64{lo, hi}
		if functions%2 == 1 {
			bounds = [2]uint64{0, 1<<64 - 1}
		}
		functions++
		all := newForward(r, lo, bounds[0], bounds[1])
		pcs := make([]uint64, 0, hi-lo)
		all.ruleAt(hi) // so that reached has what there is; then anew, in a random order
		led := map[uint64]*Rule{}
		for pc, r := range all.reached {
			pcs = append(pcs, pc)
			if r.led {
				led[pc] = r.rule
			}
		}
		for pc := range all.afterTrap {
			pcs = append(pcs, pc)
		}
		pcs = append(pcs, lo+1, lo+2, lo+3)
		all = newForward(r, lo, bounds[0], bounds[1])
		for _, i := range rand.New(rand.NewPCG(1, uint64(functions))).Perm(len(pcs))[:min(len(pcs), 200)] {
			pc := pcs[i]
			addresses++
			got, _ := all.ruleAt(pc)
			want := led[pc]
			if want == nil {
				want = startTo(r, lo, bounds[0], bounds[1], pc)
			} else if want.Why == "" {
				byTable++
			}
			if *got != *want {
				t.Fatalf("%s: from 0x%x to 0x%x: %+v, want %+v", s.Name, lo, pc, *got, *want)
			}
			if want.Why == "" {
				found++
			}
		}
	}
	t.Logf("%d functions, %d addresses, %d with a rule, %d by a jump through a table", functions, addresses, found, byTable)
	if found < 1000 || found == addresses || byTable < 100 {
		t.Errorf("of %d addresses %d have a rule", addresses, found)
	}
}

// TestForwardIsBounded asks for more functions than are kept, of endless code.
func TestForwardIsBounded(t *testing.T) {
	code := make([]byte, 1<<20)
	for i := range code {
		code[i] = 0x50 // push %rax
	}
	m := module.New(module.Contents{Lo: 0, Hi: 1 << 20, Code: []module.Section{{Data: code}}})
	var cache Functions
	ask := func(start, pc uint64) *Rule {
		r, _, _ := cache.Rule(Reader{Arch: arch.AMD64, Memory: nothing{}, File: m}, start, 0, 1<<64-1, pc, 1)
		return r
	}
	for i := range uint64(60) {
		if r := ask(i*512, i*512+startInstructions+5); r.Why == "" {
			t.Fatalf("function %d: %+v, though it is more than %d instructions away", i, *r, startInstructions)
		}
		kept := 0
		for _, f := range cache.recent {
			kept += f.size()
		}
		for _, f := range cache.older {
			kept += f.size()
		}
		if most := 2 * (maxStartsSize + startInstructions + maxPaths); kept > most {
			t.Fatalf("after %d functions %d instructions are kept, more than %d", i+1, kept, most)
		}
	}
	if len(cache.older) == 0 {
		t.Error("nothing was ever put away")
	}
	if r := ask(0, 5); r.Why != "" || r.RA().Off != 5*8 {
		t.Errorf("after 5 pushes: %+v", *r)
	}
}

// TestForwardIsReadAgain changes code of no file, as a compiler at run time does.
func TestForwardIsReadAgain(t *testing.T) {
	mem := &flat{at: 0x1000, code: []byte{0x53, 0x90, 0x90}} // push %rbx; nop; nop
	var cache Functions
	ask := func(epoch uint64) int64 {
		r, _, _ := cache.Rule(Reader{Arch: arch.AMD64, Memory: mem}, 0x1000, 0, 1<<64-1, 0x1002, epoch)
		return r.RA().Off
	}
	if off := ask(1); off != 8 {
		t.Fatalf("after a push the return address is at %d", off)
	}
	mem.code = []byte{0x90, 0x90, 0x90}
	if off := ask(1); off != 8 {
		t.Errorf("the code was read again in the same epoch: the return address is said to be at %d", off)
	}
	if off := ask(2); off != 0 {
		t.Errorf("the code has changed, the return address is still said to be at %d", off)
	}
}

// flat is a little code in no module.
type flat struct {
	at   target.Addr
	code []byte
}

func (f *flat) ReadMemory(a target.Addr, buf []byte) (int, error) {
	if a < f.at || a >= f.at+target.Addr(len(f.code)) {
		return 0, &target.MemoryError{Addr: a, Why: "not mapped"}
	}
	return copy(buf, f.code[a-f.at:]), nil
}
func (f *flat) Executable(a target.Addr) bool { return a >= f.at && a < f.at+target.Addr(len(f.code)) }
