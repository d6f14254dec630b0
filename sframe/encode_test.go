package sframe_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/sframe"
)

// dialect is a version for an ABI.
type dialect struct {
	version uint8
	abi     sframe.ABI
}

func (d dialect) String() string { return fmt.Sprintf("version %d, %v", d.version, d.abi) }

var dialects = func() (list []dialect) {
	for v := uint8(1); v <= 3; v++ {
		for abi := sframe.AArch64Big; abi <= sframe.S390X; abi++ {
			if v == 1 && abi == sframe.S390X {
				continue // version 2 has added it
			}
			list = append(list, dialect{v, abi})
		}
	}
	return list
}()

// random makes a section with every kind of entry.
func (d dialect) random(rng *rand.Rand, addr uint64) (sframe.Header, []sframe.Function, [][]sframe.Rules) {
	h := sframe.Header{Version: d.version, ABI: d.abi}
	if d.abi == sframe.AMD64 {
		h.FixedRA = -8
	}
	if rng.Intn(4) == 0 {
		h.FixedFP = -16
	}
	if d.version > 1 && rng.Intn(2) == 0 {
		h.Flags |= sframe.FlagPCRel
	}
	var fns []sframe.Function
	var all [][]sframe.Rules
	pc := addr + uint64(rng.Intn(1<<20))
	for range rng.Intn(20) {
		var fn sframe.Function
		fn.FREType = uint8(rng.Intn(3))
		fn.Lo = pc
		fn.Masked = rng.Intn(5) == 0
		fn.KeyB = d.abi <= sframe.AArch64Little && rng.Intn(3) == 0
		if d.version == 3 {
			fn.Flexible, fn.Signal = rng.Intn(2) == 0, rng.Intn(4) == 0
		}
		var rules []sframe.Rules
		size := uint32(0)
		for range 1 + rng.Intn(9) {
			f, r := d.randomRow(rng, &h, &fn.FDE)
			f.Start = size
			if fn.Masked && d.version == 1 && size > 0 {
				f.Start = 1<<len(fn.Rows) - 1 // masks: at most 255
			}
			fn.Rows, rules = append(fn.Rows, f), append(rules, r)
			size += 1 + uint32(rng.Intn(20))
		}
		fn.Hi = fn.Lo + uint64(size)
		if fn.Masked {
			fn.Repeat = min(size, 255)
			fn.Hi = fn.Lo + uint64(size)*uint64(1+rng.Intn(5))
		}
		pc = fn.Hi + uint64(rng.Intn(100))
		fns, all = append(fns, fn), append(all, rules)
	}
	if rng.Intn(2) == 0 {
		h.Flags |= sframe.FlagSorted
	} else {
		rng.Shuffle(len(fns), func(i, j int) { fns[i], fns[j], all[i], all[j] = fns[j], fns[i], all[j], all[i] })
	}
	return h, fns, all
}

// randomRow makes a row and the rules that its words mean.
func (d dialect) randomRow(rng *rand.Rand, h *sframe.Header, e *sframe.FDE) (f sframe.FRE, r sframe.Rules) {
	f.Mangled = d.abi <= sframe.AArch64Little && rng.Intn(3) == 0
	if d.version > 1 && rng.Intn(10) == 0 {
		f.Size = 1
		return f, r // outermost
	}
	for {
		r = sframe.Rules{CFA: d.randomBase(rng, e.Flexible)}
		if h.FixedRA != 0 {
			r.RA = sframe.Rule{Set: true, Fixed: true, Deref: true, Offset: int64(h.FixedRA)}
		}
		if h.FixedFP != 0 {
			r.FP = sframe.Rule{Set: true, Fixed: true, Deref: true, Offset: int64(h.FixedFP)}
		}
		if !r.RA.Fixed && rng.Intn(3) > 0 || e.Flexible && rng.Intn(4) == 0 {
			r.RA = d.randomSaved(rng, e.Flexible)
		}
		if !r.FP.Fixed && rng.Intn(3) > 0 || e.Flexible && rng.Intn(4) == 0 {
			r.FP = d.randomSaved(rng, e.Flexible)
		}
		if !h.SetRules(&f, &r, e.Flexible) {
			continue
		}
		written := f.Words[:f.Count]
		switch { // a word that pads
		case e.Flexible && len(written) > 2 && written[2] == 0, !e.Flexible && f.Count == 3 && written[1] == 0:
			r.RA.Pad = true
		}
		for f.Size < 4 && rng.Intn(4) == 0 {
			f.Size *= 2 // wider than needed
		}
		return f, r
	}
}

