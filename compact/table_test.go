package compact_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"

	"dbg/arch"
	"dbg/compact"
)

const base = 0x100000000

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 4)) }

// What the encoder writes comes back: entries in order, each address, LSDAs, personality routines.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		r := random(seed)
		a := []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64}[seed%3]
		kinds := [][]uint32{{2}, {3}, {2, 3}}[seed/3%3]
		fs, end := randomFunctions(r, a, 1+r.IntN(2000))
		s := link(r, fs, end, 1+r.IntN(500), kinds...)
		tab := newTable(t, a, s.encode(), base)
		i := 0
		for e, err := range tab.All() {
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			checkFunction(t, tab, e, fs, i, end)
			i++
		}
		if i != len(fs) || tab.Entries() != i {
			t.Fatalf("seed %d: %d entries, Entries says %d; want %d", seed, i, tab.Entries(), len(fs))
		}
		var e compact.Entry
		for range 500 {
			i := r.IntN(len(fs))
			hi := end
			if i+1 < len(fs) {
				hi = fs[i+1].addr
			}
			pc := base + uint64(fs[i].addr) + uint64(r.IntN(int(hi-fs[i].addr)))
			if err := tab.Find(pc, &e); err != nil {
				t.Fatalf("seed %d: Find(%#x): %v", seed, pc, err)
			}
			checkFunction(t, tab, &e, fs, i, end)
		}
		for _, pc := range []uint64{0, base - 1, base, base + uint64(fs[0].addr) - 1, base + uint64(end), base + 1<<32, 1<<64 - 1} {
			if err := tab.Find(pc, &e); err != compact.ErrNotCovered {
				t.Errorf("seed %d: Find(%#x): %v", seed, pc, err)
			}
		}
	}
}

func checkFunction(t *testing.T, tab *compact.Table, e *compact.Entry, fs []function, i int, end uint32) {
	t.Helper()
	hi := end
	if i+1 < len(fs) {
		hi = fs[i+1].addr
	}
	f := fs[i]
	if e.Lo != base+uint64(f.addr) || e.Hi != base+uint64(hi) || uint32(e.Opcode) != f.op {
		t.Fatalf("entry %d is %+v; want %#x to %#x, opcode %#x", i, *e, f.addr, hi, f.op)
	}
	addr, ok, err := tab.LSDA(e)
	if err != nil || ok != (f.lsda != 0) || ok && addr != base+uint64(f.lsda) {
		t.Fatalf("entry %d: LSDA %#x, %v, %v; want %#x", i, addr, ok, err, f.lsda)
	}
	slot, ok, err := tab.Personality(e)
	p := f.op >> 28 & 3
	if err != nil || ok != (p != 0) || ok && slot != base+0x1000+8*uint64(p-1) {
		t.Fatalf("entry %d: personality %#x, %v, %v; want number %d", i, slot, ok, err, p)
	}
}

// Parts of a sweep are together the whole, wherever it is cut.
func TestEachInParts(t *testing.T) {
	r := random(1)
	fs, end := randomFunctions(r, arch.AMD64, 700)
	s := link(r, fs, end, 50, 2, 3)
	s.pages[3].kind = 9
	s.pages[5].entries[0].addr, s.pages[5].kind = 0, 2
	s.pages[7].entries = nil
	tab := newTable(t, arch.AMD64, s.encode(), base)
	collect := func(i, j int, out []string) []string {
		tab.Each(i, j, func(e *compact.Entry, err error) bool {
			out = append(out, describe(e, err))
			return true
		})
		return out
	}
	n := tab.Entries()
	want := collect(0, n, nil)
	for range 200 {
		i := r.IntN(n + 1)
		j := i + r.IntN(n-i+1)
		got := collect(j, n, collect(i, j, collect(0, i, nil)))
		if i == j {
			got = collect(j, n, collect(0, i, nil))
		}
		if len(got) != len(want) {
			t.Fatalf("cut at %d and %d of %d: %d entries, want %d", i, j, n, len(got), len(want))
		}
		for k := range got {
			if got[k] != want[k] {
				t.Fatalf("cut at %d and %d: entry %d is %s, want %s", i, j, k, got[k], want[k])
			}
		}
	}
}

