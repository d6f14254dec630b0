package compact_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
	"dbg/row"
	"dbg/row/compiled"
)

// Opcodes of every kind at random, all to rows and back.
func TestOpcodes(t *testing.T) {
	for _, a := range []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64} {
		r := random(uint64(len(a.Name)))
		for range 20000 {
			checkOpcode(t, r, a, randomOpcode(r, a))
		}
	}
}

// Every order of every number of registers, x86-64 and i386.
func TestPermutations(t *testing.T) {
	for _, a := range []*arch.Arch{arch.AMD64, arch.I386} {
		regs := []string{"rbx", "r12", "r13", "r14", "r15", "rbp"}
		if a == arch.I386 {
			regs = []string{"ebx", "ecx", "edx", "edi", "esi", "ebp"}
		}
		count := 0
		var try func(order []int)
		try = func(order []int) {
			count++
			op := compact.Opcode(2<<24 | 20<<16 | uint32(len(order))<<10 | encodePermutation(order))
			b, err := op.Decode(a)
			if err != nil {
				t.Fatalf("%v of %s: %v", order, a.Name, err)
			}
			saved := b.Saved()[1:]
			if len(saved) != len(order) {
				t.Fatalf("%v of %s: saved %v", order, a.Name, saved)
			}
			for i, k := range order {
				at := -int64(a.PtrSize) * int64(1+len(order)-i)
				if a.RegName(saved[i].Reg) != regs[k] || saved[i].At != at {
					t.Fatalf("%v of %s: register %d is %s at %d, want %s at %d", order, a.Name, i, a.RegName(saved[i].Reg), saved[i].At, regs[k], at)
				}
			}
			for k := range 6 {
				used := false
				for _, o := range order {
					used = used || o == k
				}
				if !used && len(order) < 6 {
					try(append(append([]int(nil), order...), k))
				}
			}
		}
		try(nil)
		if count != 1+6+30+120+360+720+720 {
			t.Errorf("%d orders", count)
		}
		// And no other number means anything.
		valid := 0
		for n := range 8 {
			for p := range 1024 {
				if _, err := compact.Opcode(2<<24 | 20<<16 | n<<10 | p).Decode(a); err == nil {
					valid++
				}
			}
		}
		if valid != count+720 { // a count of 7 is 6
			t.Errorf("%d valid numbers, want %d", valid, count+720)
		}
	}
}

func checkOpcode(t *testing.T, r *rand.Rand, a *arch.Arch, d described) {
	t.Helper()
	sub := int64(1000 + 8*r.IntN(1<<20))
	const lo = 0x5000
	code := func(addr uint64, n int) []byte {
		b := []byte{0x48, 0x81, 0xec}
		if a == arch.I386 {
			b = b[1:]
		}
		if addr+uint64(len(b)) != lo+d.at {
			t.Fatalf("opcode %#x: code at %#x is read, want that before %#x", d.op, addr, lo+d.at)
		}
		return binary.LittleEndian.AppendUint32(b, uint32(sub))[:n]
	}
	tab, err := compact.New(compact.Config{Arch: a, Data: (&section{}).encode(), Code: code})
	if err != nil {
		t.Fatal(err)
	}
	op := compact.Opcode(d.op)
	e := compact.Entry{Lo: lo, Hi: lo + 100, Opcode: op | compact.Opcode(r.IntN(8))<<28, Offset: 44}
	e.Opcode &^= opContinue
	if k := op.Kind(a); k != d.kind {
		t.Fatalf("opcode %#x of %s: kind %v, want %v", d.op, a.Name, k, d.kind)
	}
	var w row.Row
	err = tab.Row(&e, &w)
	_, err2 := tab.Rows().Row(&e)
	var dwarf, dwarf2 *compact.ErrDWARF
	switch d.kind {
	case compact.None:
		if err != compact.ErrNone || err2 != compact.ErrNone {
			t.Fatalf("opcode %#x: %v, %v", d.op, err, err2)
		}
		return
	case compact.DWARF:
		if !errors.As(err, &dwarf) || dwarf.FDE != d.fde || !errors.As(err2, &dwarf2) || dwarf2.FDE != d.fde {
			t.Fatalf("opcode %#x of %s: %v, %v; want FDE %#x", d.op, a.Name, err, err2, d.fde)
		}
		return
	}
	if err != nil || err2 != nil {
		t.Fatalf("opcode %#x of %s: %v, %v", d.op, a.Name, err, err2)
	}
	want := row.Rule{Kind: row.InReg, Reg: a.SP, N: d.size}
	if d.kind == compact.Frame {
		want.Reg = a.FP
	}
	if d.kind == compact.FramelessIndirect {
		want.N += sub
	}
	ra := a.LR
	if ra == arch.NoReg {
		ra = a.PC
	}
	if w.CFA.Kind != want.Kind || w.CFA.Reg != want.Reg || w.CFA.N != want.N || w.RA != ra || w.Lo != e.Lo || w.Hi != e.Hi || w.Source != 44 || w.Signed || w.Signal {
		t.Fatalf("opcode %#x of %s: %s, return address in %d; want CFA %s+%d", d.op, a.Name, w.Format(a), w.RA, a.RegName(want.Reg), want.N)
	}
	if len(w.Regs) != len(d.saved) {
		t.Fatalf("opcode %#x of %s: %s; want %v", d.op, a.Name, w.Format(a), d.saved)
	}
	for reg, at := range d.saved {
		if rule := w.Rule(reg); rule.Kind != row.At || rule.N != at {
			t.Fatalf("opcode %#x of %s: %s; want %s at CFA%+d", d.op, a.Name, w.Format(a), a.RegName(reg), at)
		}
	}
}

