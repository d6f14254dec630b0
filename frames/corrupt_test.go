//go:build linux && amd64

package frames_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols"
	"dbg/target"
	"dbg/target/elfcore"
)

// corruptTrials is how many walks over corrupt bytes a test makes: DBG_CORRUPT_TRIALS, or n.
func corruptTrials(t testing.TB, n int) int {
	if s := os.Getenv("DBG_CORRUPT_TRIALS"); s != "" {
		v, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return n
}

// snapshot is a dead process whose stacks and tables can be changed.
type snapshot struct {
	path    string
	core    *elfcore.Core
	maps    []target.Mapping
	modules []*frames.Module // by address
	stacks  []piece
	threads []arch.Registers
	reads   int
}

func (s *snapshot) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	s.reads++
	n, err := s.core.ReadMemory(addr, buf)
	for i := range s.stacks {
		p := &s.stacks[i]
		end := p.addr + target.Addr(len(p.data))
		if lo, hi := max(addr, p.addr), min(addr+target.Addr(n), end); lo < hi {
			copy(buf[lo-addr:hi-addr], p.data[lo-p.addr:hi-p.addr])
		}
	}
	return n, err
}

func (s *snapshot) mapping(a target.Addr) *target.Mapping {
	i := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].Hi > a })
	if i < len(s.maps) && s.maps[i].Lo <= a {
		return &s.maps[i]
	}
	return nil
}

func (s *snapshot) Executable(a target.Addr) bool {
	m := s.mapping(a)
	return m != nil && m.Exec == target.Allowed
}

func (s *snapshot) FindModule(pc target.Addr) *frames.Module {
	i := sort.Search(len(s.modules), func(i int) bool { return frames.Edit(s.modules[i]).Hi > pc })
	if i < len(s.modules) && frames.Edit(s.modules[i]).Lo <= pc {
		return s.modules[i]
	}
	return nil
}

// openSnapshot opens a core with all that the unwinder gets in a session.
func openSnapshot(t testing.TB, path string) *snapshot {
	t.Helper()
	core, err := elfcore.Open(path, elfcore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { core.Close() })
	s := &snapshot{path: path, core: core}
	if s.maps, err = core.Mappings(); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.maps {
		if n := len(s.modules); n > 0 && frames.Edit(s.modules[n-1]).Name == m.Path && m.Offset != 0 {
			frames.Edit(s.modules[n-1]).Hi = m.Hi
			continue
		}
		var f *image.File
		switch {
		case m.Path == "[vdso]":
			data := make([]byte, m.Hi-m.Lo)
			n, _ := core.ReadMemory(m.Lo, data)
			f, err = image.FromMemory(m.Path, data[:n])
		case strings.HasPrefix(m.Path, "/"):
			f, err = image.Open(m.Path)
		default:
			continue
		}
		if err != nil {
			continue
		}
		t.Cleanup(func() { f.Close() })
		sym := symbols.Load(f, symbols.Options{})
		u := frames.ModuleOf(f, nil)
		frames.Edit(u).Name, frames.Edit(u).Lo, frames.Edit(u).Hi = m.Path, m.Lo, m.Hi
		frames.Edit(u).Bias = uint64(m.Lo) - uint64(f.Segments()[0].Lo)&^4095
		frames.Edit(u).FunctionAt = func(pc uint64) (uint64, uint64, bool) {
			lo, hi, ok := sym.CodeBounds(image.Addr(pc))
			return uint64(lo), uint64(hi), ok
		}
		s.modules = append(s.modules, u)
	}
	slices.SortFunc(s.modules, func(a, b *frames.Module) int { return cmp.Compare(frames.Edit(a).Lo, frames.Edit(b).Lo) })
	for _, th := range core.Threads() {
		regs, err := core.Registers(th.ID)
		if err != nil {
			t.Fatal(err)
		}
		s.threads = append(s.threads, regs)
	}
	return s
}

// place is where a frame truly is.
type Place struct {
	pc, sp target.Addr
}

