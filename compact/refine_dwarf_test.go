package compact_test

import (
	"fmt"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/code"
	"dbg/code/flow"
	"dbg/compact"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/row/compiled"
)

func refiner(o opened) *compact.Refiner {
	var starts []uint64
	for _, s := range o.file.FunctionStarts() {
		starts = append(starts, uint64(s))
	}
	return compact.NewRefiner(o.Table, starts)
}

// TestRefinedAgainstDWARF holds refined rows against the DWARF rows of the same functions, which clang describes at each instruction but those
// of epilogues: there DWARF has the body's row. DWARF is that of the object file, as linkers drop it.
func TestRefinedAgainstDWARF(t *testing.T) {
	fixture.Need(t, "clang-19", "ld64.lld-19")
	total := map[string]int{}
	for _, source := range []string{"../compact/testdata/frames.c", "../compact/testdata/throws.cc", "macho/shapes.c"} {
		for _, arch := range []string{"x86_64", "arm64"} {
			for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
				for _, fp := range []string{"-fno-omit-frame-pointer", "-fomit-frame-pointer"} {
					if !fixture.All() && (level == "-O1" || level == "-O3") {
						continue
					}
					// Without DWARF the text of this one differs, of that one it is for x86-64 only.
					if arch == "arm64" && (source == "macho/shapes.c" || source == "../compact/testdata/throws.cc" && level == "-O3") {
						continue
					}
					flags := []string{level, fp, "-femit-dwarf-unwind=always", "-fasynchronous-unwind-tables"}
					t.Run(fmt.Sprint(source, arch, level, fp), func(t *testing.T) {
						// An object of arm64 has relocations; there the linker keeps what DWARF there is.
						linked := fixture.MachO(t, source, arch, flags[:2]...)
						object := fixture.MachO(t, source, arch, append(flags, "-c")...)
						if arch == "arm64" {
							object = fixture.MachO(t, source, arch, flags...)
						}
						againstDWARF(t, object, open(t, linked), total)
					})
				}
			}
		}
	}
	t.Log(total)
}

func againstDWARF(t *testing.T, object string, o opened, total map[string]int) {
	of, err := image.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer of.Close()
	a := of.Arch()
	eh, _ := of.Section("__eh_frame")
	from, _ := of.Section("__text")
	to, _ := o.file.Section("__text")
	if from.Size != to.Size || len(eh.Data) == 0 {
		t.Fatalf("__text has %d bytes, linked %d; __eh_frame %d", from.Size, to.Size, len(eh.Data))
	}
	shift := uint64(to.Addr) - uint64(from.Addr)
	table := cfi.New(cfi.Config{Arch: a, Data: eh.Data, Addr: uint64(eh.Addr)})
	x := refiner(o)
	count := map[string]int{}
	shown := 0
	var dwarf, refined, body row.Row
	var paths flow.Flow
	for i := range table.Entries() {
		lo, hi := table.EntryRange(i)
		text := to.Data[lo+shift-uint64(to.Addr) : hi+shift-uint64(to.Addr)]
		paths.Reset(a, lo, text)
		paths.Follow(lo, flow.Entry(a))
		for pc := lo; pc < hi; {
			in := code.DecodeX86(text[pc-lo:])
			if a == arch.ARM64 {
				in = code.DecodeARM64(text[pc-lo:])
			}
			at := pc
			pc += uint64(max(in.Len, 1))
			if table.RowAt(at, &dwarf) != nil {
				count["no DWARF"]++
				continue
			}
			var e compact.Entry
			if o.Find(at+shift, &e) != nil || e.Opcode.Kind(a) == compact.DWARF {
				count["DWARF only"]++
				continue
			}
			o.Row(&e, &body)
			err := x.RowAt(at+shift, &refined)
			if f := paths.At(at); f != nil && err == nil && f.IsAt(dwarf.CFA.Reg, dwarf.CFA.N) && f.IsAt(refined.CFA.Reg, refined.CFA.N) {
				refined.CFA = dwarf.CFA // the same by another register
			}
			what := compare(a, &dwarf, &refined, &body, err)
			if what == "no row" && code.Padding(a, text[at-lo:min(pc-lo, hi-lo)]) > 0 {
				what = "padding, no row"
			}
			count[what]++
			if (what[0] == '!' || what == "no row") && shown < 12 {
				shown++
				t.Logf("%x %s (%v)\n  DWARF   %s\n  refined %s\n  body    %s", at+shift, what, x.How(at+shift), dwarf.Format(a), refined.Format(a), body.Format(a))
			}
		}
	}
	for k, n := range count {
		if k[0] == '!' || k == "no row" {
			t.Errorf("%d times %s", n, k)
		}
		total[a.Name+" "+k] += n
	}
	t.Log(count)
}

// compare says how two rows agree; what begins with "!" is for a person to look at.
func compare(a *arch.Arch, dwarf, refined, body *row.Row, err error) string {
	if err != nil {
		return "no row"
	}
	epilogue := compiled.SameRules(dwarf, body) || dwarf.CFA.Reg == body.CFA.Reg && dwarf.CFA.N == body.CFA.N
	if dwarf.CFA.Kind != refined.CFA.Kind || dwarf.CFA.Reg != refined.CFA.Reg || dwarf.CFA.N != refined.CFA.N {
		if epilogue {
			return "epilogue"
		}
		return "!CFA differs"
	}
	what := "same"
	for _, reg := range flow.Slots(a) {
		d, r := dwarf.Rule(reg), refined.Rule(reg)
		switch {
		case d.Kind == r.Kind && d.N == r.N, d.Kind == row.Same && r.Kind == row.Unspecified:
		case d.Kind == row.At && r.Kind == row.Unspecified:
			what = "restored, DWARF says where it was"
		case r.Kind == row.At && d.Kind <= row.Same:
			what = "saved, DWARF does not say it yet"
		default:
			return "!" + a.RegName(reg)
		}
	}
	return what
}
