package session_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// The tests of this file hold every variable of every frame against gdb's, at random stops
// in programs of four languages and six compilers. gdb brings the program there and leaves a
// core; dbg reads the core.

var (
	variablesSeed  = flag.Int64("variables.seed", 0, "seed of TestVariablesAgainstGDB; 0 is always the same one, with DBG_ALL a new one each time")
	variablesStops = flag.Int("variables.stops", 0, "stops for each program; 0 is a share of the whole")
	variablesTell  = flag.Bool("variables.tell", false, "print each difference, the explained ones too")
	variablesKeep  = flag.String("variables.keep", "", "a directory for the cores of stops that are different")
)

// variablesPrograms are the programs: source, compiler and flags.
func variablesPrograms() (all []variablesProgram) {
	for _, cc := range []string{"gcc", "clang-19"} {
		for _, o := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"} {
			all = append(all, variablesProgram{"c/vars.c", "main", []string{"cc=" + cc, "-g", o, "-w"}})
		}
		all = append(all, variablesProgram{"c/vars.c", "main", []string{"cc=" + cc, "-gdwarf-4", "-O2", "-w"}})
	}
	for _, cc := range []string{"g++", "clang++-19"} {
		for _, o := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"} {
			all = append(all, variablesProgram{"c/vars.cc", "main", []string{"cc=" + cc, "-g", o, "-w"}})
		}
	}
	for _, o := range []string{"0", "1", "2", "3", "s"} {
		all = append(all, variablesProgram{"c/vars.rs", "vars::main", []string{"-g", "-C", "opt-level=" + o, "-C", "codegen-units=1"}})
	}
	all = append(all, variablesProgram{"c/vars.go", "main.main", nil}, variablesProgram{"c/vars.go", "main.main", []string{"-gcflags=-N -l"}})
	return all
}

type variablesProgram struct {
	source, start string
	flags         []string
}

// tally counts what came of the comparisons.
type tally struct {
	stops, frames, other                                int // other: frames that are not the same in both
	values, equal, explained, missing, extra, different int
	lines, linesDiffer                                  int

	why map[string]int // what explains how many
}

// explain counts a difference that is meant.
func (a *tally) explain(why string) {
	a.explained++
	if a.why == nil {
		a.why = map[string]int{}
	}
	a.why[why]++
}

func (a *tally) add(b tally) {
	a.stops += b.stops
	a.frames += b.frames
	a.other += b.other
	a.values += b.values
	a.equal += b.equal
	a.explained += b.explained
	a.missing += b.missing
	a.extra += b.extra
	a.different += b.different
	a.lines += b.lines
	a.linesDiffer += b.linesDiffer
	for why, n := range b.why {
		if a.why == nil {
			a.why = map[string]int{}
		}
		a.why[why] += n
	}
}

// inLine counts a difference in a frame's line that is meant.
func (a *tally) inLine(why string) {
	if a.why == nil {
		a.why = map[string]int{}
	}
	a.why["in a line: "+why]++
}

// wrong counts what nothing explains.
func (a *tally) wrong() int { return a.missing + a.extra + a.different + a.linesDiffer }

func (a tally) String() string {
	return fmt.Sprintf("%d stops, %d frames (%d not the same), %d values: %d equal, %d explained, %d only gdb's, %d only dbg's, %d different; %d lines of arguments, %d differ",
		a.stops, a.frames, a.other, a.values, a.equal, a.explained, a.missing, a.extra, a.different, a.lines, a.linesDiffer)
}

func TestVariablesAgainstGDB(t *testing.T) {
	fixture.Need(t, "gdb")
	seed := *variablesSeed
	if seed == 0 {
		if seed = 1; os.Getenv("DBG_ALL") != "" {
			seed = rand.Int64N(1 << 31)
		}
	}
	t.Logf("go test ./session -run TestVariablesAgainstGDB -variables.seed=%d", seed)
	programs := variablesPrograms()
	stops := 2
	if os.Getenv("DBG_ALL") != "" {
		stops = 1000/len(programs) + 1
	}
	if *variablesStops > 0 {
		stops = *variablesStops
	}
	results := make([]tally, len(programs))
	t.Run("programs", func(t *testing.T) {
		for i, p := range programs {
			t.Run(p.source+" "+strings.Join(p.flags, " "), func(t *testing.T) {
				t.Parallel()
				results[i] = compareVariables(t, p, seed+int64(i), stops)
			})
		}
	})
	var sum tally
	for _, r := range results {
		sum.add(r)
	}
	t.Log(sum)
	for _, why := range slices.Sorted(maps.Keys(sum.why)) {
		t.Logf("%5d %s", sum.why[why], why)
	}
}

