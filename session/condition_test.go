package session

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// conditionTally counts what came of the comparisons of compiled conditions with the evaluator.
type conditionTally struct {
	stops, all, compiled, decided, refused int
	why                                    map[string]int // why conditions are not compiled
}

func (a *conditionTally) String() string {
	return fmt.Sprintf("%d stops, %d conditions with a truth: %d%% compiled, %d%% decided; %d without one", a.stops, a.all,
		100*a.compiled/max(a.all, 1), 100*a.decided/max(a.all, 1), a.refused)
}

// TestConditions compiles random conditions on the variables that are visible at many places of
// real programs. Program.Run must give what Evaluate gives there, or that it can't tell.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		source string
		least  int // percent of conditions that a program decides
		flags  []string
	}{
		{"c/vars.c", 90, []string{"cc=gcc", "-g", "-O0", "-w"}},
		{"c/vars.c", 90, []string{"cc=clang-19", "-g", "-O0", "-w"}},
		{"c/vars.c", 70, []string{"cc=gcc", "-g", "-O2", "-w"}},
		{"c/vars.c", 70, []string{"cc=clang-19", "-g", "-O2", "-w"}},
		{"c/vars.cc", 90, []string{"cc=g++", "-g", "-O0", "-w"}},
		{"c/vars.cc", 70, []string{"cc=clang++-19", "-g", "-O2", "-w"}},
		{"c/known.c", 90, []string{"cc=gcc", "-g", "-O0", "-w"}},
		{"c/known.rs", 90, []string{"-g", "-C", "opt-level=0", "-C", "codegen-units=1"}},
		// Numbers of 128 bits have a truth, which programs don't decide, and operations of two types have none.
		{"c/vars.rs", 88, []string{"-g", "-C", "opt-level=0", "-C", "codegen-units=1"}},
		{"c/vars.rs", 70, []string{"-g", "-C", "opt-level=2", "-C", "codegen-units=1"}},
		{"c/vars.go", 70, nil},
		{"c/vars.go", 90, []string{"-gcflags=-N -l"}},
	} {
		t.Run(c.source+" "+strings.Join(c.flags, " "), func(t *testing.T) {
			t.Parallel()
			tally := testConditions(t, c.source, c.flags)
			t.Log(tally)
			for why, n := range tally.why {
				if n > 20 {
					t.Logf("%6d %s", n, why)
				}
			}
			if tally.decided*100 < c.least*tally.all || tally.all < 300 {
				t.Errorf("%d of %d conditions are decided by programs, want %d%%", tally.decided, tally.all, c.least)
			}
		})
	}
}

