package unwindcheck

import (
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// Functions whose tables are wrong, on every machine that has them. Each was read beside its
// disassembly.
var knownWrong = map[string]string{
	// Once the registers of the frame to be resumed are loaded, the rows go on to describe the frame that is given up.
	"_Unwind_RaiseException":    "gcc's eh_return: the saved registers and the return address are written over before the epilogue",
	"_Unwind_Resume":            "the same",
	"_Unwind_Resume_or_Rethrow": "the same",
	"_Unwind_ForcedUnwind":      "the same",
	// No directive describes them.
	"swapcontext":   "glibc: R12 is used without being saved on the stack, and RSP changes to the other stack's",
	"__swapcontext": "the same",
	"clone3":        "glibc: the child's first two instructions are between two entries",
	"__clone3":      "the same",
	// Go's tables know of no other stack.
	"gogo":              "Go: the stack is another one from its MOVQ to its JMP",
	"runtime.clone":     "Go: the child's part has the parent's row, and the child has no caller",
	"runtime.nanotime1": "Go: the ANDQ that aligns the stack pointer",
	"runtime.walltime":  "Go: the same",
}

// TestFixtures checks programs that do what is difficult. All that is wrong has to be known, and
// enough has to be judged: a checker that judges nothing finds nothing either.
func TestFixtures(t *testing.T) {
	for _, c := range []struct {
		name   string
		source string
		flags  []string
		args   []string
		opts   Options
		share  float64 // of the instructions that are judged, at least
		rows   int     // at least
		exit   int
		quick  bool   // without asking what is exact, which takes its time
		most   uint64 // instructions without DBG_ALL, 0: all
	}{
		{name: "jumps", source: "jumps.c", flags: []string{"-O2", "-static"}, share: 0.99, rows: 700},
		{name: "threads", source: "threads.c", flags: []string{"-O2", "-static"}, share: 0.99, rows: 800},
		{name: "signals", source: "handled.c", flags: []string{"-O2", "-static"}, opts: Options{SignalEvery: 500, Signal: 10}, share: 0.99, rows: 700},
		{name: "signals on a stack of their own", source: "handled.c", flags: []string{"-O1", "-static", "-fno-omit-frame-pointer"}, args: []string{"x"},
			opts: Options{SignalEvery: 300, Signal: 10}, share: 0.99, rows: 700},
		{name: "children and exec", source: "execs.c", flags: []string{"-O2", "-static"}, share: 0.99, rows: 800, exit: 3},
		{name: "throws", source: "throws.cc", flags: []string{"-O2", "-static-libstdc++", "-static-libgcc"}, share: 0.99, rows: 1000, quick: !fixture.All(), most: 400_000},
		{name: "panics", source: "panics.rs", flags: []string{"-O", "-Ctarget-feature=+crt-static"}, share: 0.99, rows: 1000, quick: true, most: 300_000},
		{name: "routines", source: "routines.go", opts: Options{Max: 400_000}, share: 0.95, rows: 1200, quick: true, most: 240_000},
		{name: "routines, stripped", source: "routines.go", flags: []string{"-ldflags=-s -w"}, opts: Options{Max: 400_000}, share: 0.95, rows: 700, quick: true,
			most: 100_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("slow")
			}
			c.opts.Prove = !c.quick
			if c.most > 0 && !fixture.All() {
				c.opts.Max = c.most
			}
			r := check(t, c.opts, build(t, c.source, c.flags...), c.args...)
			if s := float64(r.Judged()) / float64(r.Instructions); s < c.share || r.Instructions < 20_000 {
				t.Errorf("%d of %d instructions were judged, want %.0f%%", r.Judged(), r.Instructions, 100*c.share)
			}
			if r.Share() < 0.9999 {
				t.Errorf("%d of %d callers are right", r.Correct, r.Judged())
			}
			if r.Rows < c.rows || r.Deeper < r.Instructions/1000 {
				t.Errorf("%d rows and %d callers of callers were seen, want more", r.Rows, r.Deeper)
			}
			if r.Signal != 0 && c.opts.Max == 0 || r.Exit != c.exit {
				t.Errorf("the program ended with status %d, signal %d", r.Exit, r.Signal)
			}
			if c.opts.SignalEvery > 0 && r.Signals < r.Instructions/c.opts.SignalEvery/2 {
				t.Errorf("%d signals in %d instructions", r.Signals, r.Instructions)
			}
			if c.opts.Prove && (r.ExactWrong > 0 || r.Exact < r.Judged()/10) {
				t.Errorf("%d callers were called exact and are wrong, %d are right", r.ExactWrong, r.Exact)
			}
			for _, w := range r.Ranges {
				if knownWrong[w.Function] == "" {
					t.Errorf("wrong: %s [%d times]", w.String(), w.Hits)
				}
			}
		})
	}
}

func build(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return fixture.Build(t, "check/"+source, flags...)
}

