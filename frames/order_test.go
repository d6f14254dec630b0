package frames_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/target"
)

// TestAnyOrder asks one Unwinder many questions at once, in random orders: walks that are advanced in turn, given
// up, started again, explained and traced. Each answer must be that of a fresh Unwinder which is asked
// this question alone. DBG_ORDERS is the number of orders, DBG_ORDER the seed of the only one.
func TestAnyOrder(t *testing.T) {
	orders := 25
	if fixture.All() {
		orders = 10_000
	}
	if n, err := strconv.Atoi(os.Getenv("DBG_ORDERS")); err == nil {
		orders = n
	}
	for _, a := range []*arch.Arch{arch.AMD64, arch.ARM64, arch.RISCV64} {
		for _, settled := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s settled %v", a.Name, settled), func(t *testing.T) {
				t.Parallel()
				c := newCrowd(t, a, settled)
				if s, err := strconv.ParseUint(os.Getenv("DBG_ORDER"), 10, 64); err == nil {
					c.order(t, s)
					return
				}
				for seed := range orders {
					if c.order(t, uint64(seed)); t.Failed() {
						t.Fatalf("DBG_ORDER=%d shows this order alone", seed)
					}
				}
			})
		}
	}
}

// crowd is a process of several threads, whose code has more places than an Unwinder remembers.
type crowd struct {
	a       *arch.Arch
	space   frames.Space
	threads []arch.Registers
	want    []answer
}

// answer is the result of a whole walk.
type answer struct {
	frames []string
	pcs    []target.Addr
	end    string
	why    map[int]string // of frames that were explained
}

// Places of the crowd. Function i is at crowdFn*i.
const (
	crowdFns     = 128
	crowdFn      = 0x100
	crowdThreads = 6
	crowdFrames  = 120
	crowdBare    = 8      // of functions, one has no table
	crowdMain    = 0x8000 // its return address is undefined
	crowdSig     = 0x8200 // the signal trampoline
	crowdHandler = 0x8400
)

// bare reports whether function i has no table.
func bare(i int) bool { return i%crowdBare == 1 }

func newCrowd(t testing.TB, a *arch.Arch, settled bool) *crowd {
	w := newWorld(t, a)
	text := make([]byte, 0x9000)
	nops := map[*arch.Arch]uint32{arch.AMD64: 0x90909090, arch.ARM64: 0xd503201f, arch.RISCV64: 0x13}
	for at := 0; at+4 <= len(text); at += 4 {
		binary.LittleEndian.PutUint32(text[at:], nops[a])
	}
	w.pieces[0].data, frames.Edit(w.m).Hi = text, codeAt+0x9000
	frames.Edit(w.m).Code = nil
	plain := usual
	ra := byte(a.PC)
	if a.LR != arch.NoReg {
		plain, ra = []byte{0x0c, byte(a.SP), 0}, byte(a.LR)
	}
	cie := w.table.cie(a, false, plain...)
	for i := range crowdFns {
		w.crowdFunction(cie, i)
	}
	w.table.fde(cie, crowdMain, crowdMain+0x80, 0x07, ra)
	w.call(crowdMain + 0x40)
	w.table.fde(cie, crowdHandler, crowdHandler+0x80, w.crowdRules(0)...)
	switch a {
	case arch.AMD64:
		w.restorer(crowdSig)
	case arch.ARM64:
		w.code(crowdSig, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4)
	case arch.RISCV64:
		w.code(crowdSig, 0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00)
	}
	frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
	c := &crowd{a: a, space: w.fake}
	if settled {
		c.space = settledSpace{w.fake}
	}
	for i := range crowdThreads {
		c.threads = append(c.threads, w.crowdStack(i))
	}
	for i := range c.threads {
		c.want = append(c.want, c.alone(&c.threads[i]))
		if got := len(c.want[i].frames); got < crowdFrames-5 {
			t.Fatalf("thread %d has %d frames, %s\n%s", i, got, c.want[i].end, c.want[i].frames[got-1])
		}
	}
	return c
}