func testConditions(t *testing.T, source string, flags []string) *conditionTally {
	exe := fixture.Build(t, source, flags...)
	s := New(Config{})
	events, cancel := s.Subscribe()
	defer cancel()
	defer s.Close()
	dev, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := s.Load(Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	seed := fnv.New64()
	fmt.Fprint(seed, source, flags)
	r := &conditionMaker{rand: rand.New(rand.NewPCG(seed.Sum64(), 1))}
	places := 0
	for line := range strings.Count(string(text), "\n") {
		if r.rand.IntN(4) > 0 {
			continue
		}
		if _, err := s.SetBreakpoint(BreakpointSpec{LocationSpec: LocationSpec{File: filepath.Base(source), Line: line + 1}}, false); err == nil {
			places++
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	tally := &conditionTally{why: map[string]int{}}
	seen := map[uint64]int{}
	stops, conditions := 20, 100
	if fixture.All() {
		stops, conditions = 100, 300
	}
	for tally.stops < stops {
		ev, ok := <-events
		if !ok {
			t.Fatal("the session ended")
		}
		if _, over := ev.(Ended); over {
			break
		}
		stop, ok := ev.(Stopped)
		if !ok {
			continue
		}
		if err := s.do(func() { compareConditions(t, s, &stop, conditions, r, seen, tally) }); err != nil {
			t.Fatal(err)
		}
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
	}
	if tally.stops < 5 {
		t.Errorf("%d stops at %d places", tally.stops, places)
	}
	return tally
}

// compareConditions compares at one stop. At a place that was seen before there is little new.
func compareConditions(t *testing.T, s *Session, stop *Stopped, conditions int, r *conditionMaker, seen map[uint64]int, tally *conditionTally) {
	f, err := s.frame(stop.Thread, 0)
	if err != nil || f.Function == nil {
		return
	}
	if seen[uint64(f.PC)]++; seen[uint64(f.PC)] > 2 {
		return
	}
	tally.stops++
	regs, err := s.tgt.Registers(stop.Thread)
	if err != nil {
		t.Fatal(err)
	}
	r.atoms = r.atoms[:0]
	for _, v := range s.variablesOf(&f) {
		if v.Name != "" && v.Type != nil {
			r.collect(v.Name, v.Type, 0)
		}
	}
	for _, name := range []string{"global_int", "global_points", "sink", "fsink", "main.sink"} {
		if gs := f.Module.Symbols.Global(name); len(gs) > 0 {
			r.collect(name, gs[0].Type, 0)
		}
	}
	r.atoms = append(r.atoms, "$rax", "$sp", "$ecx", "$dl")
	place := BreakpointPlace{Addr: f.PC, Module: f.Module}
	for range conditions {
		text := r.condition(2)
		env := s.env(stop.Thread, 0)
		var want bool
		v, wantErr := eval.Evaluate(text, env)
		if wantErr == nil {
			want, wantErr = eval.Truth(v, env)
		}
		if wantErr == nil {
			tally.all++
		} else {
			tally.refused++
		}
		at := fmt.Sprintf("%s: at %v in %s", text, f.PC, f.FunctionName)
		p, err := s.compileCondition(text, place)
		switch {
		case errors.Is(err, eval.ErrNotCompiled):
			if wantErr == nil {
				tally.why[err.Error()]++
			}
			continue
		case err != nil && wantErr == nil && strings.ContainsAny(text, "?&|"):
			continue // a side that the evaluator did not look at
		case err != nil:
			if wantErr == nil { // which of several errors is told first may differ
				t.Errorf("%s: compileCondition says %v; Evaluate gives %v, %v", at, err, want, wantErr)
			}
			continue
		}
		if wantErr == nil {
			tally.compiled++
		}
		got, err := p.Run(&regs, memoryFunc(s.readMemory))
		if err != nil {
			if wantErr == nil {
				tally.why["at run time"]++
			}
			continue
		}
		tally.decided++
		if wantErr != nil || got != want {
			t.Errorf("%s: the program gives %v; Evaluate gives %v, %v", at, got, want, wantErr)
		}
	}
}

// conditionMaker makes random conditions of atoms: variables and their parts.
type conditionMaker struct {
	rand  *rand.Rand
	atoms []string
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// collect adds what can be said of a variable: its members, elements, and what it points to.
func (m *conditionMaker) collect(text string, t *types.Type, depth int) {
	if t == nil || depth > 3 || len(m.atoms) > 400 {
		return
	}
	s := t.Strip()
	switch s.Kind {
	case types.Reference, types.RvalueReference:
		m.collect(text, s.Elem(), depth+1)
	case types.Pointer:
		m.atoms = append(m.atoms, text, text+" + 1", "("+text+" != 0)")
		e := s.Elem()
		if e == nil {
			return
		}
		if k := e.Strip().Kind; k == types.Struct || k == types.Union {
			m.members(text, "->", e.Strip(), depth+1)
		} else if k != types.Void && k != types.Func && k != types.Opaque {
			m.collect("(*"+text+")", e, depth+1)
			m.collect(text+"[1]", e, depth+1)
		}
	case types.Array:
		m.atoms = append(m.atoms, text)
		m.collect(text+"[0]", s.Elem(), depth+1)
		m.collect(text+"["+pick(m.rand, "1", "2", "global_int & 1", "$rax & 1")+"]", s.Elem(), depth+1)
	case types.Struct, types.Union:
		m.members(text, ".", s, depth)
		m.atoms = append(m.atoms, "&"+text, "sizeof("+text+")")
		if s.Lang == lang.Go && (s.Name == "string" || s.GoElem() != nil) || s.Lang == lang.Rust && strings.HasPrefix(s.Name, "&") {
			m.atoms = append(m.atoms, text+"[0]", text+"[$rax & 1]")
		}
	case types.Bool, types.Int, types.Uint, types.Char, types.Enum, types.Float:
		m.atoms = append(m.atoms, text)
		for i, e := range s.Enumerators() {
			if s.Lang == lang.C {
				m.atoms = append(m.atoms, e.Name)
			} else if i == 1 && s.Lang == lang.CPlusPlus {
				m.atoms = append(m.atoms, "("+text+" == "+e.Name+")")
			}
		}
	}
}

func (m *conditionMaker) members(text, op string, t *types.Type, depth int) {
	for _, f := range t.Fields() {
		switch {
		case strings.Contains(f.Name, ".") || f.Static && m.rand.IntN(4) > 0: // slow to look up
		case f.Name != "" && !f.Base:
			m.collect(text+op+f.Name, f.Type, depth+1)
		case f.Type != nil:
			m.members(text, op, f.Type.Strip(), depth+1)
		}
	}
}

// value makes an expression.
func (m *conditionMaker) value(depth int) string {
	if depth <= 0 || m.rand.IntN(5) == 0 {
		if m.rand.IntN(4) == 0 {
			return pick(m.rand, "0", "1", "-1", "2", "5", "3u", "0x7fffffff", "0x80000000", "1l", "'a'", "2.5", "0.5f", "true", "100000000000")
		}
		return pick(m.rand, m.atoms...)
	}
	switch m.rand.IntN(8) {
	case 0:
		return pick(m.rand, "-", "~", "!", "+", "*", "&") + "(" + m.value(depth-1) + ")"
	case 1:
		return "(" + pick(m.rand, "char", "unsigned char", "short", "int", "unsigned", "long", "unsigned long", "float", "double", "bool", "void *") + ")(" + m.value(depth-1) + ")"
	case 2:
		return "(" + m.condition(depth-1) + " ? " + m.value(depth-1) + " : " + m.value(depth-1) + ")"
	}
	return "(" + m.value(depth-1) + ") " + pick(m.rand, "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>") + " (" + m.value(depth-1) + ")"
}

// condition makes a comparison, or several.
func (m *conditionMaker) condition(depth int) string {
	switch n := m.rand.IntN(8); {
	case n == 0:
		return m.value(2)
	case n == 1 && depth > 0:
		return m.condition(depth-1) + pick(m.rand, " && ", " || ") + m.condition(depth-1)
	case n == 2 && depth > 0:
		return "!(" + m.condition(depth-1) + ")"
	}
	return m.value(m.rand.IntN(3)) + pick(m.rand, " == ", " != ", " < ", " > ", " <= ", " >= ") + m.value(m.rand.IntN(2))
}
