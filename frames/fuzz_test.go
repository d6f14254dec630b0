package frames_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// Bounds of one frame's search for its caller, in reads of the target's memory. They are what the
// strategies together may do at worst: a row that saves every register on a page of its own
// (each a block and a word), reading code from the function's start and ahead, looking at each
// word that scanning finds.
const (
	maxReadsOfFrame = 20_000
	maxBytesOfFrame = 32 << 20
)

// counted is a fake that counts bytes too, and can be told that nothing changes.
type counted struct {
	*fake
	bytes int
}

func (c *counted) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	n, err := c.fake.ReadMemory(addr, buf)
	c.bytes += n
	return n, err
}

// settledSpace is a Space whose modules never change: what is known of a place is not asked again.
type settledSpace struct{ frames.Space }

func (settledSpace) Version() uint64 { return 1 }

// trace is all that a walk said.
type trace struct {
	frames []uint64 // one hash of everything for each frame
	end    string
	reads  int // of memory
	bytes  int
}

// follow walks to the end and keeps a hash of each frame, which check may look at.
func follow(walk *frames.Walk, space *counted, check func(prev, f *frames.Frame)) trace {
	var tr trace
	var prev *frames.Frame
	reads, bytes := 0, 0
	if space != nil {
		reads, bytes = space.reads, space.bytes
	}
	for f := range walk.Frames(context.Background()) {
		tr.frames = append(tr.frames, hashOf(f))
		if check != nil {
			check(prev, f)
			prev = f.Clone()
		}
	}
	if space != nil {
		tr.reads, tr.bytes = space.reads-reads, space.bytes-bytes
	}
	tr.end = fmt.Sprintf("%+v", walk.End())
	return tr
}

var seed = maphash.MakeSeed()

// hashOf is a hash of all that a frame says.
func hashOf(f *frames.Frame) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	num := func(v uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	flag := func(b bool) {
		if b {
			h.WriteByte(1)
		} else {
			h.WriteByte(0)
		}
	}
	num(uint64(f.Index))
	num(uint64(f.PC))
	num(uint64(f.CFA))
	flag(f.HasCFA)
	flag(f.PCIsReturnAddress)
	flag(f.Signal)
	h.WriteByte(byte(f.Strategy))
	h.WriteByte(byte(f.Trust))
	for _, a := range f.Attempts {
		h.WriteByte(byte(a.Strategy))
		h.WriteString(a.Why)
	}
	if f.Module != nil {
		h.WriteString(frames.Edit(f.Module).Name)
	}
	for r := range arch.Reg(arch.MaxRegs) {
		v, known := f.Regs.Get(r)
		flag(known)
		if known {
			num(v)
			place, at := f.Where(r)
			h.WriteByte(byte(place))
			num(uint64(at))
			h.WriteByte(byte(f.RegisterTrust(r)))
		}
	}
	return h.Sum64()
}

// describeFrame is a frame as text, for messages.
func describeFrame(f *frames.Frame) string {
	var s strings.Builder
	fmt.Fprintf(&s, "#%d pc=%x cfa=%x/%v ra=%v signal=%v %v/%v attempts=%v", f.Index, uint64(f.PC), uint64(f.CFA), f.HasCFA, f.PCIsReturnAddress, f.Signal, f.Strategy, f.Trust, f.Attempts)
	for r := range arch.Reg(arch.MaxRegs) {
		if v, known := f.Regs.Get(r); known {
			place, at := f.Where(r)
			fmt.Fprintf(&s, " r%d=%x@%d:%x/%v", r, v, place, uint64(at), f.RegisterTrust(r))
		}
	}
	return s.String()
}

// differ says where two walks differ, "" if they don't.
func (tr *trace) differ(o *trace, a, b *frames.Walk) string {
	n := min(len(tr.frames), len(o.frames))
	at := 0
	for at < n && tr.frames[at] == o.frames[at] {
		at++
	}
	switch {
	case at < n || len(tr.frames) != len(o.frames):
		return fmt.Sprintf("%d and %d frames, frame %d:\n  %s\n  %s", len(tr.frames), len(o.frames), at, nth(a, at), nth(b, at))
	case tr.end != o.end:
		return fmt.Sprintf("ends %s\n and %s", tr.end, o.end)
	}
	return ""
}

func nth(w *frames.Walk, n int) string {
	for f := range w.Frames(context.Background()) {
		if f.Index == n {
			return describeFrame(f)
		}
	}
	return "no such frame"
}

// reasons are the verdicts that there are.
func knownReason(end *frames.End) bool {
	switch end.Reason {
	case frames.NotEnded, frames.Failed, frames.OtherStack:
		return false
	}
	return end.Message() != ""
}

