package arch_test

import (
	"testing"

	"dbg/arch"
)

// TestTables holds each architecture's table against itself: a slip of a line
// there would be a wrong register in every backtrace.
func TestTables(t *testing.T) {
	for _, a := range arch.All() {
		t.Run(a.Name, func(t *testing.T) {
			if arch.ByName(a.Name) != a {
				t.Error("ByName does not find it")
			}
			seen := map[string]arch.Reg{}
			for r := range arch.Reg(arch.MaxRegs) {
				n := a.RegName(r)
				if n == "" {
					continue
				}
				if old, dup := seen[n]; dup {
					t.Errorf("%s is %d and %d", n, old, r)
				}
				seen[n] = r
				if got, ok := a.RegByName(n); !ok || got != r {
					t.Errorf("RegByName(%s) is %d, %v; want %d", n, got, ok, r)
				}
			}
			for what, r := range map[string]arch.Reg{"PC": a.PC, "SP": a.SP, "FP": a.FP} {
				if a.RegName(r) == "" {
					t.Errorf("%s, %d, has no name", what, r)
				}
			}
			if a.LR != arch.NoReg && a.RegName(a.LR) == "" || a.Flags != arch.NoReg && a.RegName(a.Flags) == "" {
				t.Error("LR or Flags has no name")
			}
			general := arch.SetOf(a.General...)
			if general.Len() != len(a.General) {
				t.Error("General has a register twice")
			}
			for _, r := range append([]arch.Reg{a.PC, a.SP, a.FP}, a.General...) {
				if !general.Has(r) || a.RegName(r) == "" {
					t.Errorf("register %d: in General %v, name %q", r, general.Has(r), a.RegName(r))
				}
			}
			if a.CalleeSavedSet != arch.SetOf(a.CalleeSaved...) || a.CalleeSavedSet.Len() != len(a.CalleeSaved) {
				t.Error("CalleeSaved and its set differ")
			}
			for _, r := range a.CalleeSaved {
				if a.RegName(r) == "" || r == a.SP || r == a.PC {
					t.Errorf("callee-saved %d (%s)", r, a.RegName(r))
				}
			}
			if !a.CalleeSavedSet.Has(a.FP) {
				t.Error("the frame pointer is not callee-saved")
			}
			if len(a.Breakpoint) < a.MinInstr || len(a.Breakpoint) > a.MaxInstr || a.PtrSize != 4 && a.PtrSize != 8 {
				t.Error("sizes")
			}
		})
	}
}

// TestNumbers has register numbers as the ABIs print them.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		n    uint64
		name string
	}{
		{arch.AMD64, 0, "rax"}, {arch.AMD64, 1, "rdx"}, {arch.AMD64, 2, "rcx"}, {arch.AMD64, 3, "rbx"}, {arch.AMD64, 4, "rsi"},
		{arch.AMD64, 5, "rdi"}, {arch.AMD64, 6, "rbp"}, {arch.AMD64, 7, "rsp"}, {arch.AMD64, 15, "r15"}, {arch.AMD64, 16, "rip"},
		{arch.AMD64, 17, "xmm0"}, {arch.AMD64, 32, "xmm15"}, {arch.AMD64, 33, "st0"}, {arch.AMD64, 49, "eflags"}, {arch.AMD64, 58, "fs_base"},
		{arch.I386, 3, "ebx"}, {arch.I386, 4, "esp"}, {arch.I386, 8, "eip"}, {arch.I386, 21, "xmm0"},
		{arch.ARM64, 29, "x29"}, {arch.ARM64, 30, "x30"}, {arch.ARM64, 31, "sp"}, {arch.ARM64, 72, "v8"},
		{arch.ARM, 13, "sp"}, {arch.ARM, 14, "lr"}, {arch.ARM, 264, "d8"}, {arch.ARM, 287, "d31"},
		{arch.RISCV64, 1, "ra"}, {arch.RISCV64, 8, "s0"}, {arch.RISCV64, 18, "s2"}, {arch.RISCV64, 27, "s11"}, {arch.RISCV64, 63, "f31"},
	} {
		if r, ok := c.a.FromDWARF(c.n); !ok || c.a.RegName(r) != c.name {
			t.Errorf("%s: DWARF %d is %q, %v; want %q", c.a.Name, c.n, c.a.RegName(r), ok, c.name)
		}
	}
	for _, a := range arch.All() {
		for _, n := range []uint64{96, 255, 288, 1 << 40, 1<<64 - 1} {
			if r, ok := a.FromDWARF(n); ok {
				t.Errorf("%s: DWARF %d is %d", a.Name, n, r)
			}
		}
	}
}

func TestRegisters(t *testing.T) {
	r := arch.Registers{Arch: arch.AMD64}
	if _, known := r.PC(); known {
		t.Error("the zero value knows its PC")
	}
	r.Set(arch.RIP, 5)
	r.Set(arch.XMM0+50, 6)
	r.Set(arch.NoReg, 7)
	c := r
	r.Keep(arch.SetOf(arch.RIP))
	r.Forget(arch.NoReg)
	if v, known := r.PC(); v != 5 || !known {
		t.Errorf("%d, %v", v, known)
	}
	if _, known := r.Get(67); known {
		t.Error("Keep kept too much")
	}
	if v, known := c.Get(67); v != 6 || !known {
		t.Error("the copy shares")
	}
	c.Forget(67)
	if k := c.Known(); k.Len() != 1 || !k.Has(arch.RIP) || k.Has(arch.NoReg) {
		t.Errorf("%v", k)
	}
}
