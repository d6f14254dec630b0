package session_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

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
				// comes after it. In particular, main does not: it is on another stack.
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
		if _, err := fmt.Sscanf(got.End.Message(), "memory unreadable at 0x%x", &at); err != nil || at < lo || at >= lo+4096 || got.End.Outermost {
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
			ends[bt.End.Message()]++
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
		if f.Module != nil && strings.HasSuffix(f.Module.Path, "program") && f.FunctionName != "" && f.FunctionName != "_start" { // that is in its memory
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

// The return address is after the last code of the library.
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
