package frames_test

import (
	"fmt"
	"sync"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

// oneModule is a space with one module, and with no other memory.
type oneModule struct{ m *frames.Module }

func (o oneModule) ReadMemory(a target.Addr, _ []byte) (int, error) {
	return 0, &target.MemoryError{Addr: a, Why: "not mapped"}
}
func (o oneModule) FindModule(target.Addr) *frames.Module { return o.m }
func (o oneModule) Executable(target.Addr) bool           { return true }

// TestModuleIsShared asks one module from several goroutines at once, each with an Unwinder of its own. What they get is what one
// of them gets alone. Run with -race, it finds what is not guarded.
func TestModuleIsShared(t *testing.T) {
	path := fixture.Build(t, "check/plain.c", "-O1", "-g", "-static")
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ask := func(m *frames.Module, first int) (out []string) {
		u := frames.New(arch.AMD64, oneModule{m})
		all := f.Symbols()
		for i := range all {
			s := all[(i+first)%len(all)]
			if s.Kind != image.Func || s.Size == 0 {
				continue
			}
			o, err := u.Origin(target.Addr(s.Addr)+1, true)
			lo, hi, ok := frames.Edit(m).FunctionAt(uint64(s.Addr))
			regs := arch.Registers{}
			regs.Set(arch.RIP, uint64(s.Addr))
			regs.Set(arch.RSP, 0x7fff0000)
			walk := u.Walk(&regs)
			for range walk.Frames(t.Context()) {
			}
			end := walk.End()
			out = append(out, fmt.Sprintf("%s %x %v %v %x %x %v %s", s.Name, o.Row.Lo, o.Table, err, lo, hi, ok, end.Message()))
		}
		return out
	}
	want := map[string]bool{}
	for _, line := range ask(frames.ModuleAt(f, nil, frames.Placement{Name: path}), 0) {
		want[line] = true
	}
	if len(want) < 500 {
		t.Fatalf("%d functions", len(want))
	}
	shared := frames.ModuleAt(f, nil, frames.Placement{Name: path})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for _, line := range ask(shared, i*100) {
				if !want[line] {
					t.Errorf("goroutine %d: %s", i, line)
					return
				}
			}
		})
	}
	group.Wait()
}
