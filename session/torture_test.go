package session_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestTorture is the torture list of the design, as far as it takes a process, a core or a file: each case is
// named after its line. What a made-up world can show is in frames.
func TestTorture(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"PLT while lazily binding":                                       torturePLT,
		"DW_CFA_register for the RA (glibc __longjmp)":                   tortureLongjmp,
		"CFA expressions with indexed registers (libcrypto bn_mul_mont)": tortureBignum,
		"realigned stacks with alloca":                                   tortureRealigned,
		"cold splits, basic-block sections":                              tortureSections,
		"swapcontext":                                                    tortureCoroutine,
		"split stacks":                                                   tortureSplitStacks,
		"a stack page missing from a core":                               tortureMissingPage,
		"the vDSO read from memory":                                      tortureVDSO,
		"_start and clone as ends":                                       tortureEnds,
		"a million frames":                                               tortureMillion,
		"load bias where address and offset differ":                      tortureBias,
		"a mapped file that was replaced (build ids differ)":             tortureReplaced,
		"jump to data":                                                   tortureData,
		"a thread stopped in a system call":                              tortureSyscall,
		"a noreturn call as the last instruction of a module":            tortureLastOfModule,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
	// What one program does that dies, against gdb.
	for name, how := range map[string]string{
		"a signal at a function's first instruction":             "first",
		"call through NULL":                                      "null",
		"jump to garbage":                                        "garbage",
		"a noreturn call as the last instruction of a function":  "noreturn",
		"sigaltstack (SP goes down), __restore_rt (CFA = deref)": "altstack",
		"a handler interrupted by a handler":                     "nested",
		"recursion":                                              "deep",
		"after longjmp":                                          "jump",
	} {
		for _, b := range []build{builds[0], builds[1], {name: "O2-static", flags: []string{"-g", "-O2", "-static"}}, {name: "clang", flags: []string{"cc=clang-19", "-g", "-O0"}}} {
			t.Run(name+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				fixture.Need(t, "gdb")
				exe := b.make(t, "torture/odd.c")
				core := fixture.Core(t, exe, how)
				compareCore(t, core, exe)
				s := openCore(t, core, "")
				checkEnd(t, s, 0)
			})
		}
	}
}

func openCore(t *testing.T, core, exe string) *session.Session {
	t.Helper()
	s, _ := newSession(t)
	if err := s.OpenCore(core, exe); err != nil {
		t.Fatal(err)
	}
	return s
}

// walkOf is the backtrace of a thread (0: the selected one) and its verdict.
func walkOf(t *testing.T, s *session.Session, id target.ThreadID) session.Backtrace {
	t.Helper()
	if id == 0 {
		id, _ = s.Selected()
	}
	bt, err := s.Backtrace(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return bt
}

// checkEnd expects that the walk comes to the thread's first function, by tables alone, save for the
// first caller of code that is none.
func checkEnd(t *testing.T, s *session.Session, id target.ThreadID) session.Backtrace {
	t.Helper()
	bt := walkOf(t, s, id)
	last := bt.Frames[len(bt.Frames)-1]
	if !bt.End.Outermost || last.FunctionName != "_start" && !strings.Contains(last.FunctionName, "clone") {
		t.Errorf("the walk ends at %s: %+v", last.FunctionName, *bt.End)
	}
	for _, f := range bt.Frames {
		if f.Machine.Strategy > frames.Prologue {
			t.Errorf("frame %d, %s, was found by %s: %v", f.Level, f.FunctionName, f.Strategy, f.Attempts)
		}
	}
	return bt
}

// names are the functions of a backtrace, innermost first.
func names(bt session.Backtrace) string {
	var out []string
	for _, f := range bt.Frames {
		out = append(out, orUnknown(f.FunctionName))
	}
	return strings.Join(out, " ")
}

// run starts a program that will stop where a breakpoint is set, or die.
func run(t *testing.T, exe string, args []string, at ...string) (*session.Session, <-chan session.Event, session.Stopped) {
	t.Helper()
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Args: args, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	for _, f := range at {
		if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: f}}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return s, events, until[session.Stopped](t, events)
}

