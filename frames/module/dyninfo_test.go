package module_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/dyninfo"
	"dbg/frames/module"
	"dbg/row"
	"dbg/target"
)

// words is memory of little-endian words of 4 bytes from an address on.
type words struct {
	base target.Addr
	data []byte
}

func memoryOf(base target.Addr, list ...uint32) *words {
	w := &words{base: base}
	for _, v := range list {
		w.data = binary.LittleEndian.AppendUint32(w.data, v)
	}
	return w
}

func (w *words) ReadMemory(at target.Addr, buf []byte) (int, error) {
	if at < w.base || uint64(at-w.base) > uint64(len(w.data)) {
		return 0, &target.MemoryError{Addr: at}
	}
	n := copy(buf, w.data[at-w.base:])
	if n < len(buf) {
		return n, &target.MemoryError{Addr: at + target.Addr(n)}
	}
	return n, nil
}

// frameWords is a search table with one FDE, its CIE and the FDE for 0x1000..0x1100 of i386: CFA=esp+4, ra=c-4,
// from 0x1001 on CFA=esp+8. They are at 0x2000.
func frameWords() []uint32 {
	return []uint32{
		0xfffff000, 0x24, // relative to 0x2000: 0x1000, and the FDE
		0, 0,
		16, 0, 0x7c010001, 0x04040c08, 0x00000188, // the CIE at 0x2010: version 1, no augmentation, 1, -4, column 8
		16, 0x18, 0x1000, 0x100, 0x00080e41, // the FDE at 0x2024
	}
}

// TestRegisteredTables reads the formats that refer to other tables, whole and with one defect each.
func TestRegisteredTables(t *testing.T) {
	for _, c := range []struct {
		name string
		arch *arch.Arch
		mem  []uint32
		info dyninfo.Info
		want string // the row at 0x1004, or a part of the error
	}{
		{"remote table", arch.I386, frameWords(), dyninfo.Info{Format: dyninfo.RemoteTable, Segment: 0x2000, Length: 2,
			Data: 0x2000}, ".eh_frame cfa=esp+8 ra=c-4"},
		{"IP offset", arch.I386, append([]uint32{0, 0x24}, frameWords()[2:]...), dyninfo.Info{Format: dyninfo.IPOffset,
			Segment: 0x2000, Length: 2, Data: 0x2000}, ".eh_frame cfa=esp+8 ra=c-4"},
		{"ARM exidx", arch.ARM, []uint32{0x7ffff000, 0x80a8b0b0}, dyninfo.Info{Format: dyninfo.ARMExIdx, Length: 8,
			Data: 0x2000}, ".ARM.exidx cfa=sp+8 r4=c-8 ra=c-4"},
		{"exidx of another machine", arch.ARM64, nil, dyninfo.Info{Format: dyninfo.ARMExIdx, Length: 8, Data: 0x2000},
			"invalid .ARM.exidx"},
		{"huge exidx", arch.ARM, nil, dyninfo.Info{Format: dyninfo.ARMExIdx, Length: 1 << 31, Data: 0x2000},
			"invalid .ARM.exidx"},
		{"missing exidx", arch.ARM, nil, dyninfo.Info{Format: dyninfo.ARMExIdx, Length: 8, Data: 0x2000}, "cannot read"},
		{"table", arch.AMD64, nil, dyninfo.Info{Format: dyninfo.LocalTable, Length: 8, Data: 0x2000}, "private to libunwind"},
		{"unknown format", arch.AMD64, nil, dyninfo.Info{Format: 77}, "format 77"},
		{"missing FDE", arch.I386, frameWords()[:9], dyninfo.Info{Format: dyninfo.RemoteTable, Segment: 0x2000, Length: 2,
			Data: 0x2000}, "cannot read"},
		{"missing CIE", arch.I386, frameWords(), dyninfo.Info{Format: dyninfo.RemoteTable, Segment: 0x2000, Length: 4,
			Data: 0x2000}, "cannot read memory at 0x1fe0"},
		{"64-bit FDE", arch.I386, append(append([]uint32{}, frameWords()[:9]...), 0xffffffff),
			dyninfo.Info{Format: dyninfo.RemoteTable, Segment: 0x2000, Length: 2, Data: 0x2000}, "too large"},
		{"FDEs far apart", arch.I386, []uint32{0, 0, 1, 0x7f000000, 0, 0}, dyninfo.Info{Format: dyninfo.RemoteTable,
			Segment: 0x2000, Length: 4, Data: 0x2000}, "cannot read"},
		{"CIE far away", arch.I386, []uint32{0, 8, 8, 0xf0002000, 0, 0}, dyninfo.Info{Format: dyninfo.RemoteTable,
			Segment: 0x2000, Length: 2, Data: 0x2000}, "no entry covers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.info.Start, c.info.End = 0x1000, 0x1100
			m, err := module.OfRegistered(module.Registration{Name: "[test]", Arch: c.arch, Memory: memoryOf(0x2000,
				c.mem...), Info: c.info})
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				var r row.Row
				var table string
				if table, err = m.Origin(c.arch, 0x1004, &r); err != nil {
					got = err.Error()
				} else {
					got = table + r.Format(c.arch)[16:]
				}
			}
			if err == nil && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("%s; want %s", got, c.want)
			}
		})
	}
}

// TestRegisteredRegions looks regions up, interpreted and compiled.
func TestRegisteredRegions(t *testing.T) {
	mem := memoryOf(0x2000,
		0, 0, 0x100, 3, // the only region: 256 instructions, 3 operations
		0x00070004, 0, 0xfffffff8, 0xffffffff, // add rsp, -8 @0
		0x00060003, 0, 0, 0, // spill_sp_rel rbp, 0 @0
		0x00030004, 9, 8, 0) // add rbx @9, which is an error
	m, err := module.OfRegistered(module.Registration{Arch: arch.AMD64, Memory: mem, Info: dyninfo.Info{Start: 0x1000,
		End: 0x1100, Regions: 0x2000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"interpreted", "compiled"} {
		l := module.Lookup{Arch: arch.AMD64}
		for pc, want := range map[uint64]string{0x1000: "cfa=rsp+8 ra=c-8", 0x1005: "cfa=rsp+16 rbp=c-16 ra=c-8",
			0x1050: "", 0x1100: ""} {
			p, from, err := m.PlanAt(&l, pc)
			switch {
			case want == "" && err == nil:
				t.Errorf("%s: 0x%x has a row", when, pc)
			case want != "" && (err != nil || p.Row().Format(arch.AMD64)[17:] != want || from.Kind() != module.KindDynInfo):
				t.Errorf("%s: 0x%x: %v", when, pc, err)
			}
		}
		m.Compile(arch.AMD64)
	}
}