// words is how large the frame of function i is, saved which registers it saves, and where, in words below the CFA.
func (w *world) crowdLayout(i int) (words int, saved []arch.Reg) {
	regs := []arch.Reg{arch.RBP, arch.RBX, arch.R12, arch.R13, arch.R14, arch.R15}
	switch w.a {
	case arch.ARM64:
		regs = []arch.Reg{29, 19, 20, 21, 22, 23}
	case arch.RISCV64:
		regs = []arch.Reg{8, 9, 18, 19, 20, 21}
	}
	saved = regs[:1+i%6]
	if bare(i) {
		saved = regs[:1]
	}
	return 2*(2+len(saved)+i%3) + i%2*4, saved
}

// crowdFP is how far the frame pointer is above the record.
func (w *world) crowdFP() uint64 {
	if w.a == arch.RISCV64 {
		return 16
	}
	return 0
}

// crowdRules is the body's row: the return address is the word below the CFA.
func (w *world) crowdRules(i int) []byte {
	words, saved := w.crowdLayout(i)
	rules := []byte{0x0e, byte(8*words)&0x7f | 0x80, byte(8 * words >> 7)}
	if w.a.LR != arch.NoReg {
		if i%2 == 1 {
			rules = []byte{0x0c, byte(w.a.FP), byte(16 - w.crowdFP())} // CFA=x29+16
		}
		rules = append(rules, 0x80|byte(w.a.LR), 1)
	}
	for j, r := range saved {
		rules = append(rules, 0x80|byte(r), byte(2+j))
	}
	return rules
}

func (w *world) crowdFunction(cie, i int) {
	at := crowdFn * i
	if !bare(i) {
		w.table.fde(cie, uint64(at), uint64(at+crowdFn), w.crowdRules(i)...)
	}
	for off := 16; off < crowdFn-16; off += 8 {
		w.call(at + off)
	}
	switch w.a {
	case arch.AMD64:
		w.code(at, 0x55, 0x48, 0x89, 0xe5)           // push %rbp; mov %rsp,%rbp
		w.code(at+crowdFn-8, 0xc9, 0xc3, 0xc3, 0xc3) // leave; ret
	case arch.ARM64:
		w.code(at+crowdFn-4, 0xc0, 0x03, 0x5f, 0xd6) // ret
	case arch.RISCV64:
		w.code(at+crowdFn-4, 0x67, 0x80, 0x00, 0x00) // ret
	}
}

// crowdStack makes the stack of a thread.
func (w *world) crowdStack(n int) (regs arch.Registers) {
	rnd := rand.New(rand.NewPCG(uint64(n), 77))
	base := uint64(stackAt + 0x100000*(n+1))
	stack := make([]byte, 0x10000)
	put := func(at, v uint64) { binary.LittleEndian.PutUint64(stack[at-base:], v) }
	regs.Arch = w.a
	for r := range arch.Reg(32) {
		regs.Set(r, 0x1000*uint64(n)+uint64(r))
	}
	sp, fn := base+0x40, rnd.IntN(crowdFns)
	for bare(fn) {
		fn = rnd.IntN(crowdFns)
	}
	regs.Set(w.a.PC, codeAt+uint64(crowdFn*fn+0x20))
	regs.Set(w.a.SP, sp)
	saver := uint64(0) // where the frame before has saved the frame pointer
	signals := 17
	for k := range crowdFrames {
		if fn == -1 { // a handler was interrupted: the trampoline's frame
			fn, saver = w.crowdSignal(rnd, sp, put)
			sp += 0x400
			continue
		}
		words, saved := w.crowdLayout(fn)
		cfa := sp + uint64(8*words)
		for j := range saved {
			put(cfa-uint64(8*(2+j)), rnd.Uint64())
		}
		// The frame pointer leads to the saved one, on amd64 of functions without a table only.
		if fp := cfa - 16 + w.crowdFP(); saver == 0 {
			regs.Set(w.a.FP, fp)
		} else if w.a.LR != arch.NoReg || bare(fn) {
			put(saver, fp)
		}
		saver = cfa - 16
		next := rnd.IntN(crowdFns)
		ra := codeAt + uint64(crowdFn*next+16+8*rnd.IntN((crowdFn-32)/8))
		switch {
		case k == crowdFrames-1:
			ra = codeAt + crowdMain + 0x40
		// A function whose row says where the stack pointer is.
		case k >= signals && !bare(fn) && (w.a.LR == arch.NoReg || fn%2 == 1):
			ra, next = codeAt+crowdSig, -1
			signals += 40
		}
		put(cfa-8, ra)
		if w.a == arch.ARM64 {
			put(cfa-8, ra|uint64(rnd.IntN(128))<<48) // signed
		}
		sp, fn = cfa, next
	}
	w.pieces = append(w.pieces, piece{target.Addr(base), stack, false})
	return regs
}