// stepi makes one step of one instruction.
func stepi(t *testing.T, s *session.Session, events <-chan session.Event) session.Stopped {
	t.Helper()
	if err := s.Step(session.StepInstruction, 1); err != nil {
		t.Fatal(err)
	}
	return until[session.Stopped](t, events)
}

// A call of data: nothing of it has run, so that the caller is on top of the stack.
func tortureData(t *testing.T) {
	for _, b := range builds[:4] {
		bt := checkEnd(t, openCore(t, fixture.Core(t, b.make(t, "torture/odd.c"), "data"), ""), 0)
		if all := names(bt); !strings.Contains(all, "call main") || bt.Frames[1].FunctionName != "call" || bt.Frames[1].Strategy != "prologue" {
			t.Errorf("%s: %s", b.name, all)
		}
	}
}

// Each instruction from the stub through the dynamic linker to the library's function.
func torturePLT(t *testing.T) {
	for _, flags := range [][]string{{"-Wl,-z,lazy"}, {"-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"}} {
		exe := fixture.Build(t, "c/plt.c", append([]string{"-g", "-O1"}, flags...)...)
		s, events, stop := run(t, exe, nil, "caller")
		inStub, steps, byTable := 0, 0, 0
		for ; steps < 20_000; steps++ {
			bt := walkOf(t, s, stop.Thread)
			if all := names(bt); !strings.Contains(all, "caller main") || !bt.End.Outermost {
				t.Fatalf("after %d instructions: %s, %+v", steps, all, bt.End)
			}
			if strings.Contains(bt.Frames[0].FunctionName, "@plt") {
				inStub++
				if bt.Frames[1].Strategy == "cfi" {
					byTable++
				}
			}
			if n := bt.Frames[0].FunctionName; n == "puts" || n == "_IO_puts" || n == "__GI__IO_puts" {
				break
			}
			stop = stepi(t, s, events)
		}
		if inStub < 2 || steps < 200 || byTable == 0 {
			t.Errorf("%v: %d instructions, %d in the stub, %d of them by the table", flags, steps, inStub, byTable)
		}
	}
}

// Up to its last jump glibc's __longjmp says where it will go: the walk is in its caller or in setjmp's.
func tortureLongjmp(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O1"}, {"-g", "-O1", "-static"}} {
		exe := fixture.Build(t, "torture/odd.c", flags...)
		s, events, stop := run(t, exe, []string{"jump"}, "jumper")
		seen := map[string]int{}
		for range 5000 {
			bt := walkOf(t, s, stop.Thread)
			f := bt.Frames[0]
			if f.FunctionName == "main" {
				break
			}
			all := names(bt)
			switch {
			case !bt.End.Outermost || !strings.HasSuffix(all, "_start") || !strings.Contains(all, "main"):
				t.Fatalf("in %s: %s, %+v", f.FunctionName, all, bt.End)
			case !strings.Contains(f.FunctionName, "__longjmp"):
			case bt.Frames[1].FunctionName == "main":
				seen["where it goes"]++
				if p, _ := bt.Frames[1].Machine.Where(arch.RIP); p != frames.Nowhere {
					t.Errorf("the PC that is in a register is said to be in %v", p)
				}
			default:
				seen["where it came from"]++
			}
			stop = stepi(t, s, events)
		}
		if seen["where it goes"] == 0 {
			t.Errorf("%v: %v", flags, seen)
		}
	}
}

