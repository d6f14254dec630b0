package frames_test

import (
	"fmt"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// TestTortureMachines is what of the torture list a walk on arm64, arm, i386 and riscv64 is about. Elsewhere are: pointer encodings, DWARF64,
// versions, orders and headers of sections (cfi: no machine decides on them, but for the size of addresses, of which there is a test
// for 4 bytes each), expression bombs (expr), trampolines as kernels make them (TestTortureTrampolines), Thumb bits, pointer
// authentication and shadow call stacks (TestTorture), each instruction of prologues, epilogues and cold parts
// (unwindcheck.TestGuests). These do not apply: a PLT's CFA expression (x86's alone), a signal frame's CFA by deref and its FDE that begins one
// byte early (glibc's for x86: the others' trampolines are the kernel's), CFA expressions of libcrypto (x86-64), x32, and,
// but for i386, a noreturn call as a function's last instruction being the only way to lose a caller: a link register has it.
func TestTortureMachines(t *testing.T) {
	for _, m := range otherMachines {
		for name, test := range map[string]func(t *testing.T, m *Machine){
			"sigaltstack (SP goes down)":                                         otherAltStack,
			"a handler interrupted by a handler":                                 otherNested,
			"call through NULL, jump to garbage":                                 otherNowhere,
			"legitimate recursion with tiny frames":                              otherTiny,
			"a stack page missing":                                               otherMissingPage,
			"corrupt chains: cycles of one and of many, FP to itself, unaligned": otherChains,
			"a ring of signal frames":                                            otherRing,
			"the top of the address space":                                       otherTop,
			"a million frames":                                                   otherMillion,
		} {
			t.Run(m.a.Name+"/"+name, func(t *testing.T) { test(t, m) })
		}
	}
}

// machine is what the tests must know of an architecture.
type Machine struct {
	a          *arch.Arch
	trampoline []byte
	context    int64  // of the saved registers, from the signal's frame on
	pc, sp, lr int64  // which of them; lr is -1 if there is none
	entry      []byte // the rules at a function's first instruction
}

var otherMachines = []*Machine{
	{arch.ARM64, []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, 128 + 176 + 8, 32, 31, 30, []byte{0x0c, 31, 0}},
	{arch.RISCV64, []byte{0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}, 128 + 176, 0, 2, 1, []byte{0x0c, 2, 0}},
	{arch.ARM, []byte{0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}, 128 + 20 + 12, 15, 13, 14, []byte{0x0c, 13, 0}},
	{arch.I386, []byte{0xb8, 173, 0, 0, 0, 0xcd, 0x80}, 0x100 + 20, 14, 7, -1, []byte{0x0c, 4, 4, 0x88, 1}},
}

// bed makes three functions: f at 0x100, a leaf; g at 0x200, whose frame has six words; h at 0x300, the outermost; a handler,
// a leaf at 0x400; and the trampoline at 0x500. Unless said otherwise the thread is in f, called by g.
func (m *Machine) bed(t testing.TB) (b *bed, cie int) {
	b = newBed(t, m.a)
	cie = b.cie("zR", m.entry...)
	word := byte(m.a.PtrSize)
	b.fde(cie, 0x100, 0x180)
	rules := []byte{0x0e, 6 * word, 0x80 | b.ra(), 1} // the return address is below the CFA
	b.fde(cie, 0x200, 0x280, rules...)
	b.fde(cie, 0x300, 0x380, 0x07, b.ra())
	b.fde(cie, 0x400, 0x480)
	b.code(0x500, m.trampoline...)
	m.stack(b, b.stack+0x100)
	m.enter(b, codeAt+0x110, b.stack+0x100, b.calling(0x210))
	return b, cie
}

// enter puts the thread into a leaf.
func (m *Machine) enter(b *bed, pc, sp, ra uint64) {
	b.at(pc, sp)
	if m.lr >= 0 {
		b.regs.Set(m.a.LR, ra)
	} else {
		b.words(sp, ra)
	}
}

// own is how much of the stack a leaf has: its return address, where a call pushes it.
func (m *Machine) own() uint64 {
	if m.lr < 0 {
		return uint64(m.a.PtrSize)
	}
	return 0
}

// stack puts g's frame above a leaf that has sp.
func (m *Machine) stack(b *bed, sp uint64) {
	b.words(sp+m.own()+5*uint64(m.a.PtrSize), b.calling(0x310))
}

// signal puts a signal's frame at sp: what is interrupted is a leaf at pc, with its stack pointer and return address. The handler is
// entered with the stack pointer that is returned.
func (m *Machine) signal(b *bed, sp, pc, from, ra uint64) uint64 {
	entered := sp
	if m.lr < 0 { // number, siginfo, ucontext
		b.words(sp, codeAt+0x500, 10, 0, sp+0x104)
		sp += 4
		b.words(from, ra)
	}
	at, word := sp+uint64(m.context), uint64(m.a.PtrSize)
	b.words(at+word*uint64(m.pc), pc)
	b.words(at+word*uint64(m.sp), from)
	if m.lr >= 0 {
		b.words(at+word*uint64(m.lr), ra)
	}
	return entered
}

const otherRest = `
	401110 sigreturn table precise
	401210 cfi table
	401310 cfi table`

func otherAltStack(t *testing.T, m *Machine) {
	b, _ := m.bed(t)
	for name, c := range map[string]struct{ handler, code uint64 }{
		"down": {max(b.stack, b.alt) + 0x1000, min(b.stack, b.alt) + 0x100}, "up": {min(b.stack, b.alt) + 0x1000, max(b.stack, b.alt) + 0x100},
	} {
		b, _ := m.bed(t)
		b.t = t
		m.stack(b, c.code)
		sp := m.signal(b, c.handler, codeAt+0x110, c.code, codeAt+0x210)
		m.enter(b, codeAt+0x410, sp, codeAt+0x500)
		t.Log(name)
		b.want("401410 context exact\n401500 cfi table signal"+otherRest, "undefined return address")
	}
}

func otherNested(t *testing.T, m *Machine) {
	b, _ := m.bed(t)
	first := m.signal(b, b.alt+0x1800, codeAt+0x110, b.stack+0x100, codeAt+0x210)
	second := m.signal(b, b.alt+0x800, codeAt+0x410, first, codeAt+0x500)
	third := m.signal(b, b.stack+0x2000, codeAt+0x400, second, codeAt+0x500) // at the handler's first instruction
	m.enter(b, codeAt+0x420, third, codeAt+0x500)
	b.want(`401420 context exact
		401500 cfi table signal
		401400 sigreturn table precise
		401500 cfi table signal
		401410 sigreturn table precise
		401500 cfi table signal`+otherRest, "undefined return address")
}

func otherNowhere(t *testing.T, m *Machine) {
	for _, pc := range []uint64{0, 0x20, 0xdeadbee0, 0xfffffff0} {
		b, _ := m.bed(t)
		m.enter(b, pc, b.stack+0x100, codeAt+0x210)
		b.want(fmt.Sprintf("%x context exact\n401210 prologue heuristic\n401310 cfi heuristic", pc), "undefined return address")
	}
}

func otherTiny(t *testing.T, m *Machine) {
	b, cie := m.bed(t)
	word := uint64(m.a.PtrSize)
	size := 16 / word // the least that an ABI allows
	if m.a == arch.I386 {
		size = 1
	}
	b.fde(cie, 0x600, 0x680, 0x0e, byte(size*word), 0x80|b.ra(), 1)
	const n = 2000
	b.pieces[1].data = make([]byte, n*int(size*word)+0x100)
	for i := range uint64(n) {
		b.words(b.stack+(i+1)*size*word-word, b.calling(0x610))
	}
	b.words(b.stack+n*size*word-word, b.calling(0x310))
	b.at(codeAt+0x610, b.stack)
	if all, end := b.frames(); len(all) != n+1 || !end.Outermost {
		t.Errorf("%d frames, %+v", len(all), end)
	}
}

func otherMissingPage(t *testing.T, m *Machine) {
	b, cie := m.bed(t)
	word := uint64(m.a.PtrSize)
	b.fde(cie, 0x600, 0x680, 0x0e, 0x80, 0x10, 0x80|b.ra(), 1) // a frame of 0x800 bytes
	m.enter(b, codeAt+0x110, b.stack+0x900, b.calling(0x610))
	gone := b.stack + 0x900 + m.own() + 0x800 - word
	b.words(b.stack+0x920, codeAt+0x310, 0, codeAt+0x310) // old return addresses lie about
	data := b.pieces[1].data
	b.pieces[1].data = data[:0x1000]
	b.pieces = append(b.pieces, piece{addr: target.Addr(b.stack + 0x2000), data: data[0x2000:]})
	b.words(b.stack+0x2000, codeAt+0x310)
	b.want("401110 context exact\n401610 cfi table", fmt.Sprintf("memory unreadable at 0x%x", gone))
}

// otherChains is about chains of frame pointers that lead nowhere: of what they lead to nothing is better than a guess.
func otherChains(t *testing.T, m *Machine) {
	word := uint64(m.a.PtrSize)
	for name, next := range map[string]func(at uint64) uint64{
		"to itself": func(at uint64) uint64 { return at }, "down": func(at uint64) uint64 { return at - 2*word },
		"unaligned": func(at uint64) uint64 { return at + 33 }, "far away": func(at uint64) uint64 { return at + 1<<30 },
	} {
		b := newBed(t, m.a)
		b.calling(0x810)
		fp := b.stack + 0x40
		b.regs.Set(m.a.FP, fp)
		for _, at := range []uint64{fp - 2*word, fp} { // both layouts
			b.words(at, next(fp), codeAt+0x810)
		}
		b.at(codeAt+0x910, b.stack+0x10)
		b.pieces[1].data = b.pieces[1].data[:0x200]
		all, end := b.frames()
		if len(all) > 4 || end.Outermost {
			t.Errorf("%s: %d frames, %+v", name, len(all), end)
		}
		for _, f := range all[1:] {
			if f.Trust < frames.Heuristic {
				t.Errorf("%s: %s", name, describeFrame(f))
			}
		}
	}
}

func otherRing(t *testing.T, m *Machine) {
	for _, n := range []uint64{1, 2, 20} {
		b, _ := m.bed(t)
		for i := range n {
			m.signal(b, b.alt+i*0x240, codeAt+0x410, b.alt+(i+1)%n*0x240, codeAt+0x500)
		}
		m.enter(b, codeAt+0x410, b.alt, codeAt+0x500)
		b.pieces[2].data = append(b.pieces[2].data, make([]byte, 0x2000)...)
		if all, end := b.frames(); end.Outermost || len(all) > int(4*n+4) {
			t.Errorf("a ring of %d: %d frames, %+v", n, len(all), end)
		}
	}
}

// otherTop has the stack at the very end of the address space: what is beyond it would be at address 0.
func otherTop(t *testing.T, m *Machine) {
	b, _ := m.bed(t)
	end := uint64(0)
	if m.a.PtrSize == 4 {
		end = 1 << 32
	}
	b.stack = end - 0x4000
	b.pieces[1].addr = target.Addr(b.stack)
	m.stack(b, end-0x100)
	m.enter(b, codeAt+0x110, end-0x100, codeAt+0x210)
	b.want("401110 context exact\n401210 cfi table\n401310 cfi table", "undefined return address")
	// G's frame ends beyond.
	m.enter(b, codeAt+0x110, end-3*uint64(m.a.PtrSize), codeAt+0x210)
	b.words(0x10, codeAt+0x310)
	all, _ := b.frames()
	for _, f := range all[min(len(all), 2):] {
		if f.Trust < frames.Guess {
			t.Errorf("beyond the end: %s", describeFrame(f))
		}
	}
}

func otherMillion(t *testing.T, m *Machine) {
	b, cie := m.bed(t)
	b.fde(cie, 0x600, 0x680, 0x0e, 16, 0x80|b.ra(), 1)
	const n = 1_000_000
	b.stack &= 1<<31 - 1 // there is room above
	b.pieces[1] = piece{addr: target.Addr(b.stack), data: make([]byte, 16*n+0x100)}
	word := uint64(m.a.PtrSize)
	data, ra := b.pieces[1].data, b.calling(0x610)
	for i := range n {
		at := 16*i + 16 - int(word)
		for j := range 4 {
			data[at+j] = byte(ra >> (8 * j))
		}
	}
	b.words(b.stack+16*n-word, b.calling(0x310))
	b.at(codeAt+0x610, b.stack)
	b.renew()
	u := frames.New(b.a, settledSpace{b.fake})
	u.DepthLimit = 2 * n
	w := u.Walk(&b.regs)
	got := 0
	for range w.Frames(t.Context()) {
		got++
	}
	if got != n+1 || !w.End().Outermost {
		t.Errorf("%d frames, %+v", got, w.End())
	}
}
