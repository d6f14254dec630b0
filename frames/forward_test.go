package frames

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

// nothing is an address space without memory: the code is in the module.
type nothing struct{ m *Module }

func (n nothing) ReadMemory(a target.Addr, _ []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Why: "not mapped"}
}
func (n nothing) FindModule(target.Addr) *Module { return n.m }
func (n nothing) Executable(target.Addr) bool    { return true }

// startTo reads from a start to one address, as forward does for all of them together: the plain way to say what
// forward has to give.
func startTo(w *Walk, m *Module, start, lo, hi, to uint64) *codeRule {
	sim := simulation{w: w, module: m}
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
			in := code.DecodeX86(sim.read(at.pc, buf[:]))
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
				} else if first := entryAt(arch.AMD64, start); *ruleAt(&at) == *ruleAt(&first) || hi-lo <= callReach {
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

func ruleAt(at *codePath) *codeRule {
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
	m := ModuleOf(f, nil)
	w := New(arch.AMD64, nothing{m}).Walk(&arch.Registers{})
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
		all := newForward(arch.AMD64, m, lo, bounds[0], bounds[1])
		pcs := make([]uint64, 0, hi-lo)
		all.ruleAt(w, hi) // so that reached has what there is; then anew, in a random order
		led := map[uint64]*codeRule{}
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
		all = newForward(arch.AMD64, m, lo, bounds[0], bounds[1])
		for _, i := range rand.New(rand.NewPCG(1, uint64(functions))).Perm(len(pcs))[:min(len(pcs), 200)] {
			pc := pcs[i]
			addresses++
			got, _ := all.ruleAt(w, pc)
			want := led[pc]
			if want == nil {
				want = startTo(w, m, lo, bounds[0], bounds[1], pc)
			} else if want.why == "" {
				byTable++
			}
			if *got != *want {
				t.Fatalf("%s: from 0x%x to 0x%x: %+v, want %+v", s.Name, lo, pc, *got, *want)
			}
			if want.why == "" {
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
	m := NewModule(Contents{Lo: 0, Hi: 1 << 20, Code: []Section{{Data: code}}})
	u := New(arch.AMD64, nothing{m})
	w := u.Walk(&arch.Registers{})
	for i := range uint64(60) {
		s := &site{pc: target.Addr(i*512 + startInstructions + 5), module: m, siteFacts: &siteFacts{}}
		if r := entered(w, s, i*512); r.why == "" {
			t.Fatalf("function %d: %+v, though it is more than %d instructions away", i, *r, startInstructions)
		}
		kept := 0
		for _, f := range u.starts.recent {
			kept += f.size()
		}
		for _, f := range u.starts.older {
			kept += f.size()
		}
		if most := 2 * (maxStartsSize + startInstructions + maxPaths); kept > most {
			t.Fatalf("after %d functions %d instructions are kept, more than %d", i+1, kept, most)
		}
	}
	if len(u.starts.older) == 0 {
		t.Error("nothing was ever put away")
	}
	s := &site{pc: 5, module: m, siteFacts: &siteFacts{}}
	if r := entered(w, s, 0); r.why != "" || r.ra().off != 5*8 {
		t.Errorf("after 5 pushes: %+v", *r)
	}
}

// TestForwardIsReadAgain changes code of no module, as a compiler at run time does.
func TestForwardIsReadAgain(t *testing.T) {
	mem := &flat{at: 0x1000, code: []byte{0x53, 0x90, 0x90}} // push %rbx; nop; nop
	u := New(arch.AMD64, mem)
	ask := func() int64 {
		w := u.Walk(&arch.Registers{})
		w.reset()
		return entered(w, w.site(0x1002, true), 0x1000).ra().off
	}
	if off := ask(); off != 8 {
		t.Fatalf("after a push the return address is at %d", off)
	}
	mem.code = []byte{0x90, 0x90, 0x90}
	if off := ask(); off != 0 {
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
func (f *flat) FindModule(target.Addr) *Module { return nil }
func (f *flat) Executable(a target.Addr) bool  { return a >= f.at && a < f.at+target.Addr(len(f.code)) }

// entered is the rule of fromTo alone.
func entered(w *Walk, s *site, fn uint64) *codeRule {
	r, _ := w.fromTo(s, fn)
	return r
}