// tortureBignum stops in every function of libcrypto whose CFA is computed from what a register points to, as far as the
// program comes through one.
func tortureBignum(t *testing.T) {
	const lib = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"
	if _, err := os.Stat(lib); err != nil {
		fixture.Missing(t, err)
	}
	reached := map[string]bool{}
	for _, args := range [][]string{nil, {"short"}} {
		exe := fixture.Build(t, "torture/bignum.c", "-g", "-O1", lib)
		s, events, _ := run(t, exe, args, "exponentiate")
		modules, err := s.Modules()
		if err != nil {
			t.Fatal(err)
		}
		var places []target.Addr
		for _, m := range modules {
			if m.Symbols == nil || !strings.Contains(m.Path, "libcrypto") {
				continue
			}
			_, table := frames.ModuleOf(m.Symbols.File(), nil).Tables(arch.AMD64)
			for fde, err := range table.FDEs() {
				if err != nil {
					continue
				}
				n := 0
				for r, err := range table.Rows(fde) {
					if err != nil {
						break
					}
					if r.CFAString(arch.AMD64) == "exp" && r.Hi-r.Lo > 16 && fde.Hi-fde.Lo > 200 && n < 2 {
						places = append(places, target.Addr(r.Lo+m.Bias), target.Addr(r.Hi+m.Bias))
						n++
					}
				}
			}
		}
		if len(places) < 10 {
			fixture.Missing(t, fmt.Sprintf("this libcrypto has only %d such places", len(places)))
		}
		for _, a := range places {
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: a, HasAddr: true}, Temporary: true}, false); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			if err := s.Continue(0); err != nil {
				t.Fatal(err)
			}
			stop, ok := next(t, events).(session.Stopped)
			if !ok {
				break
			}
			for range 40 {
				bt := walkOf(t, s, stop.Thread)
				if all := names(bt); !bt.End.Outermost || !strings.Contains(all, "BN_mod_exp") || !strings.Contains(all, "exponentiate main") {
					t.Fatalf("at %x: %s, %+v", uint64(bt.Frames[0].PC), all, bt.End)
				}
				for _, f := range bt.Frames[1:] {
					if f.Strategy != "cfi" {
						t.Errorf("at %x: frame %d by %s", uint64(bt.Frames[0].PC), f.Level, f.Strategy)
					}
				}
				if w, err := s.Why(stop.Thread, 1); err == nil && len(w.Evidence.Tries) > 0 {
					if try := w.Evidence.Tries[0]; try.HasRow && try.Origin.Row.CFAString(arch.AMD64) == "exp" {
						reached[fmt.Sprintf("%x", try.Origin.Row.Source)] = true
					}
				}
				if stop, ok = nextStep(t, s, events); !ok {
					break
				}
			}
		}
	}
	t.Logf("in %d functions with such rows", len(reached))
	if len(reached) == 0 {
		t.Error("the program came through no function with such a row")
	}
}

func nextStep(t *testing.T, s *session.Session, events <-chan session.Event) (session.Stopped, bool) {
	if err := s.Step(session.StepInstruction, 1); err != nil {
		t.Fatal(err)
	}
	stop, ok := next(t, events).(session.Stopped)
	return stop, ok
}

func tortureRealigned(t *testing.T) {
	for _, b := range []build{{flags: []string{"-g", "-O0"}}, {flags: []string{"-g", "-O2", "-fomit-frame-pointer"}}, {flags: []string{"cc=clang-19", "-g", "-O2"}},
		{flags: []string{"-g", "-O2", "-mavx2", "-mstackrealign"}}} {
		fixture.Need(t, "gdb")
		exe := b.make(t, "torture/chain.c")
		core := fixture.Core(t, exe)
		compareCore(t, core, exe)
		bt := checkEnd(t, openCore(t, core, ""), 0)
		if all := names(bt); !strings.Contains(all, "aligned many wide") {
			t.Errorf("%v: %s", b.flags, all)
		}
	}
}

func tortureSections(t *testing.T) {
	fixture.Need(t, "gdb")
	for _, flags := range [][]string{
		{"-g", "-O2", "-freorder-blocks-and-partition", "-fno-inline"},
		{"cc=clang-19", "-g", "-O2", "-fbasic-block-sections=all"},
		{"cc=clang-19", "-g", "-O2", "-fbasic-block-sections=all", "-ffunction-sections", "-fno-omit-frame-pointer"},
	} {
		for _, source := range []string{"torture/chain.c", "torture/odd.c"} {
			exe := fixture.Build(t, source, flags...)
			core := fixture.Core(t, exe, "noreturn")
			checkEnd(t, openCore(t, core, ""), 0)
			if flags[0] == "-g" {
				compareCore(t, core, exe)
			}
		}
	}
}

