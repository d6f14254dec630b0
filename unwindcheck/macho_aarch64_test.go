package unwindcheck

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/internal/fixture"
	"dbg/pdata"
	"dbg/row"
)

// Without DBG_ALL the programs do everything once or twice, and no more than the first quickSteps instructions are judged.
const quickSteps = 15_000

// quick is their argument and what they print for it, how many instructions that takes at least, and how often exceptions land.
var quick = map[string]struct {
	argument, sum string
	least, lands  int
}{
	"macho/shapes.c":  {argument: "1", sum: "14769201998179e3", least: 10_000},
	"macho/throws.cc": {argument: "2", sum: "47a238d36e696b55", least: 8_000, lands: 40},
	"macho/sorts.rs":  {argument: "1", sum: "b17335f5b1975f59", least: 10_000},
}

// TestMachOARM64 is TestMachO for arm64, by an emulator that steps: what is said at every instruction of a file's text is held against
// a list of activations. Refined rows have to be right everywhere. Exceptions are thrown by the process's C++ runtime and by tables that the loader
// makes of the object's __eh_frame: they depend on nothing that is judged here.
//
// For functions that __unwind_info can't express it refers to __eh_frame: those that save the return address without a frame
// pointer, and Rust's, whose DWARF follows the epilogue. Clang's for macOS does not (CFI there is "synchronous"): the CFA is that of the
// function's start until the prologue is over, and that of the body through the epilogue, which is wrong at 2 to 7 % of such functions' instructions.
// They are refined too; what that leaves to __eh_frame is counted apart, and must be right.
func TestMachOARM64(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	const compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	fixture.Need(t, emulator)
	// Not -lstdc++: C compilers for other machines come with the shared library only.
	loader := fixture.Build(t, "macho/loader.c", "cc="+compiler, "-O1", "-rdynamic", "-Wl,--no-as-needed", "-l:libstdc++.so.6", "-l:libgcc_s.so.1", "-ldl")
	all := fixture.All()
	t.Logf("%-40s %8s %9s %9s %9s %9s %9s %9s", "build", "asked", "compact", "body", "refined", "DWARF", "right", "no answer")
	for _, s := range machoSources {
		for _, level := range []string{"0", "1", "2", "3", "s"} {
			for _, fp := range []bool{true, false} {
				rust := strings.HasSuffix(s.file, ".rs")
				if rust && (!fp || !rustLevels[level]) || !all && (level != "0" && level != "2" || rust && level == "0" || !fp) {
					continue
				}
				name := filepath.Base(s.file) + " -O" + level + " without frame pointers"
				if fp {
					name = filepath.Base(s.file) + " -O" + level + " with frame pointers"
				}
				t.Run(name, func(t *testing.T) {
					file := s.build(t, "arm64", level, fp)
					s, limit, q := s, 1<<30, quick[s.file]
					if !all {
						s.argument, s.sum, limit = q.argument, q.sum, quickSteps
					} else if s.allSum != "" {
						s.argument, s.sum = s.allArgument, s.allSum
					}
					e := emulate(t, emulator, loader, file, emulatedRun{s.loaderArgs(file, s.argument), s.sum, s.throws, (*emulated).tables}, limit)
					t.Logf("%-40s %8d %9d %8.3f%% %8.3f%% %9d %8.3f%% %9d", name, e.asked, e.refined.judged, 100*e.body.share(),
						100*e.refined.share(), e.dwarf.judged, 100*e.dwarf.share(), e.silent)
					if s.throws {
						t.Logf("%d landings of exceptions", e.lands)
					}
					if e.asked < q.least || e.lands < q.lands {
						t.Errorf("%d instructions were judged and %d exceptions landed, at least %d and %d were expected", e.asked, e.lands, q.least, q.lands)
					}
					if e.silent > 0 {
						t.Errorf("%d of %d instructions are without an answer", e.silent, e.asked)
					}
					for _, w := range e.refined.wrong {
						t.Errorf("wrong: %s", w)
					}
					for _, w := range e.dwarf.wrong {
						t.Errorf("wrong in __eh_frame: %s", w)
					}
				})
			}
		}
	}
}

// answer is what one source of rows has said.
type answer struct {
	rows          func(pc uint64, r *row.Row) error
	judged, right int
	wrong         []*wrongRow
}

func (a *answer) share() float64 { return float64(a.right) / float64(max(a.judged, 1)) }

// wrongRow is a row that is wrong in one way.
type wrongRow struct {
	function, row, kind, truth string
	lo, hi                     uint64
	hits                       int
}

func (w *wrongRow) String() string {
	return fmt.Sprintf("0x%x..0x%x %s: %s: %s; the row is %s [%d times]", w.lo, w.hi, w.function, w.kind, w.truth, w.row, w.hits)
}