// truth walks a sound stack and takes copies of the memory that it lies in.
func (s *snapshot) truth(t testing.TB, regs *arch.Registers) (frs []Place) {
	t.Helper()
	w := frames.New(arch.AMD64, s).Walk(regs)
	type span struct{ lo, hi target.Addr }
	var spans []span
	for f := range w.Frames(context.Background()) {
		sp, _ := f.Regs.SP()
		frs = append(frs, Place{f.PC, target.Addr(sp)})
		m := s.mapping(target.Addr(sp))
		if m == nil {
			t.Fatalf("frame %d: no memory at its stack pointer", f.Index)
		}
		lo, hi := target.Addr(sp)-256, min(target.Addr(sp)+4096, m.Hi)
		if n := len(spans); n > 0 && spans[n-1].lo <= lo && lo <= spans[n-1].hi {
			spans[n-1].hi = max(hi, spans[n-1].hi)
		} else {
			spans = append(spans, span{lo, hi})
		}
	}
	if !w.End().Outermost {
		t.Fatalf("the sound walk ends with %+v", w.End())
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	for _, sp := range spans {
		if n := len(s.stacks); n > 0 && s.stacks[n-1].addr <= sp.lo && sp.lo < s.stacks[n-1].addr+target.Addr(len(s.stacks[n-1].data)) {
			old := &s.stacks[n-1]
			if sp.hi <= old.addr+target.Addr(len(old.data)) {
				continue
			}
			sp.lo = old.addr
			s.stacks = s.stacks[:n-1]
		}
		data := make([]byte, sp.hi-sp.lo)
		n, _ := s.core.ReadMemory(sp.lo, data)
		s.stacks = append(s.stacks, piece{addr: sp.lo, data: data[:n]})
	}
	return frs
}

// tally is what came of the trials of one kind.
type tally struct {
	trials, differ, shorter int
	wrong                   [4]int // wrong frames, by trust
	twins                   int    // those called exact that nothing can tell from the truth
	most                    int    // frames
	reads                   int
	exact, frames           int
}

func (y *tally) String() string {
	return fmt.Sprintf("%d trials: %d walks differ from the truth (%d of them are shorter and right so far), wrong frames: %d exact, %d table, %d heuristic, %d guess, %d twins; %d of %d frames exact; at most %d frames, %d reads",
		y.trials, y.differ, y.shorter, y.wrong[0], y.wrong[1], y.wrong[2], y.wrong[3], y.twins, y.exact, y.frames, y.most, y.reads)
}

// twin reports whether b is where another call of the function that a call before a has called
// returns to: a stack with the one in the other's place is a stack that the program can have.
func (s *snapshot) twin(a, b target.Addr) bool {
	called := func(ra target.Addr) target.Addr {
		var c [5]byte
		if n, _ := s.core.ReadMemory(ra-5, c[:]); n < 5 || c[0] != 0xe8 {
			return 0
		}
		return ra + target.Addr(int64(int32(binary.LittleEndian.Uint32(c[1:]))))
	}
	return called(a) != 0 && called(a) == called(b)
}

// damage is a change of bytes that can be undone.
type damage struct {
	at   []byte
	old  []byte
	what string
}

func (d *damage) undo() { copy(d.at, d.old) }

// spoil changes random bytes of b: one bit, one byte, two to eight bytes, a run to zero, or two words
// swapped.
func spoil(r *rand.Rand, b []byte) *damage {
	lo := r.IntN(len(b))
	hi := min(lo+8, len(b))
	kind := r.IntN(6)
	other := lo
	switch kind {
	case 3:
		hi = min(lo+1+r.IntN(64), len(b))
	case 4, 5:
		lo &^= 7
		other = min(max(lo+8*(r.IntN(64)-32), 0), len(b)-8)
		lo = min(lo, len(b)-8)
		lo, other = min(lo, other), max(lo, other)
		hi = other + 8
		if lo < 0 {
			lo, hi, other, kind = 0, len(b), 0, 3
		}
	}
	d := &damage{at: b[lo:hi], old: slices.Clone(b[lo:hi])}
	switch kind {
	case 0:
		b[lo] ^= 1 << r.IntN(8)
		d.what = "a bit"
	case 1:
		b[lo] = byte(r.Uint32())
		d.what = "a byte"
	case 2:
		for i := range b[lo:min(hi, lo+2+r.IntN(7))] {
			b[lo+i] = byte(r.Uint32())
		}
		d.what = "some bytes"
	case 3:
		clear(b[lo:hi])
		d.what = "a run to zero"
	default:
		if kind == 5 { // a copy of another word, as a stray store leaves one
			copy(b[lo:lo+8], b[other:other+8])
			d.what = "a word copied"
			break
		}
		var w [8]byte
		copy(w[:], b[lo:])
		copy(b[lo:lo+8], b[other:other+8])
		copy(b[other:], w[:])
		d.what = "two words swapped"
	}
	return d
}

// try walks a spoilt world and holds it against the truth.
func (y *tally) try(t *testing.T, s *snapshot, u *frames.Unwinder, regs *arch.Registers, want []Place, what func() string) {
	const most = 5000
	s.reads = 0
	u.DepthLimit = most
	w := u.Walk(regs)
	n, differs := 0, false
	for f := range w.Frames(context.Background()) {
		n++
		sp, _ := f.Regs.SP()
		right := f.Index < len(want) && want[f.Index] == Place{f.PC, target.Addr(sp)}
		y.frames++
		if f.Trust == frames.Exact {
			y.exact++
		}
		if right {
			continue
		}
		differs = true
		if f.Trust == frames.Exact && f.Index < len(want) && want[f.Index].sp == target.Addr(sp) && s.twin(want[f.Index].pc, f.PC) {
			y.twins++
			continue
		}
		y.wrong[f.Trust]++
		if f.Trust == frames.Exact {
			w := Place{}
			if f.Index < len(want) {
				w = want[f.Index]
			}
			if y.wrong[0] <= 5 {
				t.Errorf("%s: frame %d is called exact: %x sp %x, in truth %x sp %x", what(), f.Index, uint64(f.PC), sp, uint64(w.pc), uint64(w.sp))
			}
		}
	}
	if n >= most {
		t.Errorf("%s: %d frames", what(), n)
	}
	if s.reads > 2000*(n+1) {
		t.Errorf("%s: %d frames, %d reads of memory", what(), n, s.reads)
	}
	if w.End().Reason == frames.NotEnded {
		t.Errorf("%s: the walk does not say why it ended", what())
	}
	y.trials++
	y.most, y.reads = max(y.most, n), max(y.reads, s.reads)
	if differs {
		y.differ++
	} else if n != len(want) {
		y.differ++
		y.shorter++
	}
}

// corruptible are programs stopped at a crash.
var corruptible = []struct {
	source string
	flags  []string
	args   []string
}{
	{"torture/chain.c", []string{"-O0"}, nil},
	{"torture/chain.c", []string{"-O2", "-fomit-frame-pointer"}, []string{"thread"}},
	{"torture/chain.c", []string{"-O1", "-static"}, nil},
	{"torture/crash.cc", []string{"-g", "-O0"}, nil},
	{"torture/crash.cc", []string{"-O2", "-fomit-frame-pointer"}, nil},
	{"torture/crash.cc", []string{"-O1", "-static"}, nil},
	{"c/handler.c", []string{"-O1"}, []string{"altstack"}},
	{"c/threads8.c", []string{"-O2"}, nil},
}

// TestCorrupt changes bytes of tables and stacks of dead programs at random. What comes is an error or
// less trust, never a panic, a walk without end, or a wrong frame that is called exact. The generator is
// seeded: a trial is repeated by DBG_CORRUPT_SEED and the trial's number.
func TestCorrupt(t *testing.T) {
	trials := corruptTrials(t, 4000)
	for _, c := range corruptible {
		t.Run(strings.Join(append(append([]string{c.source}, c.flags...), c.args...), " "), func(t *testing.T) {
			exe := fixture.Build(t, c.source, c.flags...)
			core := fixture.Core(t, exe, c.args...)
			n := max(trials/len(corruptible)/4, 1)
			t.Run("stack", func(t *testing.T) { corruptStack(t, openSnapshot(t, core), 2*n) })
			t.Run("eh_frame", func(t *testing.T) {
				corruptTable(t, openSnapshot(t, core), n, func(m *frames.Module) *[]byte { return &frames.Edit(m).EHFrame.Data })
			})
			if slices.Contains(c.flags, "-static") {
				return // gcc asks for no .eh_frame_hdr then
			}
			t.Run("eh_frame_hdr", func(t *testing.T) {
				corruptTable(t, openSnapshot(t, core), n, func(m *frames.Module) *[]byte { return &frames.Edit(m).EHFrameHdr.Data })
			})
		})
	}
}

func corruptStack(t *testing.T, s *snapshot, trials int) {
	var y tally
	warm := map[int]*frames.Unwinder{}
	for i := range trials {
		th := i % len(s.threads)
		regs := &s.threads[th]
		s.stacks = s.stacks[:0]
		want := s.truth(t, regs)
		// Many trials on one stack, some of them with more than one damage.
		for j := range 50 {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			var all []*damage
			for range 1 + r.IntN(4)/3 {
				p := &s.stacks[r.IntN(len(s.stacks))]
				all = append(all, spoil(r, p.data))
			}
			u := warm[th]
			if u == nil || r.IntN(8) == 0 {
				u = frames.New(arch.AMD64, s)
				warm[th] = u
			}
			y.try(t, s, u, regs, want, func() string {
				return fmt.Sprintf("trial %d.%d, thread %d, %s in the stack", i, j, th, all[0].what)
			})
			for k := range all {
				all[len(all)-1-k].undo()
			}
			if y.trials >= trials {
				t.Log(&y)
				return
			}
		}
	}
}

// corruptTable changes a section of the modules that the walk goes through.
func corruptTable(t *testing.T, s *snapshot, trials int, section func(*frames.Module) *[]byte) {
	var y tally
	regs := &s.threads[0]
	want := s.truth(t, regs)
	entries := map[*frames.Module][]uint64{} // offsets of those that the walk uses
	var used []*frames.Module
	u := frames.New(arch.AMD64, s)
	for f := range u.Walk(regs).Frames(context.Background()) {
		if f.Module == nil || len(*section(f.Module)) == 0 {
			continue
		}
		if entries[f.Module] == nil {
			used = append(used, f.Module)
			p := section(f.Module)
			*p = slices.Clone(*p)
		}
		o, err := u.Origin(f.PC, !f.PCIsReturnAddress)
		if err != nil {
			t.Fatal(err)
		}
		entries[f.Module] = append(entries[f.Module], o.Row.Source)
	}
	if len(used) == 0 {
		t.Fatal("the walk goes through no such section")
	}
	for i := range trials {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		m := used[r.IntN(len(used))]
		data := *section(m)
		if list := entries[m]; &data[0] == &frames.Edit(m).EHFrame.Data[0] && r.IntN(4) > 0 {
			at := int(list[r.IntN(len(list))]) // near an entry that matters
			data = data[max(at-32, 0):min(at+96, len(data))]
		}
		d := spoil(r, data)
		for j, old := range s.modules { // nothing is known of it any more
			s.modules[j] = frames.NewModule(frames.Contents{Name: frames.Edit(old).Name, Lo: frames.Edit(old).Lo, Hi: frames.Edit(old).Hi, Bias: frames.Edit(old).Bias, EHFrameHdr: frames.Edit(old).EHFrameHdr, EHFrame: frames.Edit(old).EHFrame,
				DebugFrame: frames.Edit(old).DebugFrame, Code: frames.Edit(old).Code, FunctionAt: frames.Edit(old).FunctionAt, Text: frames.Edit(old).Text, Data: frames.Edit(old).Data, PLT: frames.Edit(old).PLT, Entry: frames.Edit(old).Entry})
		}
		y.try(t, s, frames.New(arch.AMD64, s), regs, want, func() string { return fmt.Sprintf("trial %d: %s in %s", i, d.what, frames.Edit(m).Name) })
		d.undo()
	}
	t.Log(&y)
}