func tortureCoroutine(t *testing.T) {
	for _, b := range []build{builds[0], builds[1], {flags: []string{"-g", "-O1", "-static"}}} {
		exe := b.make(t, "torture/odd.c")
		// In the coroutine, each instruction of a switch and back.
		s, events, stop := run(t, exe, []string{"coroutine"}, "coroutine_work")
		switched, before, astray := 0, uint64(0), false
		for range 3000 {
			bt := walkOf(t, s, stop.Thread)
			all := names(bt)
			// From where swapcontext loads the stack pointer to where it pushes the return address, six instructions on,
			// glibc's table is wrong, and nothing could be right: what is there is what has been on that stack.
			sp, _ := bt.Frames[0].Machine.Regs.SP()
			astray = strings.Contains(bt.Frames[0].FunctionName, "swapcontext") && (astray || before != 0 && sp-before+4096 > 8192)
			if before != 0 && before-sp == 8 {
				astray = false
			}
			before = sp
			if astray {
				stop = stepi(t, s, events)
				continue
			}
			if strings.HasPrefix(all, "stop") {
				break
			}
			switch {
			case strings.Contains(all, "coroutine_work coroutine"):
				// makecontext made the frame by hand: glibc's __start_context has no table on purpose. Nothing
				// comes behind it, least of all main, which is on another stack.
				if after := all[strings.LastIndex(all, "coroutine"):]; len(strings.Fields(after)) > 2 || bt.Frames[len(bt.Frames)-1].Strategy != "cfi" {
					for _, f := range bt.Frames {
						t.Logf("%x %s %s %s %v", uint64(f.PC), f.FunctionName, f.Strategy, f.Trust, f.Attempts)
					}
					t.Fatalf("%s, %+v", all, bt.End)
				}
			case strings.Contains(all, "main") && bt.End.Outermost && strings.HasSuffix(all, "_start"):
				switched++
			default:
				t.Fatalf("%x (%s+%d): %s, %+v", uint64(bt.Frames[0].PC), bt.Frames[0].FunctionName, bt.Frames[0].Offset, all, bt.End)
			}
			var ok bool
			if stop, ok = nextStep(t, s, events); !ok {
				break
			}
		}
		if switched == 0 {
			t.Error("main was never come to")
		}
	}
}

func tortureSplitStacks(t *testing.T) {
	exe := fixture.Build(t, "torture/odd.c", "-g", "-O1", "-fsplit-stack")
	bt := checkEnd(t, openCore(t, fixture.Core(t, exe, "deep", "40000"), ""), 0)
	n := 0
	down := 0
	for i, f := range bt.Frames {
		if f.FunctionName == "deep" {
			n++
		}
		if i > 0 {
			a, _ := bt.Frames[i-1].Machine.Regs.SP()
			b, _ := f.Machine.Regs.SP()
			if b < a {
				down++
			}
		}
	}
	if n != 40_001 || !strings.HasSuffix(names(bt), "_start") {
		t.Errorf("%d frames of the recursion", n)
	}
	t.Logf("%d frames, of which %d are below the frame that they called", len(bt.Frames), down)
}

