package follow

import (
	"os"
	"testing"

	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
	"dbg/frames/module"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// agreement counts what the code from functions' starts says of instructions, beside what tables say.
type agreement struct {
	all, differ        int // by one register
	byJump, jumpsWrong int // of these: where only jumps through tables lead
	other              int // not comparable
	takenBack          int
}

// TestForwardAgreesWithTables holds what the code from each function's start says of each of its instructions against the table.
func TestForwardAgreesWithTables(t *testing.T) {
	for _, c := range []struct {
		arch   *arch.Arch
		path   string
		byJump int     // at least
		differ float64 // share, at most: calls that do not return (i386 pushes their arguments), tables that are wrong
	}{
		{arch.AMD64, "/lib/x86_64-linux-gnu/libc.so.6", 2000, 0.0002},
		{arch.ARM64, "/usr/aarch64-linux-gnu/lib/libc.so.6", 100, 0},
		{arch.I386, "/usr/i686-linux-gnu/lib/libc.so.6", 1400, 0.002},
		{arch.RISCV64, "/usr/riscv64-linux-gnu/lib/libc.so.6", 800, 0},
	} {
		t.Run(c.arch.Name, func(t *testing.T) {
			if _, err := os.Stat(c.path); err != nil {
				fixture.Missing(t, err.Error())
			}
			f, err := image.Open(c.path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var n agreement
			m := module.Of(f, nil)
			r := Reader{Arch: c.arch, Memory: nothing{}, File: m}
			for _, s := range f.Symbols() {
				if lo := uint64(s.Addr); s.Kind == image.Func && s.Size >= 16 && m.CodeAt(lo, int(s.Size)) != nil {
					n.function(t, r, m, s.Name, lo, lo+s.Size)
				}
			}
			t.Logf("%+v", n)
			if n.byJump < c.byJump || n.jumpsWrong > 0 || float64(n.differ) > c.differ*float64(n.all) || n.all == 0 {
				t.Errorf("%+v", n)
			}
		})
	}
}

func (n *agreement) function(t *testing.T, from Reader, m *module.Module, name string, lo, hi uint64) {
	var r row.Row
	a := from.Arch
	list := m.Sources(a)
	if len(list) == 0 || list[0].RowAt(lo, &r) != nil || !flow.IsEntry(a, &r) {
		return
	}
	f := newForward(from, lo, lo, hi)
	f.ruleAt(hi)
	for pc, at := range f.reached {
		text := m.CodeAt(pc, 1)
		for more := 16; more > 1 && len(text) < 2; more /= 2 {
			text = m.CodeAt(pc, more)
		}
		switch {
		case at.rule == notReached:
			n.takenBack++
			continue
		case at.rule.Why != "" || list[0].RowAt(pc, &r) != nil || r.CFA.Kind != row.InReg || code.Padding(a, text) > 0:
			continue
		}
		p := at.rule.CFA
		if at.rule.Other.Base == r.CFA.Reg {
			p = at.rule.Other
		}
		if p.Base != r.CFA.Reg || p.Through {
			n.other++
			continue
		}
		n.all++
		if at.led {
			n.byJump++
		}
		if p.Off == r.CFA.N {
			continue
		}
		n.differ++
		if at.led {
			n.jumpsWrong++
			t.Logf("%s 0x%x: the code says %d, the table %d (%s)", name, pc, p.Off, r.CFA.N, a.RegName(p.Base))
		}
	}
}