// saysSP reports whether a strategy says where the caller's stack pointer is.
func saysSP(a *arch.Arch, s frames.Strategy) bool {
	return s != frames.SCS && (a.LR == arch.NoReg || s != frames.FP && s != frames.Scan)
}

// plausible holds a frame against the rules of judge.go, which it states a second time.
func plausible(u *frames.Unwinder, space frames.Space, a *arch.Arch, prev, f *frames.Frame) error {
	if sp, _ := f.Regs.SP(); a.PtrSize == 4 && f.Index > 0 && (uint64(f.PC)|sp|uint64(prev.CFA))>>32 != 0 {
		return fmt.Errorf("an address of more than 32 bits: %s", describeFrame(f))
	}
	if prev == nil {
		if f.Index != 0 || f.Strategy != frames.Context || f.Trust != frames.Exact {
			return fmt.Errorf("frame 0 is %s", describeFrame(f))
		}
		return nil
	}
	switch {
	case f.Index != prev.Index+1:
		return fmt.Errorf("index %d after %d", f.Index, prev.Index)
	case f.Trust < prev.Trust:
		return fmt.Errorf("frame %d is trusted more (%v) than the one that led to it (%v)", f.Index, f.Trust, prev.Trust)
	case f.Strategy == frames.Scan && f.Trust != frames.Guess,
		f.Strategy >= frames.PLT && f.Trust < frames.Heuristic,
		f.Strategy == frames.Sigreturn && f.Trust < frames.Table:
		return fmt.Errorf("frame %d, by %v, is %v", f.Index, f.Strategy, f.Trust)
	case f.PCIsReturnAddress == prev.Signal:
		return fmt.Errorf("frame %d: return address %v after signal %v", f.Index, f.PCIsReturnAddress, prev.Signal)
	case f.Strategy == frames.Sigreturn != prev.Signal:
		return fmt.Errorf("frame %d by %v after signal %v", f.Index, f.Strategy, prev.Signal)
	// The link register says nothing of it.
	case f.Strategy == frames.Prologue && a.LR != arch.NoReg && prev.HasCFA == f.Regs.IsKnown(a.SP):
	case !saysSP(a, f.Strategy) && (prev.HasCFA || f.Regs.IsKnown(a.SP)):
		return fmt.Errorf("frame %d has a CFA, though its caller was found by %v", prev.Index, f.Strategy)
	case saysSP(a, f.Strategy) && !prev.HasCFA:
		return fmt.Errorf("frame %d has no CFA, though its caller was found by %v", prev.Index, f.Strategy)
	case f.PC == 0 && !prev.Signal:
		return fmt.Errorf("frame %d is at 0", f.Index)
	}
	if !prev.Signal && !space.Executable(f.LookupPC()) && !space.Executable(f.PC) {
		return fmt.Errorf("frame %d at %x is not in executable memory", f.Index, uint64(f.PC))
	}
	old, known := prev.Regs.SP()
	sp, _ := f.Regs.SP()
	if !known || sp > old || prev.Signal || !saysSP(a, f.Strategy) || !f.Regs.IsKnown(a.SP) {
		return nil
	}
	if place, _ := f.Where(a.PC); sp == old && !prev.PCIsReturnAddress && f.PC != prev.PC && (a.LR != arch.NoReg || place != frames.InMemory) {
		return nil // a leaf, or a function that has popped its return address into a register
	}
	if f.Strategy == frames.CFI {
		o, err := u.Origin(prev.PC, !prev.PCIsReturnAddress)
		if err == nil && (o.Row.CFAString(a) == "exp" || o.Row.Rule(a.SP).Kind != 0) {
			return nil // the table says that it is another stack
		}
	}
	return fmt.Errorf("the stack pointer goes from %x to %x, frame %d by %v", old, sp, f.Index, f.Strategy)
}

