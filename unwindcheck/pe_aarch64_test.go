package unwindcheck

import (
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/pdata"
	"dbg/row"
)

// TestPEARM64 is TestPE for ARM64, under an emulator that steps: what the function table says is held against the calls
// and returns so far at every instruction of the DLL's text.
func TestPEARM64(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	const compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	fixture.Need(t, emulator)
	loader := fixture.Build(t, "pe/loader.c", "cc="+compiler, "-O1")
	all := fixture.All()
	for _, level := range []string{"0", "1", "2", "3", "s"} {
		for _, fp := range []bool{true, false} {
			if !all && (level != "2" || fp) {
				continue
			}
			t.Run("-O"+level+" "+framePointers(fp), func(t *testing.T) {
				file := fixture.PE(t, "arm64", []string{"macho/shapes.c", "pe/support.c"}, "-O"+level, framePointers(fp))
				run := emulatedRun{args: []string{"-s", file, "run", "8"}, sum: peSum, tables: (*emulated).functionTable}
				limit, least := 1<<30, 30_000
				if !all {
					run.args[3], run.sum, limit, least = "1", "14769201998179e3", quickSteps, 10_000
				}
				e := emulate(t, emulator, loader, file, run, limit)
				t.Logf("%d instructions, %.3f%% right, %d by the table, %d in leaves", e.asked, 100*e.refined.share(), e.refined.judged, e.dwarf.judged)
				if e.asked < least || e.silent > 0 {
					t.Errorf("of %d instructions %d are without an answer", e.asked, e.silent)
				}
				for _, a := range []*answer{e.refined, e.dwarf} {
					for _, w := range a.wrong {
						t.Errorf("wrong: %s", w)
					}
				}
			})
		}
	}
}

// functionTable makes what is asked: the function table, and the leaves that have no entry in it.
func (e *emulated) functionTable() {
	data, addr, ok := e.file.FunctionTable()
	if !ok {
		e.t.Fatal("there is no function table")
	}
	e.text, _ = e.file.Section(".text")
	table, err := pdata.New(pdata.Config{Arch: arch.ARM64, Data: data, Addr: uint64(addr), Base: uint64(e.file.ImageBase()),
		Read: func(a uint64, n int) []byte { return e.file.Bytes(image.Addr(a), n) }})
	if err != nil {
		e.t.Fatal(err)
	}
	for i := range table.Entries() {
		entry := table.Entry(i)
		e.starts = append(e.starts, entry.Lo)
	}
	for _, s := range e.file.Symbols() {
		if s.Kind == image.Func {
			e.starts = append(e.starts, uint64(s.Addr))
		}
	}
	preserved := pdata.Preserved(arch.ARM64)
	e.preserved = &preserved
	leaves := pdata.LeavesOf(table, []pdata.Range{{Lo: uint64(e.text.Addr), Hi: uint64(e.text.Addr) + e.text.Size}})
	e.body = &answer{rows: func(uint64, *row.Row) error { return cfi.ErrNotCovered }}
	e.refined, e.dwarf = &answer{rows: table.RowAt}, &answer{rows: leaves.RowAt}
}
