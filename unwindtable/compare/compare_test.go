package compare

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames/module"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// compareTables opens a file and compares two tables.
func compareTables(t *testing.T, path, a, b string) (*Summary, []Difference) {
	t.Helper()
	sum, list, err := tryTables(t, path, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return sum, list
}

// tryTables is compareTables for files that may have lost a table.
func tryTables(t *testing.T, path, a, b string) (sum *Summary, list []Difference, err error) {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	f, err := Open(img)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err = Run(context.Background(), f, a, b, func(d *Difference) error {
		list = append(list, *d)
		return nil
	})
	return sum, list, err
}

// TestGo: a Go program has two tables of different makers. They disagree only about the functions in which stacks
// begin, whose return address Go's table has as undefined.
func TestGo(t *testing.T) {
	exe := fixture.Build(t, "check/routines.go")
	sum, list := compareTables(t, exe, ".debug_frame", "gopclntab")
	if sum.OutOfOrder != nil || sum.Compared < 400_000 || sum.Functions < 1000 || sum.Broken != 0 {
		t.Errorf("%+v", sum)
	}
	for _, d := range list {
		outermost := false
		for _, i := range d.Items {
			outermost = outermost || i.What == "ra" && i.B == "u"
		}
		if d.Class == Conflict && !outermost {
			t.Errorf("0x%x..0x%x of the function at 0x%x: %v", d.Lo, d.Hi, d.Function, d.Items)
		}
	}
	if sum.Disagreeing == 0 || sum.Disagreeing > 10 {
		t.Errorf("%d functions disagree", sum.Disagreeing)
	}
}

// TestCalls: a table of ARM's exceptions is compared at calls. At any instruction, it would be wrong.
func TestCalls(t *testing.T) {
	for _, mode := range []string{"-marm", "-mthumb"} {
		fixture.Need(t, "arm-linux-gnueabihf-gcc")
		exe := fixture.Build(t, "unwind/armcalls.c", "cc=arm-linux-gnueabihf-gcc", mode, "-g", "-O2", "-static", "-funwind-tables")
		sum, list := compareTables(t, exe, ".debug_frame", "exidx")
		if !sum.AtCallsOnly || sum.Compared < 5 || sum.Conflict+sum.Broken != 0 {
			t.Errorf("%s: %+v %+v", mode, sum, list)
		}
		// A copy whose .ARM.exidx has one more word on the stack in each inline entry.
		wrong := patched(t, exe, func(f *image.File, text []byte) {
			s, _ := f.ExceptionIndex()
			for i := uint64(4); i+4 <= s.Size; i += 8 {
				if w := text[s.Offset+i:]; w[3] == 0x80 && w[2] < 0x20 {
					w[2]++ // vsp += 4 more
				}
			}
		})
		if sum, _ := compareTables(t, wrong, ".debug_frame", "exidx"); sum.Conflict == 0 {
			t.Errorf("%s: a wrong table agrees: %+v", mode, sum)
		}
	}
}

// patched makes a copy of a file that is changed.
func patched(t *testing.T, path string, change func(f *image.File, text []byte)) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	change(f, text)
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(out, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRules: the class of each kind of difference.
func TestRules(t *testing.T) {
	const rbx, rcx = arch.RBX, arch.RCX
	cfi := func(cfa row.Rule, rules ...row.RegRule) *row.Row {
		return &row.Row{CFA: cfa, Regs: append(rules, row.RegRule{Reg: arch.RIP, Rule: row.Rule{Kind: row.At, N: -8}}), RA: arch.RIP}
	}
	sp := func(n int64) row.Rule { return row.Rule{Kind: row.InReg, Reg: arch.RSP, N: n} }
	at := func(reg arch.Reg, n int64) row.RegRule {
		return row.RegRule{Reg: reg, Rule: row.Rule{Kind: row.At, N: n}}
	}
	gone := func(reg arch.Reg) row.RegRule { return row.RegRule{Reg: reg, Rule: row.Rule{Kind: row.Undefined}} }
	for name, c := range map[string]struct {
		a, b *row.Row
		want string
	}{
		"equal":                         {cfi(sp(8)), cfi(sp(8)), ""},
		"another CFA":                   {cfi(sp(8)), cfi(sp(16)), "conflict cfa rsp+8 | rsp+16"},
		"by another register":           {cfi(sp(16)), cfi(row.Rule{Kind: row.InReg, Reg: arch.RBP, N: 16}), "either cfa rsp+16 | rbp+16"},
		"by an expression":              {cfi(sp(16)), cfi(row.Rule{Kind: row.ValExpr, Expr: []byte{0x77, 8}}), "either cfa rsp+16 | exp"},
		"saved elsewhere":               {cfi(sp(16), at(rbx, -16)), cfi(sp(16), at(rbx, -24)), "conflict rbx c-16 | c-24"},
		"saved and unchanged":           {cfi(sp(16), at(rbx, -16)), cfi(sp(16)), "either rbx c-16 | s"},
		"saved and lost":                {cfi(sp(16), at(rbx, -16)), cfi(sp(16), gone(rbx)), "conflict rbx c-16 | u"},
		"a register that nobody keeps":  {cfi(sp(16), at(rcx, -16)), cfi(sp(16)), ""},
		"no return address":             {cfi(sp(8)), &row.Row{CFA: sp(8), RA: arch.RIP, Regs: []row.RegRule{gone(arch.RIP)}}, "conflict ra c-8 | u"},
		"a return address by no column": {cfi(sp(8)), &row.Row{CFA: sp(8), RA: arch.RIP}, "either ra c-8 | rip"},
	} {
		m := module.New(module.Contents{EHFrame: module.Section{Data: make([]byte, 8)}})
		s := side{m.Sources(arch.AMD64)[0], arch.AMD64}
		p := &pair{a: s, b: s}
		var got []string
		for _, i := range p.compare(nil, c.a, c.b) {
			got = append(got, i.Class.String()+" "+i.What+" "+i.A+" | "+i.B)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestStops: an error of the caller ends the comparison, and so does the end of its context.
func TestStops(t *testing.T) {
	exe := fixture.Build(t, "check/routines.go")
	img, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	f, err := Open(img)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enough := errors.New("enough")
	if _, err := Run(context.Background(), f, "debug_frame", "gopclntab", func(*Difference) error { return enough }); err != enough {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, f, "debug_frame", "gopclntab", func(*Difference) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDamaged: tables with bytes that were changed at random are compared to the end, without a panic.
func TestDamaged(t *testing.T) {
	fixture.Need(t, "arm-linux-gnueabihf-gcc")
	exe := fixture.Build(t, "unwind/armcalls.c", "cc=arm-linux-gnueabihf-gcc", "-marm", "-g", "-O2", "-static", "-funwind-tables")
	random := rand.New(rand.NewPCG(19, 1))
	differ := 0
	for range 60 {
		damaged := patched(t, exe, func(f *image.File, text []byte) {
			for _, name := range []string{".debug_frame", ".ARM.exidx", ".ARM.extab"} {
				s, ok := f.Section(name)
				if !ok {
					t.Fatalf("no section %s", name)
				}
				for range 1 + random.IntN(3) {
					text[s.Offset+random.Uint64N(min(s.Size, 512))] = byte(random.Uint32())
				}
			}
		})
		sum, list, err := tryTables(t, damaged, ".debug_frame", "exidx")
		if err != nil {
			if !strings.Contains(err.Error(), "it has no table .debug_frame") {
				t.Error(err)
			}
			continue
		}
		if differ += len(list); sum.Both > sum.InA || sum.Both > sum.InB || sum.Compared > sum.Both {
			t.Errorf("%+v", sum)
		}
	}
	if differ == 0 {
		t.Error("no damage was noticed")
	}
}