// fuzzWorld makes a world of a fuzzer's bytes. Words of the stack and registers are three bytes
// each: a kind and a number, so that most of them point somewhere.
func fuzzWorld(t testing.TB, stack, table, code, regs []byte, options uint32) (*bed, *counted) {
	a := arch.All()[int(options)%len(arch.All())]
	w := newBed(t, a)
	opt := func(bit int) bool { return options>>bit&1 != 0 }
	if opt(3) {
		w.calls()
	}
	w.code(0, code[:min(len(code), 0x1000)]...)
	for i := 0; i+3 <= len(stack) && i < 3*0x800; i += 3 {
		w.words(w.stack+uint64(a.PtrSize*(i/3)), w.wordOf(stack[i:]))
	}
	if opt(4) {
		copy(w.pieces[2].data, w.pieces[1].data)
	}
	list := []arch.Reg{a.PC, a.SP, a.FP, a.LR, 18, 3}
	for r := range arch.Reg(32) {
		list = append(list, r)
	}
	for i, r := range list {
		if i*3+3 <= len(regs) && regs[i*3]&0x80 == 0 {
			w.regs.Set(r, w.wordOf(regs[i*3:]))
		}
	}
	if opt(5) {
		frames.Edit(w.m).EHFrame = frames.Section{Data: table, Addr: 0x100000}
	} else {
		w.entries(table)
		frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
	}
	if opt(6) {
		frames.Edit(w.m).DebugFrame = frames.Section{Data: table, Addr: 0}
	}
	frames.Edit(w.m).Go = opt(7)
	if opt(8) {
		frames.Edit(w.m).Entry = codeAt - bias + 0x300
	}
	if opt(9) {
		frames.Edit(w.m).PLT = []frames.Range{{Lo: codeAt - bias + 0x1000, Hi: codeAt - bias + 0x1100}}
	}
	if opt(10) {
		frames.Edit(w.m).FunctionAt = func(pc uint64) (lo, hi uint64, ok bool) { return pc &^ 0xff, pc&^0xff + 0x100, pc&0x400 == 0 }
	}
	if opt(11) {
		frames.Edit(w.m).Code = []frames.Section{{Data: w.pieces[0].data, Addr: codeAt - bias}}
	}
	if opt(12) {
		frames.Edit(w.m).Hi = codeAt + 0x480
	}
	if opt(13) {
		w.modules = nil
	}
	return w, &counted{fake: w.fake}
}

// wordOf is the word of three bytes.
func (b *bed) wordOf(data []byte) uint64 {
	n := uint64(data[1]) | uint64(data[2])<<8
	v := n * 0x9e3779b97f4a7c15
	switch data[0] & 7 {
	case 0:
		v = codeAt + n&0x3fff
	case 1, 2:
		v = b.stack + n&0x3fff
	case 3:
		v = b.alt + n&0x3fff
	case 4:
		v = n
	case 5:
		v = -n
	case 6:
		v = codeAt + n&0x7f0 | n<<52
	}
	if b.a.PtrSize == 4 {
		v &= 0xffffffff
	}
	return v
}

// calls puts a call before each 16th byte's multiple of the code, to the function in whose table it
// is, and a return at each function's end.
func (w *world) calls() {
	for off := 0x10; off < 0x1000; off += 0x10 {
		switch w.a {
		case arch.AMD64, arch.I386:
			to := (off*7&0x7 + 1) << 8
			w.code(off-5, append([]byte{0xe8}, binary.LittleEndian.AppendUint32(nil, uint32(to-off))...)...)
		case arch.ARM64:
			w.code(off-4, 0, 0, 0, 0x94)
		case arch.RISCV64:
			w.code(off-4, 0xef, 0, 0, 0)
		case arch.ARM:
			w.code(off-4, 0, 0, 0, 0xeb)
		}
	}
	for off := 0xff; off < 0x1000 && w.a == arch.AMD64; off += 0x100 {
		w.code(off-1, 0x58, 0xc3) // pop %rax; ret
	}
}

// entries makes a table of a fuzzer's bytes: for each entry where it begins, how long it is, which
// of four CIEs it has, the number of its instructions' bytes, and these.
func (w *world) entries(b []byte) {
	ra := byte(w.a.PC)
	if w.a.LR != arch.NoReg {
		ra = byte(w.a.LR)
	}
	size := byte(w.a.PtrSize)
	initial := []byte{0x0c, byte(w.a.SP), size, 0x80 | ra&0x3f, 1}
	if w.a.LR != arch.NoReg {
		initial = []byte{0x0c, byte(w.a.SP), 0}
	}
	var cies [4]int
	for i := range cies {
		body := []byte{1, 'z', 'R', 0, 1, 0x78, ra, 1, 0}
		if i == 1 {
			body = []byte{1, 'z', 'R', 'S', 0, 1, 0x78, ra, 1, 0}
		}
		if size == 4 {
			body[len(body)-4] = 0x7c // the data alignment is -4
		}
		cies[i] = len(w.table.b)
		if i == 2 {
			w.table.entry(0, body)
		} else {
			w.table.entry(0, append(body, initial...))
		}
	}
	for len(b) >= 4 {
		n := min(int(b[3]&31), len(b)-4)
		lo, length := uint64(b[0])<<5, uint64(b[1])<<3
		instr := b[4 : 4+n]
		body := w.address(nil, codeAt-bias+lo)
		body = w.address(body, length)
		body = append(append(body, 0), instr...)
		w.table.entry(uint32(len(w.table.b)+4-cies[b[2]&3]), body)
		b = b[4+n:]
	}
}

