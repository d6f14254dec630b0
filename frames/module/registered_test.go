package module_test

import (
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames/module"
	"dbg/registry"
	"dbg/row"
)

// TestRegisteredFrames makes modules of call frame information in memory, whole and with one defect each.
func TestRegisteredFrames(t *testing.T) {
	section := append(frameWords()[4:], 0)       // a CIE, an FDE for 0x1000..0x1100, and the end
	other := append([]uint32(nil), section...)   // with an unknown version of the CIE
	other[2] = 0x7c010009                        //
	endless := append([]uint32(nil), section...) // without an end
	endless = endless[:len(endless)-1]
	for _, c := range []struct {
		name  string
		mem   []uint32
		entry registry.Entry
		want  string // a part of the error
	}{
		{"section", section, registry.Entry{Frames: 0x2000}, ""},
		{"one FDE", section, registry.Entry{Frames: 0x2014, Lo: 0x1000, Hi: 0x1100, Single: true}, ""},
		{"unknown version", other, registry.Entry{Frames: 0x2000}, "registered at 0x2000"},
		{"no end", endless, registry.Entry{Frames: 0x2000}, "memory"},
		{"unmapped", section, registry.Entry{Frames: 0x9000}, "memory"},
		{"one unmapped FDE", section, registry.Entry{Frames: 0x9000, Single: true}, "memory"},
	} {
		m, covered, err := module.OfRegisteredFrames(arch.I386, memoryOf(0x2000, c.mem...), c.entry)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil || len(covered) != 1 || covered[0] != (module.Range{Lo: 0x1000, Hi: 0x1100}) || m.Kind() != module.KindJIT {
			t.Fatalf("%s: %+v, %v", c.name, covered, err)
		}
		var r row.Row
		if _, err := m.Origin(arch.I386, 0x1004, &r); err != nil || r.CFA.N != 8 {
			t.Errorf("%s: the CFA at 0x1004 is %+v (%v), want esp+8", c.name, r.CFA, err)
		}
		if n := testing.AllocsPerRun(100, func() { m.Origin(arch.I386, 0x1004, &r) }); n != 0 {
			t.Errorf("%s: a look-up allocates %v times", c.name, n)
		}
	}
}