// crowdSignal writes the frame of a signal at sp. What it interrupted is above it.
func (w *world) crowdSignal(rnd *rand.Rand, sp uint64, put func(at, v uint64)) (fn int, fp uint64) {
	for fn = rnd.IntN(crowdFns); bare(fn); {
		fn = rnd.IntN(crowdFns)
	}
	pc := codeAt + uint64(crowdFn*fn+0x20)
	if w.a == arch.AMD64 {
		for i := range uint64(18) {
			put(sp+40+8*i, rnd.Uint64())
		}
		put(sp+40+8*15, sp+0x400)
		put(sp+40+8*16, pc)
		return fn, sp + 40 + 8*10
	}
	for i := range uint64(34) {
		put(sp+128+176+8+8*i, rnd.Uint64())
	}
	if w.a == arch.RISCV64 {
		put(sp+128+176, pc)
		put(sp+128+176+8*2, sp+0x400)
		return fn, sp + 128 + 176 + 8*8
	}
	put(sp+128+176+8+8*31, sp+0x400)
	put(sp+128+176+8+8*32, pc)
	return fn, sp + 128 + 176 + 8 + 8*29
}

// describe is all that a frame says.
func describe(f *frames.Frame) string {
	var s strings.Builder
	fmt.Fprintf(&s, "#%d %x ra %v signal %v cfa %x %v %s %s %v", f.Index, uint64(f.PC), f.PCIsReturnAddress, f.Signal,
		uint64(f.CFA), f.HasCFA, f.Strategy, f.Trust, f.Module != nil)
	for r := range arch.Reg(arch.MaxRegs) {
		if v, known := f.Regs.Get(r); known {
			place, at := f.Where(r)
			fmt.Fprintf(&s, " %d=%x/%d/%x/%s", r, v, place, uint64(at), f.RegisterTrust(r))
		}
	}
	for _, a := range f.Attempts {
		fmt.Fprintf(&s, " {%s: %s}", a.Strategy, a.Why)
	}
	return s.String()
}

// explain is all that is said of how a frame was found.
func explain(w *frames.Walk, n int) string {
	e, err := w.Explain(context.Background(), n)
	if err != nil || e.Frame == nil {
		return fmt.Sprint(err, e.End)
	}
	s := describe(e.Frame)
	for _, try := range e.Tries {
		s += fmt.Sprintf("\n%s %v %s %v %v", try.Strategy, try.Found, try.Why, try.Reads, try.Guards)
	}
	return s
}

// alone is a walk by a fresh Unwinder.
func (c *crowd) alone(regs *arch.Registers) (want answer) {
	u := frames.New(c.a, c.space)
	u.DepthLimit = 4 * crowdFrames
	w := u.Walk(regs)
	for f := range w.Frames(context.Background()) {
		want.frames = append(want.frames, describe(f))
		want.pcs = append(want.pcs, f.LookupPC())
	}
	want.end = fmt.Sprintf("%+v", w.End())
	want.why = map[int]string{}
	return want
}

// crowdWalk is a walk that is under way.
type crowdWalk struct {
	thread int
	n      int
	walk   *frames.Walk
	next   func() (*frames.Frame, error, bool)
	stop   func()
}