func (w *world) address(b []byte, v uint64) []byte {
	if w.a.PtrSize == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// FuzzWholeWalk walks hostile worlds: the fuzzer decides architecture, registers, tables, stack and
// code. The walk ends, does a bounded amount of work for each frame, gives plausible frames only, and gives
// the same ones when it is warm, when it is slow (recording) and when nothing was known.
func FuzzWholeWalk(f *testing.F) {
	f.Add([]byte("\x00\x10\x02\x04\x00\x00\x04\x0b\x00\x00\x10\x03"), []byte("\x08\x10\x00\x00\x10\x10\x00\x04\x0e\x18\x83\x02\x18\x10\x00\x02\x07\x10"),
		[]byte{}, []byte("\x00\x10\x01\x01\x00\x00"), uint32(0))
	for o := range uint32(5) {
		for _, bits := range []uint32{0x08, 0x08 | 1<<8, 0x08 | 1<<10 | 1<<11, 1 << 4} {
			options := bits + (o+5-bits%5)%5
			// Every word a return address, one function with frames of 16 bytes.
			var stack []byte
			for i := range 64 {
				stack = append(stack, 1, byte(16*i+32), byte((16*i+32)>>8), 0, 0x10, byte(i&3))
			}
			f.Add(stack, []byte("\x00\x80\x00\x02\x0e\x10\x10\x20\x01\x00"), []byte{}, []byte("\x00\x10\x01\x01\x00\x00\x01\x10\x00\x00\x10\x02\x01\x40\x00"), options)
			f.Add(stack, []byte(nil), []byte{0x55, 0x48, 0x89, 0xe5}, []byte("\x00\x10\x01\x01\x00\x00\x01\x10\x00\x00\x10\x02\x01\x40\x00\x01\x40\x00"), options)
			f.Add(stack, []byte("\x08\x10\x00\x0a\x0f\x03\x77\x08\x06\x16\x10\x02\x77\x08\x00"), []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, []byte("\x00\x00\x00\x01\x00\x00"), options)
		}
	}
	f.Fuzz(func(t *testing.T, stack, table, code, regs []byte, options uint32) {
		const limit = 3000
		w, space := fuzzWorld(t, stack, table, code, regs, options)
		use := frames.AllStrategies
		if options>>14&7 == 7 {
			use = frames.StrategySet(options >> 17)
		}
		fresh := func(space frames.Space) *frames.Unwinder {
			u := frames.New(w.a, space)
			u.DepthLimit, u.Use, u.Prove = limit, use, options>>31 == 0
			return u
		}
		u := fresh(space)
		cold := u.Walk(&w.regs)
		first := follow(cold, space, func(prev, f *frames.Frame) {
			if err := plausible(u, space, w.a, prev, f); err != nil {
				t.Error(err)
			}
		})
		if n := len(first.frames) + 1; n > limit+1 || first.reads > n*maxReadsOfFrame || first.bytes > n*maxBytesOfFrame {
			t.Errorf("%d frames, %d reads of %d bytes", n, first.reads, first.bytes)
		}
		if end := cold.End(); !knownReason(&end) {
			t.Errorf("ended for %q", end.Message())
		}
		recording := func(u *frames.Unwinder) *frames.Walk {
			walk := u.Walk(&w.regs)
			walk.Record = true
			return walk
		}
		still := fresh(settledSpace{space})
		follow(still.Walk(&w.regs), nil, nil)
		other := fresh(space) // has seen the same places with other stacks
		for i := range uint64(3) {
			regs := w.regs
			sp, _ := regs.SP()
			regs.Set(w.a.SP, sp+0x18*(i+1))
			follow(other.Walk(&regs), nil, nil)
		}
		for _, again := range []struct {
			how  string
			walk *frames.Walk
		}{
			{"warm", cold}, {"another walk", u.Walk(&w.regs)}, {"recording, warm", recording(u)}, {"recording, cold", recording(fresh(space))},
			{"after other walks", other.Walk(&w.regs)}, {"with a version, warm", still.Walk(&w.regs)}, {"with a version, recording", recording(still)},
		} {
			tr := follow(again.walk, space, nil)
			if diff := first.differ(&tr, fresh(space).Walk(&w.regs), again.walk); diff != "" {
				t.Errorf("%s: %s", again.how, diff)
			}
		}
		traced(t, u.Walk(&w.regs))
		traced(t, still.Walk(&w.regs))
	})
}