// Entries that go on with a function belong to it, in the next page too, but not behind a gap.
func TestFunctionStart(t *testing.T) {
	s := &section{end: 0x700, pages: []page{
		{kind: 2, first: 0x100, entries: []entry{{0x100, opContinue, 0}, {0x200, 0x01000000, 0}, {0x240, opContinue | 0x02010000, 0}}},
		{kind: 3, first: 0x300, entries: []entry{{0x300, 0, 0}, {0x380, 0, 1}}, local: []uint32{opContinue | 0x02020000, 0x01000000}},
		{kind: 0, first: 0x400},
		{kind: 2, first: 0x500, entries: []entry{{0x500, opContinue | 0x02010000, 0}}},
	}}
	tab := newTable(t, arch.AMD64, s.encode(), base)
	var e compact.Entry
	for pc, want := range map[uint64]uint64{0x100: 0, 0x200: 0x200, 0x250: 0x200, 0x310: 0x200, 0x380: 0x380, 0x500: 0} {
		if err := tab.Find(base+pc, &e); err != nil {
			t.Fatal(err)
		}
		start, err := tab.FunctionStart(&e)
		if want == 0 && err == nil || want != 0 && (err != nil || start != base+want) {
			t.Errorf("%#x: function starts at %#x, %v; want %#x", pc, start, err, want)
		}
	}
	var got [][2]uint64
	tab.EachFunction(func(lo, hi uint64, first *compact.Entry) bool {
		if first.Lo != lo {
			t.Errorf("%#x: the first entry is at %#x", lo, first.Lo)
		}
		got = append(got, [2]uint64{lo - base, hi - base})
		return true
	})
	want := [][2]uint64{{0x100, 0x200}, {0x200, 0x380}, {0x380, 0x400}, {0x500, 0x700}}
	if len(got) != len(want) {
		t.Fatalf("functions %x, want %x", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("function %d is %x, want %x", i, got[i], want[i])
		}
	}
}

// A section of 10,000 entries: every address's neighbourhood, and no allocation.
func TestTenThousand(t *testing.T) {
	r := random(7)
	fs, end := randomFunctions(r, arch.AMD64, 10000)
	tab := newTable(t, arch.AMD64, link(r, fs, end, 1000, 3).encode(), base)
	var e compact.Entry
	for i, f := range fs {
		hi := end
		if i+1 < len(fs) {
			hi = fs[i+1].addr
		}
		for _, pc := range []uint32{f.addr, hi - 1, f.addr + (hi-f.addr)/2} {
			if err := tab.Find(base+uint64(pc), &e); err != nil {
				t.Fatal(err)
			}
			checkFunction(t, tab, &e, fs, i, end)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { tab.Find(base+uint64(fs[r.IntN(len(fs))].addr), &e) }); n != 0 {
		t.Errorf("%v allocations a look-up", n)
	}
	if n := testing.AllocsPerRun(1000, func() { tab.Find(1, &e) }); n != 0 {
		t.Errorf("%v allocations a look-up of what is not covered", n)
	}
}

// Entries that lie close together, many at one address and others far apart: at each address near them, Find has what All has.
func TestCrowded(t *testing.T) {
	for seed := range uint64(200) {
		r := random(seed)
		var fs []function
		addr := uint32(0x1000)
		for range 1 + r.IntN(400) {
			fs = append(fs, function{addr: addr, op: uint32(0x01000000 + r.IntN(3))})
			switch r.IntN(8) {
			case 0:
				addr += uint32(r.IntN(1 << 23))
			case 1:
				addr += uint32(r.IntN(300))
			case 2, 3: // there again
			default:
				addr++
			}
		}
		if seed%2 == 0 { // up to the highest address there is
			up := 1<<32 - 2 - addr
			for i := range fs {
				fs[i].addr += up
			}
			addr += up
		}
		s := link(r, fs, addr+1, 1+r.IntN(400), []uint32{2, 3}[r.IntN(2)], []uint32{2, 3}[r.IntN(2)])
		if seed%5 == 0 {
			s.noSentinel = true
		}
		tab := newTable(t, arch.ARM64, s.encode(), base)
		type ranged struct {
			compact.Entry
			err string
		}
		var all []ranged
		near := []uint64{base, base + 1<<32 - 1, base + uint64(addr), base + uint64(addr) + 1, base + uint64(addr) + 2}
		for e, err := range tab.All() {
			all = append(all, ranged{*e, fmt.Sprint(err)})
			near = append(near, e.Lo-1, e.Lo, (e.Lo+e.Hi)/2, e.Hi-1, e.Hi)
		}
		for _, pc := range near {
			var e compact.Entry
			err := tab.Find(pc, &e)
			i := sort.Search(len(all), func(i int) bool { return all[i].Hi > pc })
			switch {
			case i == len(all) || pc < all[i].Lo:
				if err != compact.ErrNotCovered {
					t.Fatalf("seed %d: Find(%#x): %+v, %v; All has nothing there", seed, pc, e, err)
				}
			case fmt.Sprint(err) != all[i].err || err == nil && e != all[i].Entry:
				t.Fatalf("seed %d: Find(%#x): %+v, %v; want %+v", seed, pc, e, err, all[i])
			}
		}
	}
}

// Goroutines that look up in a new table at once all find what there is.
func TestConcurrent(t *testing.T) {
	fs, end := randomFunctions(random(2), arch.AMD64, 3000)
	tab := newTable(t, arch.AMD64, link(random(2), fs, end, 100, 2, 3).encode(), base)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := random(uint64(g))
			var e compact.Entry
			for range 3000 {
				f := fs[r.IntN(len(fs))]
				if err := tab.Find(base+uint64(f.addr), &e); err != nil || uint32(e.Opcode) != f.op {
					t.Errorf("at %#x: %+v, %v", f.addr, e, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func describe(e *compact.Entry, err error) string {
	var d *compact.Error
	if errors.As(err, &d) {
		return d.Error()
	}
	s := e.Opcode.String(arch.AMD64)
	return fmt.Sprintf("%#x %s", e.Lo, s)
}
