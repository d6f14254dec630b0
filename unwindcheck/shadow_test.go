package unwindcheck

import (
	"slices"
	"testing"

	"dbg/arch"
)

// world is a shadow of made-up events: no process, memory that is a map.
type world struct {
	*thread
	memory  map[uint64]uint64
	settled []outcome
}

func newWorld(pc, sp uint64) *world {
	w := &world{memory: map[uint64]uint64{}}
	sh := &shadow{
		word:   func(a uint64) (uint64, bool) { v, ok := w.memory[a]; return v, ok },
		settle: func(_ *claim, o outcome) { w.settled = append(w.settled, o) },
	}
	w.thread = sh.newThread(state{pc: pc, sp: sp})
	return w
}

// to executes an instruction of a class that leads to pc with sp.
func (w *world) to(c class, pc, sp uint64) {
	now := w.was
	now.pc, now.sp = pc, sp
	w.step(instruction{class: c}, &now)
}

// call calls the function at pc.
func (w *world) call(pc uint64) {
	now := w.was
	next := now.pc + 5
	now.pc, now.sp = pc, now.sp-8
	w.memory[now.sp] = next
	w.step(instruction{class: call, next: next}, &now)
}

// ret returns to where the top of the stack says.
func (w *world) ret() { w.to(ret, w.memory[w.was.sp], w.was.sp+8) }

// signal enters a handler with sp.
func (w *world) signal(pc, sp, restorer uint64) {
	regs := &arch.Registers{Arch: arch.AMD64}
	regs.Set(arch.RIP, w.was.pc)
	regs.Set(arch.RSP, w.was.sp)
	now := w.was
	now.pc, now.sp = pc, sp
	w.memory[sp] = restorer
	w.signalled(regs, &now)
}

// claimed puts a claim on the innermost activation.
func (w *world) claimed(pc, sp uint64) {
	a := w.stack.top()
	a.claims, _ = addClaim(a.claims, claim{pc: pc, sp: sp})
}

// expect checks the return addresses, innermost first, and what came of claims.
func (w *world) expect(t *testing.T, ras []uint64, settled ...outcome) {
	t.Helper()
	var got []uint64
	for i := len(w.stack.acts) - 1; i >= 0; i-- {
		got = append(got, w.stack.acts[i].ra)
	}
	if !slices.Equal(got, ras) {
		t.Errorf("return addresses %#x, want %#x", got, ras)
	}
	if !slices.Equal(w.settled, settled) {
		t.Errorf("claims came out as %v, want %v", w.settled, settled)
	}
}

const base = 0x7fff0000

func TestCallAndReturn(t *testing.T) {
	w := newWorld(0x1000, base)
	w.call(0x2000)
	w.to(push, 0x2001, base-16)
	w.call(0x3000)
	w.expect(t, []uint64{0x2006, 0x1005})
	w.to(jump, 0x4000, base-24) // a tail call
	w.expect(t, []uint64{0x2006, 0x1005})
	w.claimed(0x9999, base)
	w.ret()
	w.expect(t, []uint64{0x1005}, refuted)
	w.to(pop, 0x2007, base-8)
	w.ret()
	w.expect(t, nil, refuted)
}

func TestCodeThatAsksWhereItIs(t *testing.T) {
	w := newWorld(0x1000, base)
	w.call(0x2000)
	now := w.was
	now.pc, now.sp = 0x2005, base-16
	w.step(instruction{class: call, next: 0x2005, here: true}, &now)
	w.to(pop, 0x2006, base-8)
	w.expect(t, []uint64{0x1005})
}

// TestReturnAddressInRegister is glibc's vfork: pop %rdi; syscall; push %rdi; ret.
func TestReturnAddressInRegister(t *testing.T) {
	w := newWorld(0x1000, base)
	w.call(0x2000)
	w.to(pop, 0x2001, base)
	w.expect(t, []uint64{0x1005})
	w.to(syscall, 0x2003, base)
	w.to(push, 0x2004, base-8)
	w.ret()
	w.expect(t, nil)

	w.was.pc = 0x1000
	w.call(0x2000)
	w.to(pop, 0x2001, base)
	w.to(jump, 0x1005, base)
	w.expect(t, nil)
}