// tortureMissingPage takes a page out of the core's stack: the walk says so and makes nothing up.
func tortureMissingPage(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O0"}, {"-g", "-O2", "-fomit-frame-pointer"}, {"-O2", "-static", "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer"}} {
		exe := fixture.Build(t, "torture/odd.c", flags...)
		core := fixture.Core(t, exe, "deep", "2000")
		want := walkOf(t, openCore(t, core, ""), 0)
		sp, _ := want.Frames[1000].Machine.Regs.SP()
		lo := sp &^ 4095
		cut := cutCore(t, core, lo, lo+4096)
		s := openCore(t, cut, "")
		got := walkOf(t, s, 0)
		if len(got.Frames) >= 1001 || len(got.Frames) < 500 {
			t.Errorf("%v: %d frames", flags, len(got.Frames))
		}
		for i, f := range got.Frames {
			if f.PC != want.Frames[i].PC || f.Machine.CFA != want.Frames[i].Machine.CFA && i+1 < len(got.Frames) {
				t.Errorf("%v: frame %d is invented: %x by %s", flags, i, uint64(f.PC), f.Strategy)
				break
			}
		}
		var at uint64
		if _, err := fmt.Sscanf(got.End.Reason, "memory unreadable at 0x%x", &at); err != nil || at < lo || at >= lo+4096 || got.End.Outermost {
			t.Errorf("%v: %+v, the page at 0x%x is missing", flags, *got.End, lo)
		}
	}
}

// cutCore copies a core without a range of memory: its segment becomes two.
func cutCore(t *testing.T, path string, lo, hi uint64) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	phoff, n := le.Uint64(data[32:]), int(le.Uint16(data[56:]))
	// The headers move to the end of the file, with one more.
	table := append([]byte(nil), data[phoff:phoff+uint64(56*n)]...)
	for i := range n {
		h := table[56*i : 56*i+56]
		off, addr, size := le.Uint64(h[8:]), le.Uint64(h[16:]), le.Uint64(h[32:])
		if elf.ProgType(le.Uint32(h)) != elf.PT_LOAD || addr > lo || hi > addr+size {
			continue
		}
		second := append([]byte(nil), h...)
		le.PutUint64(second[8:], off+hi-addr)
		le.PutUint64(second[16:], hi)
		le.PutUint64(second[32:], addr+size-hi)
		le.PutUint64(second[40:], addr+size-hi)
		le.PutUint64(h[32:], lo-addr)
		le.PutUint64(h[40:], lo-addr)
		table = append(table, second...)
		le.PutUint64(data[32:], uint64(len(data)))
		le.PutUint16(data[56:], uint16(n+1))
		out := filepath.Join(t.TempDir(), "core")
		if err := os.WriteFile(out, append(data, table...), 0o644); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("no segment has 0x%x", lo)
	return ""
}

func tortureVDSO(t *testing.T) {
	exe := fixture.Build(t, "torture/odd.c", "-g", "-O1")
	s, events, _ := run(t, exe, []string{"time"}, "main")
	modules, err := s.Modules()
	if err != nil {
		t.Fatal(err)
	}
	var at target.Addr
	found := false
	for _, m := range modules {
		if m.Path == "[vdso]" && m.Symbols != nil {
			found = true
			for _, sym := range m.Symbols.File().Symbols() {
				if sym.Name == "__vdso_clock_gettime" {
					at = target.Addr(uint64(sym.Addr) + m.Bias)
				}
			}
		}
	}
	if !found {
		t.Fatal("no vDSO among the modules")
	}
	if at == 0 {
		fixture.Missing(t, "the vDSO has no clock_gettime")
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: at, HasAddr: true}}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	stop := until[session.Stopped](t, events)
	in := 0
	for range 60 {
		bt := checkEnd(t, s, stop.Thread)
		if m := bt.Frames[0].Module; m == nil || m.Path != "[vdso]" {
			break
		}
		in++
		if all := names(bt); !strings.Contains(all, "main") {
			t.Fatalf("%x: %s", uint64(bt.Frames[0].PC), all)
		}
		for _, f := range bt.Frames[1:] {
			if f.Strategy != "cfi" {
				t.Errorf("%x: frame %d by %s", uint64(bt.Frames[0].PC), f.Level, f.Strategy)
			}
		}
		stop = stepi(t, s, events)
	}
	if in < 5 {
		t.Errorf("only %d instructions in the vDSO", in)
	}
}