func compareVariables(t *testing.T, p variablesProgram, seed int64, stops int) (sum tally) {
	exe := fixture.Build(t, p.source, p.flags...)
	t.Log(exe)
	dir := t.TempDir()
	if *variablesKeep != "" {
		dir = filepath.Join(*variablesKeep, filepath.Base(filepath.Dir(exe)))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range gdbpeer.RandomStops(t, exe, p.start, dir, seed, stops, 8) {
		core := filepath.Join(dir, fmt.Sprintf("core.%d", i))
		s, _ := newSession(t)
		if err := s.OpenCore(core, exe); err != nil {
			t.Fatal(err)
		}
		sum.stops++
		before := sum.wrong()
		compareStop(t, s, want, len(p.flags) > 0 && (p.flags[0] == "cc=gcc" || p.flags[0] == "cc=g++"), &sum)
		s.Close()
		if *variablesKeep != "" && sum.wrong() > before {
			t.Logf("gdb %s %s", exe, core)
			continue
		}
		os.Remove(core)
	}
	return sum
}

// compareStop compares the frames of the selected thread.
func compareStop(t *testing.T, s *session.Session, want []gdbpeer.Variables, gcc bool, sum *tally) {
	thread, _ := s.Selected()
	bt, err := s.Backtrace(thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, w := range want {
		// At the first instruction of an inlined call gdb is still in the caller.
		for i < len(bt.Frames) && bt.Frames[i].TailCall && uint64(bt.Frames[i].PC) != w.PC {
			i++ // dbg knows of more
			sum.other++
		}
		if w.TailCall && (i >= len(bt.Frames) || !bt.Frames[i].TailCall) {
			sum.other++ // or gdb does
			continue
		}
		for i+1 < len(bt.Frames) && bt.Frames[i].Inlined && uint64(bt.Frames[i].PC) == w.PC && !sameFunction(bt.Frames[i].FunctionName, w.Func) {
			i++
			sum.other++
		}
		if i >= len(bt.Frames) || uint64(bt.Frames[i].PC) != w.PC {
			sum.other++
			break // what is further out is not the same
		}
		if i+1 < len(want) && !sameFunction(bt.Frames[i].FunctionName, w.Func) && i > 0 && uint64(bt.Frames[i-1].PC) == w.PC && sameFunction(bt.Frames[i-1].FunctionName, w.Func) {
			sum.other++ // after a step gdb shows an inlined call twice
			continue
		}
		if i > 0 && strings.HasPrefix(bt.Frames[i-1].FunctionName, "runtime.morestack") {
			// It has gone to another stack, of which unwind tables say nothing: what follows is none of its callers.
			sum.other++
			break
		}
		sum.frames++
		where := fmt.Sprintf("pc %#x, frame %d, %s", w.PC, i, w.Func)
		if fn := bt.Frames[i].Function; fn == nil || fn.FromSymbolTable {
			// Debug information knows no such function: a thunk. gdb lists the variables of the file as its locals.
			for range len(w.Args) + len(w.Locals) {
				sum.explain("gdb lists the file's variables as a thunk's")
			}
			sum.values += len(w.Args) + len(w.Locals)
			i++
			continue
		}
		context := newPlace(t, s, bt.Frames, i)
		context.function, context.gcc = w.Func, gcc
		for kind, list := range map[session.ScopeKind][]gdbpeer.Variable{session.ScopeArguments: w.Args, session.ScopeLocals: w.Locals} {
			compareLists(t, s, context, kind, list, where, sum)
		}
		compareLine(t, s, context, w.Line, where, sum)
		i++
	}
}

// sameFunction compares names, of which one may have parameters, or the arguments of templates written in another way.
func sameFunction(a, b string) bool { return bareName(a) == bareName(b) }

// bareName is a name without what is between brackets: lambdas::$_0::operator() of lambdas(int)::$_0::operator()(int) const.
func bareName(name string) string {
	name = strings.NewReplacer("operator()", "operator call", "operator<<", "operator shl", "operator<=", "operator le", "operator<", "operator lt",
		"operator->", "operator arrow", "operator>>", "operator shr", "operator>=", "operator ge", "operator>", "operator gt").Replace(name)
	var out strings.Builder
	level := 0
	for _, c := range name {
		switch c {
		case '(', '<':
			level++
		case ')', '>':
			level--
		default:
			if level == 0 {
				out.WriteRune(c)
			}
		}
	}
	return strings.TrimSuffix(out.String(), " const")
}