func TestOpcodeStrings(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		op   compact.Opcode
		want string
	}{
		{arch.AMD64, 0, "none"},
		{arch.AMD64, 0x010558d1, "frame: CFA=rbp+16, rip at CFA-8, rbp at CFA-16, rbx at CFA-56, r12 at CFA-48, r13 at CFA-40, r14 at CFA-32, r15 at CFA-24"},
		{arch.AMD64, 0x51020021, "frame: CFA=rbp+16, rip at CFA-8, rbp at CFA-16, rbx at CFA-32, r14 at CFA-24, personality 1, LSDA"},
		{arch.AMD64, 0x82020400, "frameless: CFA=rsp+16, rip at CFA-8, rbx at CFA-16, not a function start"},
		{arch.AMD64, 0x03082000, "frameless: CFA=rsp+8+[function+8], rip at CFA-8"},
		{arch.AMD64, 0x04000120, "DWARF: __eh_frame+0x120"},
		{arch.AMD64, 0x07000000, "opcode 0x07000000: kind 7 of amd64 is unknown"},
		{arch.AMD64, 0x00000001, "opcode 0x00000001: kind 0 of amd64 is unknown"},
		{arch.AMD64, 0x01010006, "opcode 0x01010006: rbp is saved at the frame pointer, not with the other registers"},
		{arch.AMD64, 0x01020009, "opcode 0x01020009: rbx is saved twice"},
		{arch.AMD64, 0x01000001, "opcode 0x01000001: rbx is saved above the frame pointer"},
		{arch.AMD64, 0x01010008, "opcode 0x01010008: rbx is saved above the frame pointer"},
		{arch.AMD64, 0x02010400, "opcode 0x02010400: a frame of 8 bytes has no room for the return address and 1 registers"},
		{arch.AMD64, 0x02000000, "opcode 0x02000000: a frame of 0 bytes has no room for the return address and 0 registers"},
		{arch.AMD64, 0x020f1ad0, "opcode 0x020f1ad0: 720 is not a valid permutation of 6 registers"},
		{arch.AMD64, 0x020f0001, "opcode 0x020f0001: 1 is not a valid permutation of 0 registers"},
		{arch.I386, 0x01030005 | 1<<3, "frame: CFA=ebp+8, eip at CFA-4, ebp at CFA-8, esi at CFA-20, ebx at CFA-16"},
		{arch.ARM64, 0, "none"},
		{arch.ARM64, 0x04000101, "frame: CFA=x29+16, x30 at CFA-8, x29 at CFA-16, x19 at CFA-24, x20 at CFA-32, v8 at CFA-40, v9 at CFA-48"},
		{arch.ARM64, 0x02002003, "frameless: CFA=sp+32, x19 at CFA-8, x20 at CFA-16, x21 at CFA-24, x22 at CFA-32"},
		{arch.ARM64, 0x02001003, "opcode 0x02001003: a frame of 16 bytes has no room for 4 registers"},
		{arch.ARM64, 0x04000020, "opcode 0x04000020: the meaning of bits 5..7 is unknown"},
		{arch.ARM64, 0x01000000, "opcode 0x01000000: kind 1 of arm64 is unknown"},
		{arch.ARM64, 0x03000120, "DWARF: __eh_frame+0x120"},
		{arch.RISCV64, 0x01000000, "opcode 0x01000000: kind 1 of riscv64 is unknown"},
	} {
		if got := c.op.String(c.a); got != c.want {
			t.Errorf("%s: %q\nwant %q", c.a.Name, got, c.want)
		}
	}
}