// order asks in one random order.
func (c *crowd) order(t *testing.T, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 3))
	u := frames.New(c.a, c.space)
	var open []*crowdWalk
	defer func() {
		for _, k := range open {
			k.stop()
		}
	}()
	spare := make([]*frames.Walk, crowdThreads) // walks that are used again
	for range 60 {
		switch n := rnd.IntN(10); {
		case n < 2 || len(open) == 0: // another walk
			i := rnd.IntN(len(c.threads))
			w := u.Walk(&c.threads[i])
			if spare[i] != nil && rnd.IntN(2) == 0 {
				w, spare[i] = spare[i], nil
				w.Restart(&c.threads[i])
			}
			next, stop := iter.Pull2(w.Frames(context.Background()))
			open = append(open, &crowdWalk{i, 0, w, next, stop})
		case n == 2: // give one up
			j := rnd.IntN(len(open))
			open[j].stop()
			spare[open[j].thread] = open[j].walk
			open = append(open[:j], open[j+1:]...)
		case n == 3:
			i := rnd.IntN(len(c.threads))
			pcs := make([]target.Addr, 1+rnd.IntN(2*crowdFrames))
			got := pcs[:u.Walk(&c.threads[i]).Trace(pcs)]
			if want := c.want[i].pcs; fmt.Sprint(got) != fmt.Sprint(want[:min(len(want), len(pcs))]) {
				t.Errorf("order %d, trace of thread %d:\ngot  %v\nwant %v", seed, i, got, want)
			}
		case n == 4:
			k := open[rnd.IntN(len(open))]
			of := rnd.IntN(len(c.want[k.thread].frames))
			want, ok := c.want[k.thread].why[of]
			if !ok {
				want = explain(frames.New(c.a, c.space).Walk(&c.threads[k.thread]), of)
				c.want[k.thread].why[of] = want
			}
			if got := explain(k.walk, of); got != want {
				t.Errorf("order %d, thread %d, frame %d explained:\ngot  %s\nwant %s", seed, k.thread, of, got, want)
			}
		default: // go on
			j := rnd.IntN(len(open))
			k := open[j]
			for range rnd.IntN(2 * crowdFrames / 3) {
				f, _, ok := k.next()
				want := c.want[k.thread]
				if !ok {
					if got := fmt.Sprintf("%+v", k.walk.End()); got != want.end || k.n != len(want.frames) {
						t.Errorf("order %d, thread %d: %d frames, %s\nwant %d, %s", seed, k.thread, k.n, got,
							len(want.frames), want.end)
					}
					k.stop()
					open = append(open[:j], open[j+1:]...)
					break
				}
				if got := describe(f); k.n >= len(want.frames) || got != want.frames[k.n] {
					t.Errorf("order %d, thread %d, frame %d:\ngot  %s\nwant %s", seed, k.thread, k.n, got,
						want.frames[min(k.n, len(want.frames)-1)])
					return
				}
				k.n++
			}
		}
	}
}

// A limit on how many instructions are read for one answer counts those that were read for another one, too.
func TestOrderOfReading(t *testing.T) {
	const size, candidates = 0x800, 24 // of nops: 15 of them exceed the limit
	w := newWorld(t, arch.AMD64)
	text := make([]byte, size*(candidates+4))
	for i := range text {
		text[i] = 0x90
	}
	w.pieces[0].data, frames.Edit(w.m).Hi, frames.Edit(w.m).EHFrame = text, codeAt+target.Addr(len(text)), frames.Section{}
	sites := size * (candidates + 2)
	fn := func(i int) int { return size * (i + 1) }
	for i := range candidates {
		w.code(fn(i)+size-1, 0xc3)
	}
	calls := func(i int) uint64 { // the return address of a call of function i
		at := sites + 16*i
		rel := uint32(fn(i) - (at + 5))
		w.code(at, 0xe8, byte(rel), byte(rel>>8), byte(rel>>16), byte(rel>>24))
		return codeAt + uint64(at) + 5
	}
	// The thread is in the last function. Calls of all the others lie on the stack below the one that has entered it.
	for i := range candidates {
		w.put(stackAt+uint64(8*i), calls(i))
	}
	w.put(stackAt+uint64(8*candidates), 0)
	last := fn(candidates - 1)
	w.code(last, 0x48, 0x81, 0xec, byte(8*(candidates-1)), 0, 0, 0) // sub $size,%rsp
	w.at(codeAt+uint64(last+0x20), stackAt)
	walk := func(u *frames.Unwinder, regs *arch.Registers) string {
		got, end := show(t, u.Walk(regs))
		return fmt.Sprintf("%s\n%+v", got, end)
	}
	want := walk(frames.New(w.a, w.fake), &w.regs)
	u := frames.New(w.a, settledSpace{w.fake})
	for from := candidates - 2; from > 0; from -= 6 { // fewer candidates: what they say is then known
		regs := w.regs
		regs.Set(arch.RSP, stackAt+uint64(8*from))
		walk(u, &regs)
	}
	if got := walk(u, &w.regs); got != want {
		t.Errorf("after other walks\n%s\nalone\n%s", got, want)
	}
}

