package cfi_test

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/expr"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/target"
)

// assembled is a fixture from testdata/cfi: its table, and the addresses of its functions.
type assembled struct {
	*cfi.Table
	arch *arch.Arch
	at   map[string]uint64
}

func assemble(t *testing.T, compiler, source string) *assembled {
	t.Helper()
	fixture.Need(t, compiler)
	out := filepath.Join(t.TempDir(), "fixture.so")
	src := filepath.Join(fixture.Root(), "testdata/cfi", source)
	if msg, err := exec.Command(compiler, "-nostdlib", "-shared", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, source, err, msg)
	}
	eh, _ := configs(out)
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	a := &assembled{cfi.New(eh), eh.Arch, map[string]uint64{}}
	for _, s := range syms {
		a.at[s.Name] = s.Value
	}
	checkSweep(t, a.Table) // checks rows and hashes of EachRow
	return a
}

// rows returns the rows of a function, with addresses relative to its start.
func (a *assembled) rows(t *testing.T, name string) string {
	t.Helper()
	lo, ok := a.at[name]
	if !ok {
		t.Fatalf("no function %s", name)
	}
	f, ok := a.Find(lo)
	if !ok || f.Lo != lo {
		t.Fatalf("no entry for %s", name)
	}
	var lines []string
	for r, err := range a.Rows(f) {
		if err != nil {
			_, what, _ := strings.Cut(err.Error(), ": ")
			lines = append(lines, "error: "+what)
			break
		}
		_, rules, _ := strings.Cut(r.Format(a.arch), " ")
		signed := ""
		if r.Signed {
			signed = " signed"
		}
		if r.ArgsSize != 0 {
			signed += fmt.Sprintf(" args=%d", r.ArgsSize)
		}
		lines = append(lines, fmt.Sprintf("+%d %s%s", r.Lo-lo, rules, signed))
	}
	return strings.Join(lines, "\n")
}

