package eval

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"dbg/target"
)

// TestProgramDoesNotAllocate also proves that a program reads memory rarely: what lies in one line of 64 bytes is read once.
func TestProgramDoesNotAllocate(t *testing.T) {
	e, c := programWorld()
	for _, r := range []struct {
		text string
		most int // bytes to read
	}{
		{"i == 3", 64},
		{"i == 3 && u > 4 || s < 2 && us != 1", 128},
		{"p->x + p->low == pt.y << 2 || a[i & 3] != ip[0] - 1", 6 * 64},
		{"d * 2.5 > f / 3 ? l : ul", 3 * 64},
		{"$rax == 4 && $sp != 0", 0},
		{"1", 0},
	} {
		p, err := Compile(r.text, c)
		if err != nil {
			t.Errorf("%s: %v", r.text, err)
			continue
		}
		e.reads = 0
		if _, err := p.Run(&e.regs, e); err != nil {
			t.Errorf("%s: %v", r.text, err)
		}
		if e.reads > r.most {
			t.Errorf("%s: %d bytes are read, want at most %d", r.text, e.reads, r.most)
		}
		mem := &flatMemory{e: e}
		if n := testing.AllocsPerRun(200, func() { p.Run(&e.regs, mem) }); n != 0 {
			t.Errorf("%s: %v allocations", r.text, n)
		}
	}
}

// flatMemory is the page of programWorld without the map.
type flatMemory struct{ e *fakeEnv }

func (m *flatMemory) ReadMemory(a target.Addr, buf []byte) (int, error) {
	page := m.e.memory[0x10000]
	if off := a - 0x10000; off < target.Addr(len(page)) && len(buf) <= len(page)-int(off) {
		return copy(buf, page[off:]), nil
	}
	return 0, errNotMapped
}

var errNotMapped = &target.MemoryError{Why: "not mapped"}

// TestProgramFails asks for the full evaluator where a program can't decide.
func TestProgramFails(t *testing.T) {
	e, c := programWorld()
	for _, text := range []string{"null->x == 1", "i / (u - u)", "*(int *)0x50000 == 1", "$rbx == 1", "*ip % (c - c) == 0", "1 / 0", "a[l] == 1", "sl[k - 253] == 3", "sl[-1] == 0", "bad[0] == 1"} {
		p, err := Compile(text, c)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if _, err = p.Run(&e.regs, e); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	for _, text := range []string{`"abc"[0] == 1`, "i = 3", "i++", "f(1)", "$foo", "$1 == 2", "a[0]@2", "(long double)d > 1", "a", "b ? a : a"} {
		if _, err := Compile(text, c); !errors.Is(err, ErrNotCompiled) {
			t.Errorf("%s: error %v, want ErrNotCompiled", text, err)
		}
	}
}

// TestProgramIsShared runs one program on several goroutines.
func TestProgramIsShared(t *testing.T) {
	e, c := programWorld()
	p, err := Compile("p->x == 7 && i == -10", c)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			regs, mem := e.regs, &flatMemory{e: e}
			for range 1000 {
				if yes, err := p.Run(&regs, mem); !yes || err != nil {
					t.Errorf("%v, %v", yes, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestProgramOfDifferentTypes compiles choices whose sides have different types.
func TestProgramOfDifferentTypes(t *testing.T) {
	e, c := programWorld()
	for _, text := range []string{
		"(i > 0 ? c : ul) - 1 > 3", "-(u ? d : i) < 0", "(b ? p : ip) == &pt", "(b ? (i ? c : u) : d) * 2 - (i ? c : u)", "sizeof(b ? c : l) == 1",
		"((int)(i < 0 ? f : u) | 1) == 11", "(i ? pt : pt).x == 7", "!(null ? d : c) || (i, s) < (u ? 1 : l)", "a[b ? c + 4 : ul] == 3", "*(null ? &c : &us) == 1",
	} {
		if !compareProgram(t, text, e, c) {
			_, err := Compile(text, c)
			t.Errorf("%s is not decided: %v", text, err)
		}
	}
}

// FuzzCompile compiles and runs any text. It must not panic, and decide as the evaluator does.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{"i == 3", "p->x", "a[2] + ip[1]", "(char)u < -1", "b ? d : f", "sizeof(pt)", "&a[1] - &a[0]", "((i ? c : d) ? u : f) + 1", "*&*p", "$al"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 {
			return
		}
		e, c := programWorld()
		want, wantErr := conditionOf(text, e)
		p, err := Compile(text, c)
		if err != nil {
			if !errors.Is(err, ErrNotCompiled) && wantErr == nil && !strings.ContainsAny(text, "&|?") {
				t.Errorf("%q: Compile says %v, Evaluate gives %v", text, err, want)
			}
			return
		}
		got, err := p.Run(&e.regs, e)
		if err == nil && (wantErr != nil || got != want) {
			t.Errorf("%q: the program gives %v; Evaluate gives %v, %v", text, got, want, wantErr)
		}
	})
}

// BenchmarkProgram runs conditions on memory that costs nothing.
func BenchmarkProgram(b *testing.B) {
	e, c := programWorld()
	for _, text := range []string{"i == 3", "i == 3 && u > 4", "p->x + p->low == pt.y << 2", "d * 2.5 > f / 3"} {
		p, err := Compile(text, c)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			mem := &flatMemory{e: e}
			for b.Loop() {
				if _, err := p.Run(&e.regs, mem); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCompile compiles a condition in a world where names cost nothing.
func BenchmarkCompile(b *testing.B) {
	_, c := programWorld()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile("p->x + p->low == pt.y << 2 && i", c); err != nil {
			b.Fatal(err)
		}
	}
}
