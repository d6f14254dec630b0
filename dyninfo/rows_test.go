package dyninfo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/row"
)

// amd64's numbers.
const (
	rbx, rbp, rsp, rip = 3, 6, 7, 16
)

var (
	call   = Region{Ops: []Op{{Tag: Add, Reg: rsp, Val: -8}, {Tag: SpillSPRel, Reg: rip}}}
	format = func(r *row.Row, a *arch.Arch) string { return r.Format(a)[17:] } // without the address
)

// procedure is code of 32 bytes at 0x1000.
func procedure(regions ...Region) *Procedure {
	return &Procedure{Info: Info{Addr: 0x99, Start: 0x1000, End: 0x1020}, Regions: regions}
}

// TestOperations shows what each operation means. want has the rows by their offsets.
func TestOperations(t *testing.T) {
	push := []Op{{Tag: Add, Reg: rsp, Val: -8}, {Tag: SpillSPRel, Reg: rbp}}
	for _, c := range []struct {
		name    string
		arch    *arch.Arch
		regions []Region
		want    string
	}{
		{"nothing", arch.AMD64, nil, "0 cfa=rsp+8 ra=c-8"},
		{"no description of the call", arch.AMD64,
			[]Region{{Count: 32, Ops: push}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8"},
		{"description of the call", arch.AMD64,
			[]Region{call, {Count: 32, Ops: push}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8"},
		{"late description of the call", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: SpillSPRel, When: 3, Reg: rip, Val: -8}}}},
			"0 error: entry at 0x99: no operation has saved the return address yet\n4 cfa=rsp+0 ra=c-8"},
		{"not sorted", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: Add, Reg: rsp, Val: -16, When: 5}, push[0], push[1]}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8\n6 cfa=rsp+32 rbp=c-16 ra=c-8"},
		{"frame pointer", arch.AMD64,
			[]Region{{Count: 32, Ops: append(push[:2:2], Op{Tag: SaveReg, Reg: rsp, Val: rbp, When: 1},
				Op{Tag: SpillFPRel, Reg: rbx, Val: -8, When: 2})}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8\n2 cfa=rbp+16 rbp=c-16 ra=c-8\n" +
				"3 cfa=rbp+16 rbx=c-24 rbp=c-16 ra=c-8"},
		{"add to the frame pointer", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: SaveReg, Reg: rsp, Val: rbp},
				{Tag: Add, Reg: rbp, Val: 32, When: 1}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rbp+8 ra=c-8\n2 cfa=rbp-24 ra=c-8"},
		{"frame pointer of the ABI", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: SpillFPRel, Reg: rbx, Val: -128}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+8 rbx=exp ra=c-8"},
		{"saved in a register, and not", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: SaveReg, Reg: rbx, Val: 12},
				{Tag: SaveReg, Reg: rbx, Val: rbx, When: 9}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+8 rbx=r12 ra=c-8\n10 cfa=rsp+8 rbx=s ra=c-8"},
		{"pop", arch.AMD64,
			[]Region{{Count: 8, Ops: push}, {Count: 8, Ops: []Op{{Tag: SaveReg, Reg: rbx, Val: 12, When: 1},
				{Tag: PopFrames, Val: 2, When: 5}}}, {Count: 8}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8\n8 cfa=rsp+16 rbp=c-16 ra=c-8\n" +
				"10 cfa=rsp+16 rbx=r12 rbp=c-16 ra=c-8\n14 cfa=rsp+8 rbx=r12 ra=c-8\n16 cfa=rsp+8 ra=c-8\n24 cfa=rsp+8 ra=c-8"},
		{"pop too many", arch.AMD64, []Region{{Count: 8, Ops: []Op{{Tag: PopFrames, Val: 2, When: 3}}}, {Count: 8}},
			"0 cfa=rsp+8 ra=c-8\n4 error: entry at 0x99: pop_frames of more frames than there are regions\n" +
				"8 error: entry at 0x99: pop_frames of more frames than there are regions"},
		{"pop none", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: PopFrames, When: -1}}}},
			"0 error: entry at 0x99: pop_frames of 0 frames"},
		{"label and copy", arch.AMD64,
			[]Region{{Count: 4, Ops: append(push[:2:2], Op{Tag: LabelState, When: -1, Val: 5})},
				{Count: 4, Ops: []Op{{Tag: PopFrames, Val: 2}}},
				{Count: 24, Ops: []Op{{Tag: CopyState, When: -1, Val: 5}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8\n4 cfa=rsp+16 rbp=c-16 ra=c-8\n5 cfa=rsp+8 ra=c-8\n" +
				"8 cfa=rsp+16 rbp=c-16 ra=c-8"},
		{"copy before the same label", arch.AMD64,
			[]Region{{Count: 4, Ops: []Op{push[0], {Tag: LabelState, When: -1, Val: 5}}},
				{Count: 28, Ops: []Op{{Tag: CopyState, When: -1, Val: 5}, {Tag: Add, Reg: rsp, Val: -8, When: 9},
					{Tag: LabelState, When: -1, Val: 5}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 ra=c-8\n4 cfa=rsp+16 ra=c-8\n14 cfa=rsp+24 ra=c-8"},
		{"unknown label", arch.AMD64,
			[]Region{{Count: 4, Ops: []Op{{Tag: CopyState, When: -1, Val: 5}}}},
			"0 error: entry at 0x99: copy_state of the unknown label 5\n" +
				"4 error: entry at 0x99: copy_state of the unknown label 5"},
		{"growth downward", arch.AMD64,
			[]Region{{Count: 4, Ops: push}, {Count: -4, Ops: []Op{{Tag: Add, Reg: rsp, Val: 8}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8\n4 cfa=rsp+16 rbp=c-16 ra=c-8\n" +
				"28 cfa=rsp+16 rbp=c-16 ra=c-8\n29 cfa=rsp+8 rbp=c-16 ra=c-8"},
		{"after the region's end", arch.AMD64,
			[]Region{{Count: 4, Ops: []Op{{Tag: Add, Reg: rsp, Val: -8, When: 100}}}},
			"0 cfa=rsp+8 ra=c-8\n4 cfa=rsp+16 ra=c-8"},
		{"longer than the code", arch.AMD64,
			[]Region{{Count: 1 << 30, Ops: push}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 rbp=c-16 ra=c-8"},
		{"unknown operation", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: 9, When: 2}}}},
			"0 cfa=rsp+8 ra=c-8\n3 error: entry at 0x99: unknown operation 9"},
		{"unknown register", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: SpillSPRel, Reg: -3}}}},
			"0 cfa=rsp+8 ra=c-8\n1 error: entry at 0x99: spill_sp_rel of the unknown register -3"},
		{"add to another register", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: Add, Reg: rbx, Val: 8}}}},
			"" +
				"0 cfa=rsp+8 ra=c-8\n1 error: entry at 0x99: add to rbx, which is neither the stack pointer nor the frame pointer"},
		{"absurd offset", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: Add, Reg: rsp, Val: -1 << 63}}}},
			"0 cfa=rsp+8 ra=c-8\n1 error: entry at 0x99: add: the offset -9223372036854775808 is absurd"},
		{"predicate that is ignored", arch.AMD64,
			[]Region{{Count: 32, Ops: []Op{{Tag: Add, QP: 4, Reg: rsp, Val: -8}}}},
			"0 cfa=rsp+8 ra=c-8\n1 cfa=rsp+16 ra=c-8"},
		{"predicate", arch.ARM,
			[]Region{{Count: 8, Ops: []Op{{Tag: Add, QP: 4, Reg: 13, Val: -8, When: 1}}}},
			"0 cfa=sp+0\n8 error: entry at 0x99: add depends on the predicate 4, which is not known"},
		{"instructions of 4 bytes", arch.ARM64,
			[]Region{{Count: 8, Ops: []Op{{Tag: Add, Reg: 31, Val: -16}, {Tag: SpillSPRel, Reg: 29},
				{Tag: SpillSPRel, Reg: 32, Val: 8}, {Tag: SaveReg, Reg: 31, Val: 29, When: 1}}}},
			"0 cfa=sp+0\n4 cfa=sp+16 x29=c-16 ra=c-8\n8 cfa=x29+16 x29=c-16 ra=c-8"},
		{"libunwind's numbers of i386", arch.I386,
			[]Region{{Count: 32, Ops: []Op{{Tag: Add, Reg: 7, Val: -4}, {Tag: SpillSPRel, Reg: 6}}}},
			"0 cfa=esp+4 ra=c-4\n1 cfa=esp+8 ebp=c-8 ra=c-4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := New(procedure(c.regions...), Config{Arch: c.arch})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			var r row.Row
			for pc := uint64(0x1000); pc < 0x1020; pc = r.Hi {
				if s := table.find(pc); s == nil {
					t.Fatalf("there is a gap at 0x%x", pc)
				} else if err := table.RowAt(pc, &r); err != nil {
					got = append(got, fmt.Sprintf("%d error: %v", pc-0x1000, err))
					r.Hi = s.hi
				} else {
					got = append(got, fmt.Sprintf("%d %s", pc-0x1000, format(&r, c.arch)))
				}
			}
			var merged []string // rows that continue the one before are one
			for i, line := range got {
				if i == 0 || line[strings.IndexByte(line,
					' '):] != merged[len(merged)-1][strings.IndexByte(merged[len(merged)-1], ' '):] {
					merged = append(merged, line)
				}
			}
			var want []string
			for i, line := range strings.Split(c.want, "\n") {
				if i == 0 || line[strings.IndexByte(line, ' '):] != want[len(want)-1][strings.IndexByte(want[len(want)-1], ' '):] {
					want = append(want, line)
				}
			}
			if strings.Join(merged, "\n") != strings.Join(want, "\n") {
				t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(merged, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestRefused shows procedures that have no rows at all.
func TestRefused(t *testing.T) {
	thumb := procedure()
	thumb.Start++
	for why, c := range map[string]struct {
		arch *arch.Arch
		p    *Procedure
	}{
		"not the last":  {arch.AMD64, procedure(Region{Count: -4}, Region{Count: 4})},
		"has left":      {arch.AMD64, procedure(Region{Count: 30}, Region{Count: -4})},
		"more than":     {arch.AMD64, procedure(Region{Count: -1 << 31})},
		"riscv64":       {arch.RISCV64, procedure()},
		"of arm code":   {arch.ARM, thumb},
		"2 instruction": {arch.ARM64, procedure(Region{Count: 7}, Region{Count: -2})},
	} {
		if _, err := New(c.p, Config{Arch: c.arch}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("error %v; want %q", err, why)
		}
	}
}

// TestAlias follows aliases to other code.
func TestAlias(t *testing.T) {
	var other row.Row
	other.Reset()
	other.Lo, other.Hi, other.RA = 0x5000, 0x5010, rip
	other.CFA = row.Rule{Kind: row.InReg, Reg: rsp, N: 48}
	other.Set(rip, row.Rule{Kind: row.At, N: -8})
	alias := func(pc uint64, r *row.Row) error {
		if pc < other.Lo || pc >= other.Hi {
			return ErrNotCovered
		}
		r.CopyFrom(&other)
		return nil
	}
	p := procedure(Region{Count: 12, Ops: []Op{{Tag: Alias, When: -1, Val: 0x5002}}}, Region{Count: 4,
		Ops: []Op{{Tag: Add, Reg: rsp, Val: -8}}},
		Region{Ops: []Op{{Tag: Alias, When: -1, Val: 0x5000}}}, Region{Count: 8}, Region{Count: 4, Ops: []Op{{Tag: Alias,
			Val: 0x5000, When: 3}}})
	table, err := New(p, Config{Arch: arch.AMD64, Alias: alias})
	if err != nil {
		t.Fatal(err)
	}
	for off, want := range map[uint64]string{0: "cfa=rsp+48 ra=c-8 0..12", 11: "cfa=rsp+48 ra=c-8 0..12",
		12: "cfa=rsp+48 ra=c-8 12..13", 13: "cfa=rsp+56 ra=c-8 13..16",
		16: "cfa=rsp+48 ra=c-8 16..24", 24: "cfa=rsp+48 ra=c-8 24..28",
		30: "entry at 0x99: alias after instruction 3 of its region"} {
		var r row.Row
		got := ""
		if err := table.RowAt(0x1000+off, &r); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprintf("%s %d..%d", format(&r, arch.AMD64), r.Lo-0x1000, r.Hi-0x1000)
		}
		if got != want {
			t.Errorf("offset %d: %s; want %s", off, got, want)
		}
	}
	for _, c := range []Config{{Arch: arch.AMD64}, {Arch: arch.AMD64, Alias: func(uint64,
		*row.Row) error {
		return ErrNotCovered
	}}} {
		table, err := New(procedure(Region{Count: 32, Ops: []Op{{Tag: Alias, When: -1, Val: 0x5000}}}), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.RowAt(0x1001, new(row.Row)); err == nil || !strings.Contains(err.Error(),
			"alias of the code at 0x5001") {
			t.Errorf("error %v", err)
		}
	}
}

// TestInstructionLength checks that an operation of a call has no effect until the call has returned.
func TestInstructionLength(t *testing.T) {
	p := procedure(Region{Count: 32, Ops: []Op{{Tag: Add, Reg: rsp, Val: 16, When: 4}}})
	table, err := New(p, Config{Arch: arch.AMD64, InstructionLength: func(pc uint64) int { return 5 }})
	if err != nil {
		t.Fatal(err)
	}
	var r row.Row
	for off, want := range map[uint64]int64{4: 8, 8: 8, 9: -8} {
		if err := table.RowAt(0x1000+off, &r); err != nil || r.CFA.N != want {
			t.Errorf("offset %d: the CFA is rsp%+d, %v; want %+d", off, r.CFA.N, err, want)
		}
	}
}

// TestSimulatedCode makes random code of pushes, pops and changes of SP, describes it in regions of random
// length, and holds each row against the simulated stack.
func TestSimulatedCode(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		depth, frame := int64(8), int64(0) // CFA-SP, and CFA-RBP if that is the frame pointer
		saved := map[arch.Reg]int64{}
		var truth []string
		state := func() {
			s := fmt.Sprintf("cfa=rsp%+d", depth)
			if frame != 0 {
				s = fmt.Sprintf("cfa=rbp%+d", frame)
			}
			for _, r := range []arch.Reg{rbx, rbp, 12, 13} {
				if at, ok := saved[r]; ok {
					s += fmt.Sprintf(" %s=c%+d", arch.AMD64.RegName(r), at)
				}
			}
			truth = append(truth, s+" ra=c-8")
		}
		regions := []Region{call}
		for range 1 + rnd.IntN(4) {
			r := Region{Count: int32(rnd.IntN(12))}
			for i := range r.Count {
				state()
				switch rnd.IntN(5) {
				case 0:
					reg := []int16{rbx, rbp, 12, 13}[rnd.IntN(4)]
					depth += 8
					saved[arch.Reg(reg)] = -depth
					r.Ops = append(r.Ops, Op{Tag: Add, Reg: rsp, Val: -8, When: i})
					if frame != 0 && rnd.IntN(2) == 0 {
						r.Ops = append(r.Ops, Op{Tag: SpillFPRel, Reg: reg, Val: frame - depth, When: i})
					} else {
						r.Ops = append(r.Ops, Op{Tag: SpillSPRel, Reg: reg, When: i})
					}
				case 1:
					n := int64(rnd.IntN(64) * 8)
					depth += n
					r.Ops = append(r.Ops, Op{Tag: Add, Reg: rsp, Val: -n, When: i})
				case 2:
					frame = depth
					r.Ops = append(r.Ops, Op{Tag: SaveReg, Reg: rsp, Val: rbp, When: i})
				}
			}
			regions = append(regions, reordered(rnd, r))
		}
		state()
		p := &Procedure{Info: Info{Start: 0x1000, End: 0x1000 + uint64(len(truth))}, Regions: regions}
		table, err := New(p, Config{Arch: arch.AMD64})
		if err != nil {
			t.Fatal(err)
		}
		var r row.Row
		for i, want := range truth {
			if err := table.RowAt(0x1000+uint64(i), &r); err != nil || format(&r, arch.AMD64) != want {
				t.Fatalf("seed %d: offset %d has %s, %v; want %s\n%+v", seed, i, format(&r, arch.AMD64), err, want, regions)
			}
		}
	}
}

// reordered moves the operations of some instruction to the end of the list.
func reordered(rnd *rand.Rand, r Region) Region {
	if r.Count == 0 {
		return r
	}
	when := int32(rnd.IntN(int(r.Count)))
	var kept, moved []Op
	for _, op := range r.Ops {
		if op.When == when {
			moved = append(moved, op)
		} else {
			kept = append(kept, op)
		}
	}
	r.Ops = append(kept, moved...)
	return r
}

// TestListAddress decodes the function of libraries.
func TestListAddress(t *testing.T) {
	for _, c := range []struct {
		arch *arch.Arch
		code string
		want uint64
		ok   bool
	}{
		{arch.AMD64, "\x48\x8d\x05\x49\x0d\x01\x00\xc3", 0x15350, true}, // Debian's libunwind 1.6.2
		{arch.AMD64, "\xf3\x0f\x1e\xfa\x48\x8d\x05\xf9\xff\xff\xff\xc3", 0x4604, true},
		{arch.AMD64, "\x48\x8d\x05\x49\x0d\x01\x00\x90", 0, false},
		{arch.AMD64, "\x48\x8b\x05\x49\x0d\x01\x00\xc3", 0, false},
		{arch.AMD64, "\x48\x8d", 0, false},
		{arch.ARM64, "\x80\x00\x00\x90\x00\x40\x0d\x91\xc0\x03\x5f\xd6", 0x14350, true},
		// adrp x0, +0x10000; add x0, x0, #0x350
		{arch.ARM64, "\xe0\xff\xff\xf0\x00\x40\x0d\x91\xc0\x03\x5f\xd6", 0x3350, true}, // adrp x0, -0x1000
		{arch.ARM64, "\x81\x00\x00\x90\x00\x40\x0d\x91\xc0\x03\x5f\xd6", 0, false},
		{arch.RISCV64, "\x48\x8d\x05\x49\x0d\x01\x00\xc3", 0, false},
	} {
		if got, ok := ListAddress(c.arch, []byte(c.code), 0x4600); got != c.want || ok != c.ok {
			t.Errorf("%s % x: 0x%x, %t; want 0x%x, %t", c.arch.Name, c.code, got, ok, c.want, c.ok)
		}
	}
}