// TestTortureRules has the lines of the torture list about instructions. The functions are in
// testdata/cfi/rules.s.
func TestTortureRules(t *testing.T) {
	a := assemble(t, "gcc", "rules.s")
	for _, c := range []struct{ name, function, want string }{
		{"remember/restore_state restoring the CFA too", "remember_cfa",
			"+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+16 rbp=c-16 ra=c-8\n+4 cfa=rbp+16 rbp=c-16 ra=c-8\n+5 cfa=rsp+8 ra=c-8\n+6 cfa=rbp+16 rbp=c-16 ra=c-8"},
		{"remember/restore_state nested", "remember_nested",
			"+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+16 rbx=c-16 ra=c-8\n+3 cfa=rsp+24 rbx=c-16 r12=c-24 ra=c-8\n+4 cfa=rsp+16 rbx=c-16 ra=c-8\n+5 cfa=rsp+8 ra=c-8"},
		{"remember/restore_state unbalanced: one restore too many", "remember_unbalanced",
			"+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+16 ra=c-8\nerror: DW_CFA_restore_state without DW_CFA_remember_state"},
		{"remember/restore_state unbalanced: never restored", "remember_unused",
			"+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+16 ra=c-8"},
		{"DW_CFA_restore restoring the CIE's rule (not undefined)", "restore_cie",
			"+0 cfa=rsp+8 rbx=c-16 ra=c-24\n+1 cfa=rsp+8 ra=c-8\n+2 cfa=rsp+8 rbx=u ra=c-8\n+3 cfa=rsp+8 ra=c-8"},
		{"explicitly undefined RA", "ra_undefined", "+0 cfa=rsp+8 ra=u"},
		{"DW_CFA_register for the RA", "ra_register", "+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+0 ra=r1"},
		{"expression versus val_expression", "expression", "+0 cfa=rsp+8 rbx=exp ra=c-8\n+1 cfa=rsp+8 rbx=vexp ra=c-8"},
		{"CFA expressions with indexed registers", "indexed", "+0 cfa=rsp+8 ra=c-8\n+1 cfa=exp ra=c-8\n+2 cfa=rsp+8 ra=c-8"},
		{"val_offset on SP, factored", "val_offset", "+0 cfa=rsp+8 rsp=v-16 ra=c-8\n+1 cfa=rsp+8 rsp=v+16 ra=c-8"},
		{"GNU_args_size", "args_size", "+0 cfa=rsp+8 ra=c-8\n+1 cfa=rsp+8 ra=c-8 args=144\n+2 cfa=rsp+8 ra=c-8 args=144"},
		{"GNU_negative_offset_extended", "negative_offset", "+0 cfa=rsp+8 rbx=c+16 ra=c-8"},
		{"offset_extended_sf", "offset_sf", "+0 cfa=rsp+8 rbx=c+16 ra=c-8\n+1 cfa=rsp+8 rbx=c-16 ra=c-8"},
		{"def_cfa_sf and def_cfa_offset_sf are factored", "cfa_sf", "+0 cfa=rsp+32 ra=c-8\n+1 cfa=rbp+16 ra=c-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := a.rows(t, c.function); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// fakeStack is memory in which the word at each address is that address plus 0x10.
type fakeStack struct{}

func (fakeStack) Word(a target.Addr, size int) (uint64, error) { return uint64(a) + 0x10, nil }

func (fakeStack) ReadMemory(a target.Addr, b []byte) (int, error) {
	for i := range b {
		b[i] = byte((uint64(a) + 0x10) >> (8 * i))
	}
	return len(b), nil
}

// TestTortureApplied applies rows of the same functions: it checks the meaning of a rule, not its
// text. RSP is 0x8000, R9 3, RDX 0x1234.
func TestTortureApplied(t *testing.T) {
	a := assemble(t, "gcc", "rules.s")
	for _, c := range []struct {
		name, function string
		at             uint64
		cfa, pc, sp    uint64
		rbx            uint64
		end            bool
	}{
		{name: "expression", function: "expression", cfa: 0x8008, pc: 0x8010, sp: 0x8008, rbx: 0x8020},
		{name: "val_expression", function: "expression", at: 1, cfa: 0x8008, pc: 0x8010, sp: 0x8008, rbx: 0x8010},
		{name: "CFA expressions with indexed registers", function: "indexed", at: 1, cfa: 0x8038, pc: 0x8040, sp: 0x8038, rbx: 7},
		{name: "val_offset on SP, factored", function: "val_offset", cfa: 0x8008, pc: 0x8010, sp: 0x7ff8, rbx: 7},
		{name: "val_offset_sf on SP", function: "val_offset", at: 1, cfa: 0x8008, pc: 0x8010, sp: 0x8018, rbx: 7},
		{name: "DW_CFA_register for the RA", function: "ra_register", at: 1, cfa: 0x8000, pc: 0x1234, sp: 0x8000, rbx: 7},
		{name: "explicitly undefined RA ends the walk", function: "ra_undefined", cfa: 0x8008, end: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r row.Row
			if err := a.RowAt(a.at[c.function]+c.at, &r); err != nil {
				t.Fatal(err)
			}
			regs := &arch.Registers{Arch: arch.AMD64}
			for reg, v := range map[arch.Reg]uint64{arch.RSP: 0x8000, arch.R9: 3, arch.RDX: 0x1234, arch.RBX: 7} {
				regs.Set(reg, v)
			}
			env := row.Env{Arch: arch.AMD64, Regs: regs, Mem: fakeStack{}, Expr: &expr.Context{Mem: fakeStack{}}}
			var caller row.Caller
			if err := row.Apply(&r, &env, &caller); err != nil {
				t.Fatal(err)
			}
			if caller.CFA != c.cfa || caller.End != c.end {
				t.Errorf("CFA 0x%x, end %v; want 0x%x, %v", caller.CFA, caller.End, c.cfa, c.end)
			}
			if c.end {
				return
			}
			caller.Commit(regs, &row.Places{})
			rbx, _ := regs.Get(arch.RBX)
			if caller.PC != c.pc || caller.SP != c.sp || rbx != c.rbx {
				t.Errorf("PC 0x%x, SP 0x%x, RBX 0x%x; want 0x%x, 0x%x, 0x%x", caller.PC, caller.SP, rbx, c.pc, c.sp, c.rbx)
			}
		})
	}
	t.Run("absent RA rule", func(t *testing.T) {
		// Unspecified, not undefined: an error where calls push the return address, and the link
		// register elsewhere.
		for _, m := range []struct {
			a    *arch.Arch
			cie  []byte
			want string
		}{
			{arch.AMD64, []byte{1, 0, 1, 0x78, 16, 0x0c, 7, 8}, "the unwind row has no rule for the return address"},
			{arch.ARM64, []byte{1, 0, 4, 0x78, 30, 0x0c, 31, 0}, ""},
		} {
			b := &builder{a: m.a}
			b.fde(b.cie(m.cie...), 0x1000, 0x10)
			var r row.Row
			if err := b.table().RowAt(0x1000, &r); err != nil || r.Rule(r.RA).Kind != row.Unspecified {
				t.Fatalf("%s: %v, RA is %s", m.a.Name, err, r.Rule(r.RA))
			}
			regs := &arch.Registers{Arch: m.a}
			regs.Set(m.a.SP, 0x8000)
			regs.Set(30, 0x4444)
			env := row.Env{Arch: m.a, Regs: regs, Mem: fakeStack{}, Expr: &expr.Context{Mem: fakeStack{}}}
			var caller row.Caller
			err := row.Apply(&r, &env, &caller)
			if m.want == "" && (err != nil || caller.End || caller.PC != 0x4444) {
				t.Errorf("%s: PC 0x%x, end %v, %v", m.a.Name, caller.PC, caller.End, err)
			}
			if m.want != "" && (err == nil || err.Error() != m.want) {
				t.Errorf("%s: %v", m.a.Name, err)
			}
		}
	})
}

// TestTortureARM64 uses testdata/cfi/arm64.s.
func TestTortureARM64(t *testing.T) {
	a := assemble(t, "aarch64-linux-gnu-gcc", "arm64.s")
	for _, c := range []struct{ name, function, want string }{
		{"AArch64 negate_ra_state", "signed",
			"+0 cfa=sp+0\n+4 cfa=sp+0 signed\n+8 cfa=sp+16 x29=c-16 ra=c-8 signed\n+12 cfa=sp+0 signed\n+16 cfa=sp+0\n+20 cfa=sp+16 x29=c-16 ra=c-8 signed"},
		{"advance_loc with code alignment 4", "far", "+0 cfa=sp+0\n+400 cfa=sp+16\n+4400 cfa=sp+32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := a.rows(t, c.function); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Run("augmentation B", func(t *testing.T) {
		for name, want := range map[string]bool{"keyb": true, "signed": false} {
			if f, ok := a.Find(a.at[name]); !ok || f.CIE.BKey != want {
				t.Errorf("%s: %v, key B: %v", name, ok, f.CIE.BKey)
			}
		}
	})
	t.Run("augmentation G", func(t *testing.T) {
		b := &builder{a: arch.ARM64}
		b.fde(b.cie(1, 'z', 'R', 'G', 0, 4, 0x78, 30, 1, 0x00, 0x0c, 31, 0), 0x1000, 0x10, 0)
		if f, ok := b.table().Find(0x1000); !ok || !f.CIE.MTE || f.CIE.BKey {
			t.Errorf("%v %+v", ok, f.CIE)
		}
	})
	t.Run("negate_ra_state_with_pc", func(t *testing.T) {
		b := &builder{a: arch.ARM64}
		b.fde(b.cie(1, 0, 4, 0x78, 30, 0x0c, 31, 0), 0x1000, 0x10, 0x2c, 0x41, 0x2c)
		table := b.table()
		for pc, want := range map[uint64]bool{0x1000: true, 0x1004: false} {
			var r row.Row
			if err := table.RowAt(pc, &r); err != nil || r.Signed != want {
				t.Errorf("0x%x: signed %v, %v", pc, r.Signed, err)
			}
		}
	})
}