// A walk that is started again while it is under way, with or without another mind of its Unwinder's owner, is the new one.
func TestRestartUnderWay(t *testing.T) {
	w := deep(t, 50)
	for name, change := range map[string]func(u *frames.Unwinder){
		"as before":        func(*frames.Unwinder) {},
		"other strategies": func(u *frames.Unwinder) { u.Use = frames.SetOf(frames.CFI) },
	} {
		t.Run(name, func(t *testing.T) {
			u := frames.New(w.a, settledSpace{w.fake})
			walk := u.Walk(&w.regs)
			outer := 0
			for range walk.Frames(context.Background()) {
				if outer++; outer != 5 {
					continue
				}
				change(u)
				inner := 0
				for f := range walk.Frames(context.Background()) {
					if f.Index != inner {
						t.Errorf("frame %d is the %d.", f.Index, inner)
					}
					inner++
				}
				if inner != 52 {
					t.Errorf("%d frames", inner)
				}
			}
			if outer != 5 {
				t.Errorf("the first walk went on to %d frames", outer)
			}
		})
	}
	// Another walk of the same Unwinder goes on when the strategies change.
	u := frames.New(w.a, settledSpace{w.fake})
	n := 0
	for range u.Walk(&w.regs).Frames(context.Background()) {
		if n++; n%10 == 0 {
			u.Use ^= frames.SetOf(frames.Scan)
			for range u.Walk(&w.regs).Frames(context.Background()) {
				break
			}
		}
	}
	if n != 52 {
		t.Errorf("%d frames", n)
	}
}

// What code was found to do through a slot of the global offset table is found out again when the slot may have changed.
func TestOrderOfSlots(t *testing.T) {
	w := chain(t)
	w.code(0x1fff, 0xc3, 0x90, 0xff, 0x25)
	binary.LittleEndian.PutUint32(w.pieces[0].data[0x2003:], 0) // jmp *slot(%rip)
	// The slot is right after the code: it is memory as any other.
	w.code(0x2100, 0xc3)                                // ret
	w.code(0x2200, 0x48, 0x83, 0xc4, 0x10, 0xc3)        // add $16,%rsp; ret
	w.put(stackAt+0x100, codeAt+0x210, 0, codeAt+0x310) // g's frame begins at 0x108, or main's at 0x118
	binary.LittleEndian.PutUint64(w.pieces[0].data[0x2007:], codeAt+0x2100)
	w.at(codeAt+0x2000, stackAt+0x100)
	frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
	v := &versioned{w.fake, 1}
	u := frames.New(w.a, v)
	for i, to := range []uint64{0x2100, 0x2200, 0x2100} {
		binary.LittleEndian.PutUint64(w.pieces[0].data[0x2007:], codeAt+to)
		v.version = uint64(i + 1)
		got, _ := show(t, u.Walk(&w.regs))
		want, _ := show(t, frames.New(w.a, w.fake).Walk(&w.regs))
		if got != want {
			t.Errorf("slot %x: got\n%s\nwant\n%s", to, got, want)
		}
		first := map[uint64]string{0x2100: "401210 prologue heuristic", 0x2200: "401310 prologue heuristic"}
		if second := strings.Split(want, "\n")[1]; second != first[to] {
			t.Errorf("slot %x: %s", to, second)
		}
	}
}