func (d dialect) offset(rng *rand.Rand) int64 {
	n := int64(int32(rng.Uint32())) >> rng.Intn(30)
	return n &^ 7 >> 6 << 3 // a multiple of 8, which s390x needs
}

// regs are the stack pointer and the frame pointer.
func (d dialect) regs() (sp, fp arch.Reg) {
	return [...]arch.Reg{0, 31, 31, 7, 15}[d.abi], [...]arch.Reg{0, 29, 29, 6, 11}[d.abi]
}

func (d dialect) randomBase(rng *rand.Rand, flexible bool) sframe.Rule {
	sp, fp := d.regs()
	r := sframe.Rule{Set: true, ByReg: true, Reg: sp, Offset: d.offset(rng)}
	if rng.Intn(2) == 0 {
		r.Reg = fp
	}
	if flexible {
		r.Deref = rng.Intn(2) == 0
		if rng.Intn(2) == 0 {
			r.Reg = arch.Reg(rng.Intn(arch.MaxRegs))
		}
	}
	return r
}

func (d dialect) randomSaved(rng *rand.Rand, flexible bool) sframe.Rule {
	switch {
	case flexible && rng.Intn(2) == 0:
		return d.randomBase(rng, true)
	case d.abi == sframe.S390X && d.version == 2 && rng.Intn(3) == 0:
		return sframe.Rule{Set: true, ByReg: true, Reg: arch.Reg(rng.Intn(arch.MaxRegs))}
	}
	return sframe.Rule{Set: true, Deref: true, Offset: d.offset(rng)}
}

// TestRoundTrip encodes random sections and reads them again: entries, rows, rules and look-ups.
func TestRoundTrip(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			rng := rand.New(rand.NewSource(int64(d.version)<<8 | int64(d.abi)))
			rows := 0
			for n := range 40 {
				h, fns, rules := d.random(rng, 0x400000)
				data, err := sframe.Encode(h, 0x400000, fns)
				if err != nil {
					t.Fatal(err)
				}
				tab, err := sframe.New(sframe.Config{Data: data, Addr: 0x400000})
				if err != nil {
					t.Fatalf("section %d: %v", n, err)
				}
				rows += compareSection(t, n, tab, fns, rules)
			}
			if rows < 400 {
				t.Errorf("only %d rows were compared", rows)
			}
		})
	}
}

func compareSection(t *testing.T, n int, tab *sframe.Table, fns []sframe.Function, rules [][]sframe.Rules) (rows int) {
	i := 0
	for e, err := range tab.All() {
		fn := &fns[i]
		if err != nil {
			t.Fatalf("section %d, function %d: %v", n, i, err)
		}
		if e.Lo != fn.Lo || e.Hi != fn.Hi || e.FREs != len(fn.Rows) || e.Masked != fn.Masked || e.Flexible != fn.Flexible ||
			e.Signal != fn.Signal || e.KeyB != fn.KeyB || e.FREType != fn.FREType || tab.Version > 1 && e.Masked && e.Repeat != fn.Repeat {
			t.Fatalf("section %d, function %d: wrote %+v, read %+v", n, i, fn.FDE, *e)
		}
		c := tab.Rows(e)
		var f sframe.FRE
		for k := 0; c.Next(&f); k++ {
			want := fn.Rows[k]
			if got, err := tab.Rules(e, &f); err != nil || got != rules[i][k] {
				t.Fatalf("section %d, function %d, row %d: wrote %+v, read %+v, %v; words %v", n, i, k, rules[i][k], got, err, want.Words[:want.Count])
			}
			if f.Start != want.Start || f.Mangled != want.Mangled || f.Count != want.Count || f.Size != want.Size {
				t.Fatalf("section %d, function %d: wrote %+v, read %+v", n, i, want, f)
			}
			rows++
		}
		if c.Err() != nil {
			t.Fatal(c.Err())
		}
		lookUp(t, tab, fn)
		i++
	}
	if i != len(fns) {
		t.Fatalf("section %d has %d functions: %d were read", n, len(fns), i)
	}
	return rows
}

