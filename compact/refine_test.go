package compact_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dbg/arch"
	"dbg/code"
	"dbg/compact"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/row/compiled"
)

// TestRefineAddons refines whole files that other people's compilers and Apple's linker made: hardly a function is left with its body's row,
// and RowAt gives at every address what EachRow does.
func TestRefineAddons(t *testing.T) {
	for _, n := range addons {
		t.Run(n.name, func(t *testing.T) {
			o := open(t, addon(t, n.name, n.version))
			x := refiner(o)
			functions := x.Entries()
			begun := time.Now()
			rows, bytes, last := 0, uint64(0), uint64(0)
			x.EachRow(0, functions, func(lo, hi uint64, r *row.Row, hash uint64) bool {
				if lo < last || lo >= hi {
					t.Fatalf("%x to %x after %x", lo, hi, last)
				}
				last = hi
				rows++
				bytes += hi - lo
				return true
			})
			spent := time.Since(begun)
			t.Logf("%d functions, %d rows, %d bytes of code in %v: %d ns a function, %.0f ns a byte", functions, rows, bytes, spent.Round(time.Millisecond),
				int(spent)/functions, float64(spent)/float64(bytes))

			hows := map[compact.How]int{}
			k := 0
			var r row.Row
			x.EachRow(0, functions, func(lo, hi uint64, want *row.Row, hash uint64) bool {
				if k++; k%200 != 0 || want == nil {
					return true
				}
				hows[x.How(lo)]++
				for _, pc := range []uint64{lo, hi - 1} {
					if err := x.RowAt(pc, &r); err != nil || compiled.HashRow(&r) != hash || r.Lo != lo || r.Hi != hi {
						t.Errorf("%x: %v, %s, want %s", pc, err, r.Format(o.file.Arch()), want.Format(o.file.Arch()))
					}
				}
				return true
			})
			t.Logf("%v", hows)
			if hows[compact.BodyOnly]*100 > hows[compact.Confirmed] {
				t.Errorf("%d of %d functions are not confirmed", hows[compact.BodyOnly], k/200)
			}
		})
	}
}

// TestRefinerTogether uses one refiner from several goroutines.
func TestRefinerTogether(t *testing.T) {
	o := open(t, build(t, "frames.c", "x86_64", "-O2"))
	x := refiner(o)
	var wait sync.WaitGroup
	rows := make([]int, 4)
	for g := range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			n := x.Entries()
			var r row.Row
			x.EachRow(n*g/4, n*(g+1)/4, func(lo, hi uint64, _ *row.Row, _ uint64) bool {
				rows[g]++
				return x.RowAt(lo, &r) == nil && r.Lo == lo
			})
		}()
	}
	wait.Wait()
	all := 0
	x.EachRow(0, x.Entries(), func(lo, hi uint64, _ *row.Row, _ uint64) bool { all++; return true })
	if sum := rows[0] + rows[1] + rows[2] + rows[3]; sum != all || all == 0 {
		t.Errorf("%d rows in parts, %d in one", sum, all)
	}
}

// TestUnrefined has the body's rows only.
func TestUnrefined(t *testing.T) {
	o := open(t, build(t, "frames.c", "arm64", "-O2"))
	x := refiner(o)
	x.Unrefined = true
	var r, body row.Row
	x.EachRow(0, x.Entries(), func(lo, hi uint64, got *row.Row, hash uint64) bool {
		var e compact.Entry
		if err := o.Find(lo, &e); err != nil || e.Lo != lo || e.Hi != hi {
			t.Fatalf("%x to %x: %v", lo, hi, err)
		}
		if err := o.Row(&e, &body); err != nil || !compiled.SameRules(got, &body) || compiled.HashRow(got) != hash {
			t.Errorf("%x: %v", lo, err)
		}
		if err := x.RowAt(hi-1, &r); err != nil || !compiled.SameRules(&r, &body) {
			t.Errorf("%x: %v", hi-1, err)
		}
		return true
	})
}