// tables makes what is asked of the file's __unwind_info and __eh_frame.
func (e *emulated) tables() {
	info, ok := e.file.Section("__unwind_info")
	if !ok {
		e.t.Fatal("there is no __unwind_info")
	}
	e.text, _ = e.file.SectionIn("__TEXT", "__text")
	code := func(addr uint64, n int) []byte {
		at, size := uint64(e.text.Addr), uint64(len(e.text.Data))
		if addr < at || addr-at >= size {
			return nil
		}
		return e.text.Data[addr-at : min(addr-at+uint64(n), size)]
	}
	t, err := compact.New(compact.Config{Arch: arch.ARM64, Data: info.Data, Base: uint64(e.file.HeaderAddr()), Code: code})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, a := range e.file.FunctionStarts() {
		e.starts = append(e.starts, uint64(a))
	}
	body, refined := compact.NewRefiner(t, e.starts), compact.NewRefiner(t, e.starts)
	body.Unrefined = true
	e.body, e.refined = &answer{rows: body.RowAt}, &answer{rows: refined.RowAt}
	e.dwarf = &answer{rows: func(uint64, *row.Row) error { return cfi.ErrNotCovered }}
	if eh, ok := e.file.Section("__eh_frame"); ok {
		e.dwarf.rows = cfi.New(cfi.Config{Arch: arch.ARM64, Data: eh.Data, Addr: uint64(eh.Addr)}).RowAt
		refined.Escape = e.dwarf.rows
	}
}

// judge holds what is said against the truth: by the body's row, by the refined one, and by __eh_frame where __unwind_info refers to
// it. Stubs are in no table: they are only judged where there is an answer.
func (e *emulated) judge() {
	pc := e.pc() - e.slide
	e.ask(e.body, pc)
	known := e.ask(e.refined, pc) || e.ask(e.dwarf, pc)
	if known || pc-uint64(e.text.Addr) < e.text.Size {
		e.asked++
	}
	if !known && pc-uint64(e.text.Addr) < e.text.Size {
		if e.silent++; e.silent <= 20 {
			e.t.Logf("no answer at 0x%x of %s", pc, e.function(pc))
		}
	}
}

// ask judges one source; false if it knows nothing.
func (e *emulated) ask(a *answer, pc uint64) bool {
	var r row.Row
	r.Reset()
	switch err := a.rows(pc, &r); {
	case errors.Is(err, compact.ErrNotCovered), errors.Is(err, cfi.ErrNotCovered), errors.Is(err, pdata.ErrNotCovered):
		return false
	case err != nil:
		e.t.Fatalf("0x%x: %v", pc, err)
	}
	a.judged++
	kind, truth := e.compare(&r)
	if kind == "" {
		a.right++
	} else {
		a.add(&wrongRow{function: e.function(pc), row: r.Format(arch.ARM64), kind: kind, truth: truth, lo: pc, hi: pc + 4, hits: 1})
	}
	return true
}

// add counts a wrong instruction to those that it belongs to.
func (a *answer) add(w *wrongRow) {
	for _, o := range a.wrong {
		if o.function == w.function && o.row == w.row && o.kind == w.kind && w.lo <= o.hi && o.lo <= w.hi {
			o.lo, o.hi = min(o.lo, w.lo), max(o.hi, w.hi)
			o.hits++
			return
		}
	}
	a.wrong = append(a.wrong, w)
}

// compare applies a row. It says what is wrong, or nothing.
func (e *emulated) compare(r *row.Row) (kind, truth string) {
	a := arch.ARM64
	is := &e.stack[len(e.stack)-1]
	var c row.Caller
	err := row.Apply(r, &row.Env{Arch: a, Regs: &e.regs, Mem: e, Bias: e.slide, Preserved: e.preserved}, &c)
	switch {
	case err != nil:
		return "error", err.Error()
	case c.End:
		return "return address", fmt.Sprintf("there is a caller at 0x%x", is.ra)
	case c.CFA != is.sp || c.SP != is.sp:
		return "CFA", fmt.Sprintf("sp%+d, not sp%+d; x29 is sp%+d", int64(is.sp-e.sp()), int64(c.CFA-e.sp()), int64(e.reg(a.FP)-e.sp()))
	case c.PC != is.ra:
		return "return address", fmt.Sprintf("0x%x, not 0x%x; x30 is 0x%x", is.ra, c.PC, e.reg(a.LR))
	}
	regs := e.regs
	var places row.Places
	c.Commit(&regs, &places)
	for _, reg := range a.CalleeSaved {
		if reg == a.LR {
			continue // the caller's own is nobody's to keep
		}
		want, _ := is.saved.Get(reg)
		if v, known := regs.Get(reg); !known {
			return a.RegName(reg), "it is not known"
		} else if v != want {
			return a.RegName(reg), fmt.Sprintf("0x%x, not 0x%x", want, v)
		}
	}
	return "", ""
}

// function is the name of what is at an address of the file.
func (e *emulated) function(pc uint64) string {
	syms := e.file.Symbols()
	i := sort.Search(len(syms), func(i int) bool { return uint64(syms[i].Addr) > pc })
	if i == 0 {
		return "?"
	}
	return syms[i-1].Name
}