// lookUp compares RowAt at every address of a function with the rows that were written.
func lookUp(t *testing.T, tab *sframe.Table, fn *sframe.Function) {
	var e sframe.FDE
	var got, want row.Row
	if err := tab.Find(fn.Lo, &e); err != nil {
		t.Fatal(err)
	}
	for pc := fn.Lo; pc < fn.Hi; pc++ {
		off := uint32(pc - fn.Lo)
		var f *sframe.FRE
		for i := range fn.Rows {
			start := fn.Rows[i].Start
			applies := start <= off
			if fn.Masked {
				applies = start <= off%fn.Repeat
				if tab.Version == 1 {
					applies = off&start == start
				}
			}
			if applies {
				f = &fn.Rows[i]
			}
		}
		if err := tab.Row(&e, f, &want); err != nil {
			t.Fatal(err)
		}
		if err := tab.RowAt(pc, &got); err != nil {
			t.Fatalf("0x%x: %v", pc, err)
		}
		if pc < got.Lo || pc >= got.Hi || got.Hi > fn.Hi {
			t.Fatalf("0x%x is not in the row's range 0x%x to 0x%x", pc, got.Lo, got.Hi)
		}
		want.Lo, want.Hi = got.Lo, got.Hi
		if g, w := got.Format(nil), want.Format(nil); g != w || got.Signed != want.Signed {
			t.Fatalf("0x%x: want %s, got %s", pc, w, g)
		}
	}
}

// TestRandomAgainstReadelf prints random sections like readelf --sframe of binutils 2.47.
func TestRandomAgainstReadelf(t *testing.T) {
	fixture.Sweep(t)
	bin := fixture.Binutils(t, fixture.Forky)
	targets := map[sframe.ABI][]string{sframe.AArch64Big: {"aarch64-linux-gnu-", "-EB"}, sframe.AArch64Little: {"aarch64-linux-gnu-", "-EL"},
		sframe.AMD64: {"x86_64-linux-gnu-", "--64"}, sframe.S390X: {"s390x-linux-gnu-", "-m64"}}
	dir := t.TempDir()
	object, section := filepath.Join(dir, "x.o"), filepath.Join(dir, "sframe")
	for _, d := range dialects {
		if d.version == 1 {
			continue // binutils 2.47 does not read it
		}
		rng := rand.New(rand.NewSource(int64(d.version)))
		tool := targets[d.abi]
		for n := range 15 {
			h, fns, _ := d.random(rng, 0)
			data, err := sframe.Encode(h, 0, fns)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(section, data, 0o644); err != nil {
				t.Fatal(err)
			}
			run(t, filepath.Join(bin, tool[0]+"as"), tool[1], "-o", object, os.DevNull)
			run(t, filepath.Join(bin, tool[0]+"objcopy"), "--add-section", ".sframe="+section, "--set-section-flags", ".sframe=alloc,readonly", object)
			said := run(t, filepath.Join(bin, tool[0]+"readelf"), "--sframe", object)
			tab, err := sframe.New(sframe.Config{Data: data})
			if err != nil {
				t.Fatal(err)
			}
			if ours := printed(t, tab); !slices.Equal(ours, lines(said)) {
				t.Errorf("%v, section %d: %s", d, n, difference(lines(said), ours))
			}
		}
	}
}

// printed returns the lines that Printer writes.
func printed(t testing.TB, tab *sframe.Table) []string {
	var b bytes.Buffer
	p := sframe.Printer{W: &b}
	if err := p.Header(tab); err != nil {
		t.Fatal(err)
	}
	i := 0
	for e, err := range tab.All() {
		if err := p.FDE(tab, i, e, err); err != nil {
			t.Fatal(err)
		}
		i++
	}
	return lines(b.Bytes())
}

// lines returns the lines without trailing spaces; those at the end that are empty are left out.
func lines(b []byte) (list []string) {
	for line := range bytes.Lines(bytes.TrimSpace(b)) {
		list = append(list, string(bytes.TrimRight(line, " \n")))
	}
	return list
}

func difference(theirs, ours []string) string {
	for i := range max(len(theirs), len(ours)) {
		a, b := "", ""
		if i < len(theirs) {
			a = theirs[i]
		}
		if i < len(ours) {
			b = ours[i]
		}
		if a != b {
			return fmt.Sprintf("line %d:\nreadelf %q\nours    %q", i, a, b)
		}
	}
	return "none"
}

func run(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.Bytes())
	}
	return out
}