func tortureEnds(t *testing.T) {
	for _, b := range []build{builds[0], builds[5], {flags: []string{"-O1", "-static"}}} {
		exe := b.make(t, "c/threads8.c")
		s := openCore(t, fixture.Core(t, exe), "")
		threads, err := s.Threads()
		if err != nil || len(threads) != 9 {
			t.Fatalf("%d threads, %v", len(threads), err)
		}
		ends := map[string]int{}
		for _, th := range threads {
			bt := walkOf(t, s, th.ID)
			last := bt.Frames[len(bt.Frames)-1]
			if !bt.End.Outermost {
				t.Errorf("thread %d ends at %s: %+v", th.ID, last.FunctionName, *bt.End)
			}
			ends[bt.End.Reason]++
		}
		if ends["undefined return address"]+ends["entry point"] != 9 {
			t.Errorf("ends %v", ends)
		}
	}
	// The very first instruction of a program, in the dynamic linker and in a static one.
	for _, flags := range [][]string{{"-g"}, {"-g", "-static"}} {
		s, _ := newSession(t)
		dev := null(t)
		if err := s.Load(session.Program{Path: fixture.Build(t, "torture/odd.c", flags...), Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		if bt := walkOf(t, s, 0); len(bt.Frames) != 1 || !bt.End.Outermost {
			t.Errorf("%v: at the first instruction: %s, %+v", flags, names(bt), *bt.End)
		}
	}
}

func tortureMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	exe := fixture.Build(t, "torture/odd.c", "-g", "-O1", "-fno-optimize-sibling-calls")
	s, _, stop := run(t, exe, []string{"deepthread", "1000000"}, "stop")
	n, deep := 0, 0
	end, err := s.EachFrame(stop.Thread, 0, func(f *session.Frame) bool {
		if n++; f.FunctionName == "deep" {
			deep++
		}
		return true
	})
	if err != nil || deep != 1_000_001 || end == nil || !end.Outermost {
		t.Errorf("%d frames, %d of the recursion, %+v, %v", n, deep, end, err)
	}
}

// The segments of these programs lie elsewhere in memory than in the file, relative to each other.
func tortureBias(t *testing.T) {
	fixture.Need(t, "gdb")
	for _, flags := range [][]string{
		{"-Wl,--section-start=.text=0x40000"},
		{"-no-pie", "-Wl,-Ttext-segment=0x20000000"},
		{"-no-pie", "-Wl,--section-start=.text=0x1234000"},
		{"-Wl,-Ttext-segment=0x100000"}, // a PIE that is not at 0
		{"-Wl,-z,noseparate-code"},
		{"-Wl,-z,max-page-size=0x200000"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			exe := fixture.Build(t, "torture/chain.c", append([]string{"-g", "-O1"}, flags...)...)
			core := fixture.Core(t, exe)
			compareCore(t, core, exe)
			checkEnd(t, openCore(t, core, ""), 0)
			s, _, stop := run(t, exe, nil, "bottom")
			checkEnd(t, s, stop.Thread)
		})
	}
}

