package frames

import (
	"sync"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// TestModuleIsShared: unwinders of several goroutines may use one module, also at first, when all is read that it knows of its file. Run with
// -race.
func TestModuleIsShared(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "gcc")
	exe := fixture.Build(t, "c/steps.c", "-g", "-O1")
	for range 10 {
		f, err := image.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		m := ModuleOf(f, nil)
		text, _ := f.Section(".text")
		pc := uint64(text.Addr)
		var wg sync.WaitGroup
		for _, ask := range []func(){
			func() { m.FunctionAt(pc) }, func() { m.isFirst(pc, true) }, func() { m.isThreadStart(pc) }, func() { m.miniDebug() },
			func() {
				for _, s := range m.load(arch.AMD64).list {
					s.RowAt(pc, new(row.Row))
				}
			},
		} {
			for range 2 {
				wg.Go(ask)
			}
		}
		wg.Wait()
		f.Close()
	}
}
