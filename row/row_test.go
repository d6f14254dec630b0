package row_test

import (
	"errors"
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/row"
	"dbg/target"
)

// words has the word at each address equal to the address plus one, up to 0x10000.
type words struct{}

func (words) Word(a target.Addr, size int) (uint64, error) {
	if a >= 0x10000 {
		return 0, &target.MemoryError{Addr: a}
	}
	return uint64(a) + 1, nil
}

func (words) ReadMemory(a target.Addr, b []byte) (int, error) {
	if a >= 0x10000 {
		return 0, &target.MemoryError{Addr: a}
	}
	clear(b)
	b[0], b[1] = byte(a+1), byte((a+1)>>8)
	return len(b), nil
}

func apply(a *arch.Arch, r *row.Row, regs *arch.Registers) (*row.Caller, *row.Places, error) {
	var c row.Caller
	p := &row.Places{Live: regs.Known()}
	env := row.Env{Arch: a, Regs: regs, Mem: words{}, Expr: &expr.Context{Mem: words{}}}
	err := row.Apply(r, &env, &c)
	if err == nil && !c.End {
		c.Commit(regs, p)
	}
	return &c, p, err
}

func registers(a *arch.Arch) *arch.Registers {
	regs := &arch.Registers{Arch: a}
	for r := range arch.Reg(34) {
		regs.Set(r, 0x1000+uint64(r)*0x100)
	}
	return regs
}

// base is CFA=rsp+8, RA at c-8.
func base(extra ...row.RegRule) *row.Row {
	r := &row.Row{CFA: row.Rule{Kind: row.InReg, Reg: arch.RSP, N: 8}, RA: arch.RIP,
		Regs: []row.RegRule{{Reg: arch.RIP, Rule: row.Rule{Kind: row.At, N: -8}}}}
	for _, e := range extra {
		r.Set(e.Reg, e.Rule)
	}
	return r
}

const cfa = 0x1708 // rsp is 0x1700