// A program whose file was replaced by another one while it ran, or after it died, is not unwound by the new one's tables.
func tortureReplaced(t *testing.T) {
	old := fixture.Build(t, "torture/chain.c", "-g", "-O2", "-fomit-frame-pointer", "-Wl,--build-id")
	other := fixture.Build(t, "torture/chain.c", "-g", "-O0", "-Wl,--build-id")
	copyTo := func(from, to string) {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(to)
		if err := os.WriteFile(to, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(t.TempDir(), "program")
	copyTo(old, exe)
	core := fixture.Core(t, exe)
	want := walkOf(t, openCore(t, core, ""), 0)
	copyTo(other, exe)
	s := openCore(t, core, "")
	if len(s.Warnings()) == 0 {
		t.Error("no warning")
	}
	got := walkOf(t, s, 0)
	if len(got.Frames) == 0 || got.Frames[0].PC != want.Frames[0].PC {
		t.Fatalf("%d frames", len(got.Frames))
	}
	for _, f := range got.Frames {
		if f.Module != nil && strings.HasSuffix(f.Module.Path, "program") && (f.FunctionName != "" || f.Module.Symbols != nil) {
			t.Errorf("frame %d is named %q by the wrong file", f.Level, f.FunctionName)
		}
		if right := f.Level < len(want.Frames) && f.PC == want.Frames[f.Level].PC; !right && f.Machine.Trust <= frames.Table {
			t.Errorf("frame %d, %x, is called %s", f.Level, uint64(f.PC), f.Trust)
		}
	}
	// While it runs: the kernel still has the old file.
	copyTo(old, exe)
	live, _, stop := run(t, exe, nil, "bottom")
	copyTo(other, exe)
	info, _ := live.Target()
	_ = info
	first := names(walkOf(t, live, stop.Thread))
	if err := live.Step(session.StepInstruction, 1); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first, "bottom recurse") || !strings.HasSuffix(first, "_start") {
		t.Errorf("live: %s", first)
	}
}

func tortureSyscall(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O1"}, {"-g", "-O1", "-static"}} {
		exe := fixture.Build(t, "torture/odd.c", flags...)
		cmd, _, _ := start(t, exe, "wait")
		settled(t, cmd.Process.Pid)
		s, _ := newSession(t)
		if err := s.Attach(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		bt := checkEnd(t, s, target.ThreadID(cmd.Process.Pid))
		f := bt.Frames[0]
		var code [2]byte
		if _, err := s.ReadMemory(f.PC-2, code[:]); err != nil || code != [2]byte{0x0f, 0x05} {
			t.Errorf("% x before the PC, %v", code, err)
		}
		if f.Machine.PCIsReturnAddress || f.Machine.LookupPC() != f.PC || !strings.Contains(names(bt), "pause main") {
			t.Errorf("%s, looked up at %v", names(bt), f.Machine.LookupPC())
		}
		if err := s.Detach(); err != nil {
			t.Fatal(err)
		}
	}
}

// The return address is behind the last code of the library.
func tortureLastOfModule(t *testing.T) {
	lib := fixture.Build(t, "torture/last.s", "-shared", "-nostdlib", "-nostartfiles")
	so := filepath.Join(filepath.Dir(lib), "liblast.so")
	if data, err := os.ReadFile(lib); err != nil {
		t.Fatal(err)
	} else if old, err := os.ReadFile(so); err != nil || !bytes.Equal(old, data) {
		if err := os.WriteFile(so, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	exe := fixture.Build(t, "torture/calls_last.c", "-g", "-O1", so)
	s, _, stop := run(t, exe, nil, "abort")
	bt := checkEnd(t, s, stop.Thread)
	if all := names(bt); !strings.Contains(all, "die last main") {
		t.Errorf("%s", all)
	}
	for _, f := range bt.Frames {
		if f.FunctionName == "last" && (f.Strategy != "cfi" || f.Module == nil || !strings.Contains(f.Module.Path, "liblast")) {
			t.Errorf("last: %s, %v", f.Strategy, f.Module)
		}
	}
}

// trials is how often the tests of damage try: DBG_CORRUPT_TRIALS, or n.
func trials(t *testing.T, n int) int {
	if s := os.Getenv("DBG_CORRUPT_TRIALS"); s != "" {
		v, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return n
}

// TestCorruptFiles changes random bytes of a core's headers and notes, and of the ELF header, the program headers
// and the section headers of its program: what comes is an error or less trust, never a panic, a walk without end,
// or a wrong frame that is called exact (but for frame 0, where the registers themselves were changed).
func TestCorruptFiles(t *testing.T) {
	n := trials(t, 40)
	for _, c := range []struct {
		source string
		flags  []string
		args   []string
	}{{"torture/chain.c", []string{"-O1"}, []string{"thread"}}, {"torture/crash.cc", []string{"-O1", "-static"}, nil}} {
		exe := filepath.Join(t.TempDir(), "program")
		data, err := os.ReadFile(fixture.Build(t, c.source, c.flags...))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(exe, data, 0o755); err != nil {
			t.Fatal(err)
		}
		core := fixture.Core(t, exe, c.args...)
		dump, err := os.ReadFile(core)
		if err != nil {
			t.Fatal(err)
		}
		want := walkOf(t, openCore(t, core, ""), 0)
		t.Run(c.source+"/core", func(t *testing.T) {
			headers, notes := coreParts(t, dump)
			damaged := filepath.Join(t.TempDir(), "core")
			corruptFile(t, n, dump, damaged, [][2]int{headers, notes}, want, func() (*session.Session, error) {
				s, _ := newSession(t)
				return s, s.OpenCore(damaged, "")
			})
		})
		t.Run(c.source+"/program", func(t *testing.T) {
			f, err := elf.NewFile(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			shoff := int(binary.LittleEndian.Uint64(data[40:]))
			parts := [][2]int{{0, 64}, {64, 64 + 56*len(f.Progs)}, {shoff, len(data)}}
			corruptFile(t, n, data, exe, parts, want, func() (*session.Session, error) {
				s, _ := newSession(t)
				return s, s.OpenCore(core, "")
			})
		})
	}
}

// coreParts are the ranges of a core's headers and of its notes.
func coreParts(t *testing.T, dump []byte) (headers, notes [2]int) {
	f, err := elf.NewFile(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	headers = [2]int{0, 64 + 56*len(f.Progs)}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE {
			notes = [2]int{int(p.Off), int(p.Off + p.Filesz)}
		}
	}
	return headers, notes
}

func corruptFile(t *testing.T, n int, data []byte, path string, parts [][2]int, want session.Backtrace, open func() (*session.Session, error)) {
	refused, differ, most := 0, 0, 0
	var wrong [4]int
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		bad := bytes.Clone(data)
		part := parts[r.IntN(len(parts))]
		for range 1 + r.IntN(2) {
			at := part[0] + r.IntN(part[1]-part[0])
			end := min(at+1+r.IntN(8), len(bad))
			switch r.IntN(3) {
			case 0:
				bad[at] ^= 1 << r.IntN(8)
			case 1:
				clear(bad[at:end])
			default:
				for j := at; j < end; j++ {
					bad[j] = byte(r.Uint32())
				}
			}
		}
		if err := os.WriteFile(path, bad, 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := open()
		if err != nil {
			refused++
			s.Close()
			continue
		}
		threads, err := s.Threads()
		if err != nil || len(threads) == 0 {
			refused++
			s.Close()
			continue
		}
		same := true
		for k, th := range threads {
			bt, err := s.Backtrace(th.ID, 0, 5000)
			if err != nil {
				t.Logf("trial %d: %v", i, err)
				continue
			}
			if most = max(most, len(bt.Frames)); len(bt.Frames) >= 5000 {
				t.Errorf("trial %d: %d frames", i, len(bt.Frames))
			}
			if k > 0 {
				continue
			}
			// The registers, which the notes have, may be others now: then there is no truth to hold it against.
			if len(bt.Frames) > 0 && (bt.Frames[0].PC != want.Frames[0].PC || bt.Frames[0].Machine.Regs != want.Frames[0].Machine.Regs) {
				same = false
				continue
			}
			for j, f := range bt.Frames {
				if j < len(want.Frames) && f.PC == want.Frames[j].PC {
					continue
				}
				same = false
				wrong[f.Machine.Trust]++
				if f.Machine.Trust == frames.Exact {
					t.Errorf("trial %d: frame %d, %x, is called exact", i, j, uint64(f.PC))
				}
			}
			same = same && len(bt.Frames) == len(want.Frames)
		}
		if !same {
			differ++
		}
		s.Close()
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d trials: %d refused, %d walks differ, wrong frames: %d exact, %d table, %d heuristic, %d guess; at most %d frames", n, refused, differ, wrong[0], wrong[1], wrong[2], wrong[3], most)
}
