package module

import (
	"bytes"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// sframeOf returns the source for .sframe, or nil.
func sframeOf(m *Module) *Source {
	for _, s := range m.Sources(arch.AMD64) {
		if s.Kind() == KindSFrame {
			return s
		}
	}
	return nil
}

// TestSFrameSource: .sframe is found by its name, and by PT_GNU_SFRAME without section headers. Compiled
// rows equal those that are decoded.
func TestSFrameSource(t *testing.T) {
	path := fixture.Build(t, "unwind/sframe.c", "-Os", "-Wa,--gsframe", "-Wl,-z,lazy")
	whole, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	cut, err := image.FromMemory("cut", sectionless(t, path))
	if err != nil {
		t.Fatal(err)
	}
	want, got := sframeOf(Of(whole, nil)), sframeOf(Of(cut, nil))
	if want == nil || got == nil {
		t.Fatalf("sources: %t, %t", want != nil, got != nil)
	}
	s, _ := whole.SFrame()
	if c, _ := cut.SFrame(); !bytes.HasPrefix(c.Data, s.Data) || c.Addr != s.Addr {
		t.Errorf("the section has %d bytes at %v, the segment %d at %v", len(s.Data), s.Addr, len(c.Data), c.Addr)
	}
	got.compile()
	table := got.compiled.Load()
	if table == nil {
		t.Fatal("the rows are not compiled")
	}
	rows := 0
	for pc := uint64(0x1000); pc < 0x1400; pc++ {
		var r row.Row
		err := want.RowAt(pc, &r)
		plan, _ := table.Lookup(pc)
		switch {
		case err == cfi.ErrNotCovered && plan == nil:
		case err != nil || plan == nil:
			t.Errorf("0x%x: %v, compiled: %t", pc, err, plan != nil)
		default:
			p := plan.Row()
			if p.Format(arch.AMD64)[16:] != r.Format(arch.AMD64)[16:] {
				t.Errorf("0x%x: %s, compiled %s", pc, r.Format(arch.AMD64), p.Format(arch.AMD64))
			}
			rows++
		}
	}
	if rows < 200 {
		t.Errorf("only %d addresses have rows", rows)
	}
}

// TestSFrameOtherMachine: a section of another ABI is not used.
func TestSFrameOtherMachine(t *testing.T) {
	c := Contents{SFrame: Section{Data: []byte{0xe2, 0xde, 2, 0, 2, 0, 0, 0, 27: 0}, Addr: 0x1000}}
	if s := sframeOf(New(c)); s != nil {
		t.Error("AArch64's section is used for AMD64")
	}
	c.SFrame.Data[4], c.SFrame.Data[6] = 3, 0xf8
	if s := sframeOf(New(c)); s == nil {
		t.Error("AMD64's section is not used")
	}
}