// The size of a frame that only the code says.
func TestIndirectErrors(t *testing.T) {
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		op   uint32
		code []byte
		want string
	}{
		"other instruction": {0x03072000, le.AppendUint32([]byte{0x48, 0x81, 0xc4}, 4096), `no "sub" from the stack pointer`},
		"unreadable":        {0x03072000, nil, "can't be read"},
		"short":             {0x03072000, []byte{0x48, 0x81, 0xec, 1, 2, 3}, "can't be read"},
		"before the code":   {0x03022000, le.AppendUint32([]byte{0x48, 0x81, 0xec}, 4096), "can't be read"},
		"negative":          {0x03072000, le.AppendUint32([]byte{0x48, 0x81, 0xec}, 1<<31), "no room"},
		"too small":         {0x03072400, le.AppendUint32([]byte{0x48, 0x81, 0xec}, 4), "no room"},
	} {
		t.Run(name, func(t *testing.T) {
			tab, err := compact.New(compact.Config{Arch: arch.AMD64, Data: (&section{}).encode(),
				Code: func(addr uint64, n int) []byte { return c.code }})
			if err != nil {
				t.Fatal(err)
			}
			var w row.Row
			err = tab.Row(&compact.Entry{Lo: 0x100, Hi: 0x200, Opcode: compact.Opcode(c.op), Offset: 0x66}, &w)
			var d *compact.Error
			if !errors.As(err, &d) || !strings.Contains(err.Error(), c.want) || d.Offset != 0x66 {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Entries of one opcode share one rule; those that differ in more than LSDA and personality don't.
func TestRows(t *testing.T) {
	r := random(3)
	for _, a := range []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64} {
		fs, end := randomFunctions(r, a, 3000)
		tab, err := compact.New(compact.Config{Arch: a, Data: link(r, fs, end, 300, 2, 3).encode(), Base: base,
			Code: func(addr uint64, n int) []byte {
				b := []byte{0x48, 0x81, 0xec}
				if a == arch.I386 {
					b = b[1:]
				}
				return binary.LittleEndian.AppendUint32(b, uint32(64+addr%4*8))[:n]
			}})
		if err != nil {
			t.Fatal(err)
		}
		rows := tab.Rows()
		byID := map[int]string{}
		n := 0
		for e, err := range tab.All() {
			if err != nil {
				t.Fatal(err)
			}
			var w row.Row
			err1 := tab.Row(e, &w)
			u, err2 := rows.Row(e)
			if (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
				t.Fatalf("%v, %v", err1, err2)
			}
			if err1 != nil {
				continue
			}
			n++
			text := w.Format(a)
			if got := u.Row.Format(a); got != text || u.Row.Hi != w.Hi || u.Row.Source != w.Source || u.Hash != compiled.HashRow(&w) {
				t.Fatalf("%s, want %s", got, text)
			}
			if text = text[16:]; byID[u.ID] == "" {
				byID[u.ID] = text
			} else if byID[u.ID] != text {
				t.Fatalf("rule %d is %s, was %s", u.ID, text, byID[u.ID])
			}
		}
		if n < 1000 {
			t.Errorf("%s: %d rows only", a.Name, n)
		}
	}
}