// assemble is the __text of some instructions, one a line.
func assemble(t testing.TB, triple, source string) []byte {
	t.Helper()
	fixture.Need(t, "clang-19", "llvm-objcopy-19")
	dir := t.TempDir()
	s, o, b := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
	if err := os.WriteFile(s, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"clang-19", "-target", triple, "-c", "-o", o, s}, {"llvm-objcopy-19", "-O", "binary", "-j", ".text", o, b}} {
		if msg, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, msg)
		}
	}
	text, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// oneEntry is an __unwind_info with regular entries only.
func oneEntry(end uint32, entries ...[2]uint32) []byte {
	var b []byte
	u32 := func(v ...uint32) {
		for _, v := range v {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	u32(1, 28, 0, 28, 0, 28, 2)
	u32(entries[0][0], 52, 52, end, 0, 52)
	u32(2, uint32(8)|uint32(len(entries))<<16)
	for _, e := range entries {
		u32(e[0], e[1])
	}
	return b
}

// refine is the rows of a piece of code at address 0x1000 that is one entry, as text: a line for each instruction's row.
func refine(t testing.TB, a *arch.Arch, op uint32, text []byte, starts ...uint64) (string, *compact.Refiner) {
	t.Helper()
	const at = 0x1000
	tab, err := compact.New(compact.Config{Arch: a, Data: oneEntry(at+uint32(len(text)), [2]uint32{at, op}), Code: func(addr uint64, n int) []byte {
		if addr < at || addr-at+uint64(n) > uint64(len(text)) {
			return nil
		}
		return text[addr-at : addr-at+uint64(n)]
	}})
	if err != nil {
		t.Fatal(err)
	}
	x := compact.NewRefiner(tab, starts)
	var s strings.Builder
	x.EachRow(0, x.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
		if r == nil {
			fmt.Fprintf(&s, "%x-%x ?\n", lo-at, hi-at)
			return true
		}
		_, rules, _ := strings.Cut(r.Format(a), " ")
		fmt.Fprintf(&s, "%x-%x %s\n", lo-at, hi-at, rules)
		return true
	})
	return s.String(), x
}

// FuzzRefine has any code under any opcode: no panic, no endless work, rows inside of the entry by rising address.
func FuzzRefine(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		b := make([]byte, 200)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(uint32(0x01000001+rng.Uint32()%0x03000000), b, true)
		f.Add(uint32(0x02000000+rng.Uint32()%0x03000000), b, false)
	}
	f.Add(uint32(0x01000000), []byte{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}, false)
	f.Fuzz(func(t *testing.T, op uint32, text []byte, arm bool) {
		a := arch.AMD64
		if arm {
			a = arch.ARM64
		}
		if len(text) == 0 || len(text) > 1<<16 {
			return
		}
		const at = 0x1000
		end := uint64(at + len(text))
		tab, err := compact.New(compact.Config{Arch: a, Data: oneEntry(uint32(end), [2]uint32{at, op}), Code: func(addr uint64, n int) []byte {
			if addr < at || addr > end {
				return nil
			}
			return text[addr-at : min(addr-at+uint64(n), uint64(len(text)))]
		}})
		if err != nil {
			t.Fatal(err)
		}
		x := compact.NewRefiner(tab, nil)
		last := uint64(at)
		x.EachRow(0, x.Entries(), func(lo, hi uint64, r *row.Row, hash uint64) bool {
			if lo < last || lo >= hi || hi > end {
				t.Fatalf("%x to %x after %x, end %x", lo, hi, last, end)
			}
			last = hi
			return true
		})
		var r row.Row
		x.RowAt(at+uint64(len(text)/2), &r)
		for _, k := range []compact.StubKind{compact.Stubs, compact.StubHelper} {
			compact.StubRows(a, k, at, text, func(lo, hi uint64, r *row.Row, _ uint64) bool { return true })
		}
		code.PaddingAtEnd(a, text)
	})
}