func TestLongjmp(t *testing.T) {
	for _, c := range []struct {
		name   string
		pc, sp uint64
		want   outcome
	}{
		{"the table describes the landing", 0x1100, base - 8, proven},
		{"the table is wrong", 0x1234, base - 8, refuted},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(0x1000, base)
			w.call(0x1080)
			w.call(0x2000)
			w.call(0x3000)
			w.claimed(c.pc, c.sp)
			w.to(setSP, 0x3010, base-8)
			w.expect(t, []uint64{0x1005})
			w.to(plain, 0x3011, base-8)
			w.to(jump, 0x1100, base-8)
			w.expect(t, []uint64{0x1005}, c.want)
		})
	}
}

func TestContexts(t *testing.T) {
	w := newWorld(0x1000, base)
	w.call(0x2000)
	w.call(0x3000) // swapcontext, to a stack that is new
	w.to(loadSP, 0x3010, 0x60000)
	w.to(push, 0x3011, 0x60000-8)
	w.to(ret, 0x5000, 0x60000)
	w.expect(t, nil)
	w.call(0x6000)
	w.call(0x3000) // back
	w.to(loadSP, 0x3010, base-8)
	w.to(push, 0x3011, base-16)
	w.to(ret, 0x2005, base-8)
	w.expect(t, []uint64{0x1005})
	w.call(0x3000) // and again to the other
	w.to(loadSP, 0x3010, 0x60000-8)
	w.to(push, 0x3011, 0x60000-16)
	w.to(ret, 0x6005, 0x60000-8)
	w.expect(t, []uint64{0x5005})
}

// TestStackOfAnother: where a stack was there is another one now.
func TestStackOfAnother(t *testing.T) {
	w := newWorld(0x1000, base)
	w.to(loadSP, 0x1001, 0x60000)
	w.call(0x2000)
	w.call(0x3000)
	w.to(loadSP, 0x3001, base)
	w.memory[0x60000-8] = 0xdead
	w.to(loadSP, 0x3001, 0x60000-16)
	w.expect(t, nil)
}

// TestStackChangedInPlace is Go's systemstack: a function that goes on on another stack and calls there.
func TestStackChangedInPlace(t *testing.T) {
	w := newWorld(0x1000, base)
	w.call(0x2000)
	w.to(loadSP, 0x2001, 0x60000)
	w.call(0x3000)
	if n := len(w.stack.acts); n != 2 || w.stack.acts[0].kind != unknown {
		t.Fatalf("activations %+v", w.stack.acts)
	}
	w.ret()
	if a := w.stack.top(); a == nil || a.kind != unknown {
		t.Errorf("the function on the wrong stack is to be unknown: %+v", a)
	}
	w.to(loadSP, 0x2002, base-8)
	w.expect(t, []uint64{0x1005})
}

func TestSignals(t *testing.T) {
	const restorer = 0x8000
	for _, c := range []struct {
		name string
		sp   uint64
	}{{"on the same stack", base - 2000}, {"on a stack of its own", 0x60000}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(0x1000, base)
			w.call(0x2000)
			w.signal(0x7000, c.sp, restorer)
			w.call(0x7100)
			w.ret()
			w.to(ret, restorer, c.sp+8)
			if a := w.stack.top(); a == nil || !a.returned {
				t.Fatal("the thread is to be in the trampoline")
			}
			w.was.rax = sigreturn
			w.to(syscall, 0x2000, base-8)
			w.expect(t, []uint64{0x1005})

			w.signal(0x7000, c.sp, restorer) // siglongjmp
			w.call(0x3000)
			w.to(setSP, 0x3001, base)
			w.to(jump, 0x1500, base)
			w.expect(t, nil)
		})
	}
}

// TestSignalThatHasAFunctionCalled is Go's preemption: the handler makes the interrupted code call.
func TestSignalThatHasAFunctionCalled(t *testing.T) {
	w := newWorld(0x1000, base)
	w.call(0x2000)
	w.signal(0x7000, 0x60000, 0x8000)
	w.to(ret, 0x8000, 0x60008)
	w.was.rax = sigreturn
	w.memory[base-16] = 0x2000
	w.to(syscall, 0x9000, base-16)
	w.expect(t, []uint64{0x2000, 0x1005})
}