// TestWrongTable: what a table says wrongly is found, at its instructions and nowhere else, once. The walk does not believe it: the
// code overrules it, and the callers are right.
func TestWrongTable(t *testing.T) {
	prog := fixture.Build(t, "check/wrongcfi.s", "-nostdlib", "-static", "-Wl,--build-id=none,-Ttext=0x401000")
	r := check(t, Options{}, prog)
	var got []string
	for _, w := range r.Ranges {
		got = append(got, w.String())
	}
	want := []string{
		"wrongcfi+0x40101e <forgets+0x1>: .eh_frame FDE 0x44: CFA is rsp+8, should be rsp+16",
		"wrongcfi+0x401026 <clobbers+0x5>: .eh_frame FDE 0x58: rbx is not changed (0x0), should be 0x7",
	}
	if !slices.Equal(got, want) {
		t.Errorf("wrong ranges:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Wrong != 0 || r.WrongRows != 6 || r.Ranges[0].Hits != 4 || r.Ranges[0].Lo != 0x40101e || r.Ranges[0].Hi != 0x40101f {
		t.Errorf("%d wrong, %d wrong rows, ranges %+v", r.Wrong, r.WrongRows, r.Ranges)
	}
	if r := check(t, Options{Functions: "clob*"}, prog); len(r.Ranges) != 1 || r.Judged() != 5 {
		t.Errorf("clob*: %d judged, ranges %+v", r.Judged(), r.Ranges)
	}
	// The walk does not believe the row of forgets, since what it finds is no code. That makes it no less wrong.
	if r := check(t, Options{Source: "cfi"}, prog); len(r.Ranges) != 2 || r.Ranges[0].Hits != 4 || r.Wrong != 6 {
		t.Errorf("the table alone: %d wrong, ranges %+v", r.Wrong, r.Ranges)
	}
	if r := check(t, Options{Source: "fallback", Functions: "forgets"}, prog); len(r.Ranges) != 0 || r.Judged() != 8 {
		t.Errorf("without the table: %d judged, ranges %+v", r.Judged(), r.Ranges)
	}
}

// TestOwnConvention: what a function returns in a callee-saved register is right once it is there, and
// what was there before is said to be lost.
func TestOwnConvention(t *testing.T) {
	prog := fixture.Build(t, "check/ownconv.s", "-nostdlib", "-static", "-Wl,--build-id=none,-Ttext=0x401000")
	r := check(t, Options{}, prog)
	if len(r.Ranges) != 1 || r.Wrong != 0 || r.WrongRows != 2 || r.UnknownRegisters != 4 {
		t.Fatalf("%d wrong, %d wrong rows, %d registers unknown, ranges %+v", r.Wrong, r.WrongRows, r.UnknownRegisters, r.Ranges)
	}
	if r := check(t, Options{Source: "cfi"}, prog); r.Wrong != 2 || r.NotGivenBack != 2 || r.Proven != 2 {
		t.Errorf("the table alone: %d wrong, %d of them lost, %d proven, ranges %+v", r.Wrong, r.NotGivenBack, r.Proven, r.Ranges)
	}
	const want = "ownconv+0x401018 <gives+0x5>: .eh_frame FDE 0x44: rbx is not changed (0x2), should be 0x1, which the function does not restore"
	if got := r.Ranges[0].String(); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

// TestHeuristicsAreFoundOut: where the tables may not be used the same program is unwound wrongly, and
// that is seen. A checker that judges nothing would not.
func TestHeuristicsAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	prog := fixture.Build(t, "check/handled.c", "-O2", "-static")
	r := check(t, Options{Source: "scan", Max: 60_000}, prog)
	if r.Wrong < r.Instructions/50 || len(r.Ranges) < 15 || r.Judged() < r.Instructions/2 {
		t.Errorf("by a search of the stack: %d of %d judged wrong, in %d ranges", r.Wrong, r.Judged(), len(r.Ranges))
	}
	for _, s := range r.Strategies {
		if s.Name != "scan" && s.Name != "end" {
			t.Errorf("%s was used", s.Name)
		}
	}
	r = check(t, Options{Source: "eh_frame", Max: 60_000}, prog)
	if r.Wrong != 0 || r.Judged() < r.Instructions*99/100 {
		t.Errorf("by .eh_frame: %d of %d wrong, of %d instructions", r.Wrong, r.Judged(), r.Instructions)
	}
}

// TestRefusedRows: a row that the unwinder does not believe is wrong all the same, whatever else finds the caller.
func TestRefusedRows(t *testing.T) {
	prog := fixture.Build(t, "check/refused.s", "-nostdlib", "-static", "-Wl,--build-id=none,-Ttext=0x401000")
	for _, source := range []Source{"", "cfi", "eh_frame"} {
		r := check(t, Options{Source: source}, prog)
		var got []string
		for _, w := range r.Ranges {
			got = append(got, w.String())
		}
		want := []string{
			"refused+0x40101d <unmapped+0x5>: .eh_frame FDE 0x44: CFA is rax+8, should be rsp+8",
			"refused+0x401021 <zero+0x2>: .eh_frame FDE 0x5c: CFA is rsp+8, should be rsp+16",
			"refused+0x401024 <zero+0x5>: .eh_frame FDE 0x5c: CFA is rsp+8, should be rsp+16",
			"refused+0x401028 <still+0x1>: .eh_frame FDE 0x70: CFA is rsp+0, should be rsp+8",
		}
		if !slices.Equal(got, want) {
			t.Errorf("source %q: wrong ranges:\n%s\nwant:\n%s", source, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if r := check(t, Options{Source: "fallback"}, prog); !r.Clean() {
		t.Errorf("without tables: %+v", r.Ranges)
	}
}