func TestApply(t *testing.T) {
	lit := []byte{0x23, 0x10} // CFA (pushed before) + 16
	for _, c := range []struct {
		name  string
		reg   arch.Reg
		rule  row.Rule
		want  uint64
		known bool
		place row.Places
	}{
		{name: "unspecified, callee-saved", reg: arch.RBX, want: 0x1300, known: true, place: row.Places{Live: arch.SetOf(arch.RBX)}},
		{name: "unspecified, caller-saved", reg: arch.RAX},
		{name: "same value of a caller-saved", reg: arch.RAX, rule: row.Rule{Kind: row.Same}, want: 0x1000, known: true, place: row.Places{Live: arch.SetOf(arch.RAX)}},
		{name: "undefined callee-saved", reg: arch.RBX, rule: row.Rule{Kind: row.Undefined}},
		{name: "offset", reg: arch.RBX, rule: row.Rule{Kind: row.At, N: -16}, want: cfa - 16 + 1, known: true, place: row.Places{InMemory: arch.SetOf(arch.RBX)}},
		{name: "val_offset", reg: arch.RBX, rule: row.Rule{Kind: row.Val, N: -16}, want: cfa - 16, known: true},
		{name: "register", reg: arch.RBX, rule: row.Rule{Kind: row.InReg, Reg: arch.RDI}, want: 0x1500, known: true},
		{name: "expression", reg: arch.RBX, rule: row.Rule{Kind: row.AtExpr, Expr: lit}, want: cfa + 17, known: true, place: row.Places{InMemory: arch.SetOf(arch.RBX)}},
		{name: "val_expression", reg: arch.RBX, rule: row.Rule{Kind: row.ValExpr, Expr: lit}, want: cfa + 16, known: true},
		{name: "sp is the CFA", reg: arch.RSP, want: cfa, known: true},
		{name: "sp by val_offset", reg: arch.RSP, rule: row.Rule{Kind: row.Val, N: 16}, want: cfa + 16, known: true},
		{name: "unreadable is unknown", reg: arch.RBX, rule: row.Rule{Kind: row.At, N: 0x100000}},
		{name: "bad expression is unknown", reg: arch.RBX, rule: row.Rule{Kind: row.ValExpr, Expr: []byte{1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			regs := registers(arch.AMD64)
			_, places, err := apply(arch.AMD64, base(row.RegRule{Reg: c.reg, Rule: c.rule}), regs)
			if err != nil {
				t.Fatal(err)
			}
			if v, known := regs.Get(c.reg); v != c.want || known != c.known {
				t.Errorf("got 0x%x, %v; want 0x%x, %v", v, known, c.want, c.known)
			}
			if places.Live.Has(c.reg) != c.place.Live.Has(c.reg) || places.InMemory.Has(c.reg) != c.place.InMemory.Has(c.reg) {
				t.Errorf("live %v, in memory %v", places.Live.Has(c.reg), places.InMemory.Has(c.reg))
			}
			if pc, _ := regs.PC(); pc != cfa-8+1 {
				t.Errorf("pc 0x%x", pc)
			}
		})
	}
}

func TestReturnAddress(t *testing.T) {
	ra := func(k row.Rule) *row.Row { return base(row.RegRule{Reg: arch.RIP, Rule: k}) }
	if c, _, err := apply(arch.AMD64, ra(row.Rule{Kind: row.Undefined}), registers(arch.AMD64)); err != nil || !c.End {
		t.Errorf("undefined: %v, %v", c.End, err)
	}
	if _, _, err := apply(arch.AMD64, ra(row.Rule{}), registers(arch.AMD64)); err != row.ErrNoReturn {
		t.Errorf("absent: %v", err)
	}
	if c, _, err := apply(arch.AMD64, ra(row.Rule{Kind: row.InReg, Reg: arch.RDX}), registers(arch.AMD64)); err != nil || c.PC != 0x1100 {
		t.Errorf("register: 0x%x, %v", c.PC, err)
	}
	var m *target.MemoryError
	if _, _, err := apply(arch.AMD64, ra(row.Rule{Kind: row.At, N: 0x100000}), registers(arch.AMD64)); !errors.As(err, &m) {
		t.Errorf("unreadable: %v", err)
	}
	regs := registers(arch.AMD64)
	regs.Forget(arch.RSP)
	var n *row.NotKnownError
	if _, _, err := apply(arch.AMD64, base(), regs); !errors.As(err, &n) || n.Reg != "rsp" {
		t.Errorf("CFA register not known: %v", err)
	}
	// arm64: absent means the link register, without its signature.
	regs = registers(arch.ARM64)
	regs.Set(30, 0x00aa_0000_0000_4444)
	leaf := &row.Row{CFA: row.Rule{Kind: row.InReg, Reg: arch.ARM64.SP}, RA: 30}
	if c, _, err := apply(arch.ARM64, leaf, regs); err != nil || c.PC != 0xffff_0000_0000_4444 && c.PC != 0x4444 {
		t.Errorf("leaf: 0x%x, %v", c.PC, err)
	}
	if got := row.StripPAC(0x002a_0000_0000_4444); got != 0x4444 {
		t.Errorf("0x%x", got)
	}
	if got := row.StripPAC(0x00aa_8000_0000_4444); got != 0xffff_8000_0000_4444 {
		t.Errorf("0x%x", got)
	}
	// 386: addresses wrap.
	regs = registers(arch.I386)
	regs.Set(4, 0xfffffffc)
	wrap := &row.Row{CFA: row.Rule{Kind: row.InReg, Reg: 4, N: 8}, RA: 8, Regs: []row.RegRule{{Reg: 8, Rule: row.Rule{Kind: row.At, N: 0}}}}
	if c, _, err := apply(arch.I386, wrap, regs); err != nil || c.CFA != 4 || c.PC != 5 {
		t.Errorf("wrap: %+v, %v", c.CFA, err)
	}
}

// Rules that exchange registers see the callee's values, all of them.
func TestSimultaneous(t *testing.T) {
	regs := registers(arch.AMD64)
	_, _, err := apply(arch.AMD64, base(
		row.RegRule{Reg: arch.RBX, Rule: row.Rule{Kind: row.InReg, Reg: arch.R12}},
		row.RegRule{Reg: arch.R12, Rule: row.Rule{Kind: row.InReg, Reg: arch.RBX}}), regs)
	bx, _ := regs.Get(arch.RBX)
	r12, _ := regs.Get(arch.R12)
	if err != nil || bx != 0x1c00 || r12 != 0x1300 {
		t.Errorf("%v: 0x%x 0x%x", err, bx, r12)
	}
}

func TestStrings(t *testing.T) {
	r := base(row.RegRule{Reg: arch.RBP, Rule: row.Rule{Kind: row.At, N: -16}}, row.RegRule{Reg: arch.RBX, Rule: row.Rule{Kind: row.ValExpr, Expr: []byte{0x77, 8}}})
	if got, want := r.Format(arch.AMD64), "0000000000000000 cfa=rsp+8 rbx=vexp rbp=c-16 ra=c-8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for rule, want := range map[string]string{
		row.Rule{Kind: row.Undefined}.String(): "u", row.Rule{Kind: row.Same}.String(): "s", row.Rule{Kind: row.Val, N: 8}.String(): "v+8",
		row.Rule{Kind: row.InReg, Reg: 5}.String(): "r5", row.Rule{Kind: row.AtExpr}.String(): "exp", row.Rule{}.String(): "",
		r.Rule(arch.RBX).Explain(arch.AMD64): "is breg7 (rsp) +8",
	} {
		if rule != want {
			t.Errorf("%q, want %q", rule, want)
		}
	}
}
