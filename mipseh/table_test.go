package mipseh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/row"
)

// file is a linked table that a test writes: the section at 0x400200, and .gnu_extab at 0x400800.
type file struct {
	Config
	extab []byte
}

const (
	tableAddr = 0x400200
	extabAddr = 0x400800
)

func newFile(abi ABI, order binary.ByteOrder) *file {
	f := &file{Config: Config{ABI: abi, Order: order, Addr: tableAddr, Data: []byte{2, pcRelative, 0, 0, 0, 0, 0, 0}}}
	f.Bytes = func(a uint64, n int) []byte {
		if a < extabAddr || a > extabAddr+uint64(len(f.extab)) {
			return nil
		}
		b := f.extab[a-extabAddr:]
		return b[:min(n, len(b))]
	}
	return f
}

func (f *file) append(words ...uint32) {
	for _, w := range words {
		f.Data = f.Order.(binary.AppendByteOrder).AppendUint32(f.Data, w)
	}
	f.Order.PutUint32(f.Data[4:], uint32(len(f.Data)-headerSize)/entrySize)
}

// inline adds an entry with its instructions in it; index is the personality routine.
func (f *file) inline(start uint64, index byte, code ...byte) {
	f.append(uint32(start - tableAddr - uint64(len(f.Data))))
	f.Data = append(append(f.Data, index), code...)
	f.append()
}

// outside adds an entry with its instructions in .gnu_extab. For index 0, personality is written.
func (f *file) outside(start uint64, index byte, personality uint64, code ...byte) {
	for len(f.extab)%2 != 0 {
		f.extab = append(f.extab, 0)
	}
	at := extabAddr + uint64(len(f.extab))
	here := tableAddr + uint64(len(f.Data))
	f.append(uint32(start-here)|1, uint32(at-here-4))
	f.extab = append(f.extab, index)
	if index == 0 {
		f.extab = f.Order.(binary.AppendByteOrder).AppendUint32(f.extab, uint32(personality-at-1))
	}
	f.extab = append(f.extab, code...)
}

func (f *file) end(at uint64) { f.inline(at, 1, 0x5d, 0x5d, 1) }

// describe writes all entries as text.
func describe(t *Table) string {
	var out []string
	for e, err := range t.All() {
		s := fmt.Sprintf("%x..%x %s", e.Lo, e.Hi, e.Form)
		if e.Form != FDE {
			s += fmt.Sprintf(" %d %x", e.Index, e.Personality)
		}
		for _, op := range e.Ops() {
			s += "; " + op.Text(t.ABI)
		}
		var r row.Row
		if err == nil {
			if err = t.Row(e, &r); err == nil {
				s += " => " + r.Format(ArchOf(t.ABI, t.Order))[17:]
			}
		}
		if err != nil {
			s += " error: " + err.Error()
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

// TestEntries reads entries of each form in each byte order.
func TestEntries(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		f := newFile(O32, order)
		f.inline(0x400000, 1, 0x01, 0x40, 0x5c)
		f.inline(0x400010, 1, 0x01, 0x40, 0x02) // without an end
		f.outside(0x400020, 3, 0, 0x10, 0x6f, 0x5c)
		f.outside(0x400030, 0, 0x400104, 0x3f, 0x5c)
		f.append(uint32(0x400040-tableAddr-len(f.Data))|1, uint32(0x400900-tableAddr-len(f.Data)-4)|1) // an FDE
		f.inline(0x400050, 1, 0x5d, 0x5d, 1)
		f.end(0x400060)
		table, err := New(f.Config)
		if err != nil {
			t.Fatal(err)
		}
		want := `400000..400010 inline 1 0; sp += 16; push ra, s0; finish => cfa=sp+16 s0=c-8 ra=c-4
400010..400020 inline 1 0; sp += 16; push ra, s0; sp += 24 => cfa=sp+40 s0=c-32 ra=c-28
400020..400030 out of line 3 0; sp += 136; push ra, s5, s6, s7, s1, s0; finish => X
400030..400040 out of line 0 400104; [spare]; finish error: .eh_frame_entry entry at 0x20: instruction 0x3f is [spare]
400040..400050 FDE error: the entry refers to call frame information
400050..400060 inline 1 0; can't unwind error: the entry is marked as one that can't be unwound`
		want = strings.ReplaceAll(want, "s5, s6, s7, s1", "s7, s6, s5, s1")
		want = strings.ReplaceAll(want, "X", "cfa=sp+136 s0=c-24 s1=c-20 s5=c-16 s6=c-12 s7=c-8 ra=c-4")
		if got := describe(table); got != want {
			t.Errorf("%v:\n%s\nwant\n%s", order, got, want)
		}
		var e Entry
		for pc, form := range map[uint64]Form{0x400000: Inline, 0x40001f: Inline, 0x40002f: OutOfLine, 0x400040: FDE} {
			if err := table.Find(pc, &e); err != nil || e.Form != form || pc < e.Lo || pc >= e.Hi {
				t.Errorf("0x%x: %+v, %v", pc, e, err)
			}
		}
		for _, pc := range []uint64{0, 0x3fffff, 0x400060, 1 << 40} {
			if err := table.Find(pc, &e); err != ErrNotCovered {
				t.Errorf("0x%x: %v", pc, err)
			}
		}
	}
}

// encode writes an instruction; it is the inverse of decode for the instructions that TestRoundTrip makes.
func encode(rnd *rand.Rand) (b []byte, want string) {
	list := func(first []string, prefix string, lo, n int) string {
		for r := lo + n; r >= lo; r-- {
			first = append(first, fmt.Sprintf("%s%d", prefix, r))
		}
		return "push " + strings.Join(first, ", ")
	}
	x := rnd.IntN(8)
	switch rnd.IntN(10) {
	case 0:
		n := rnd.IntN(0x3a)
		return []byte{byte(n)}, fmt.Sprintf("sp += %d", (n+1)*16)
	case 1:
		return []byte{0x40 | byte(x)}, list([]string{"ra"}, "s", 0, x)
	case 2:
		return []byte{0x48 | byte(x)}, list([]string{"ra", "s8"}, "s", 0, x)
	case 3:
		return []byte{0x50 | byte(x)}, fmt.Sprintf("sp = s%d", x)
	case 4:
		n := rnd.Uint64N(1 << 20)
		return binary.AppendUvarint([]byte{0x58}, n), fmt.Sprintf("sp += %d", (n+129)*16)
	case 5:
		lo := rnd.IntN(25)
		return []byte{0x5a, byte(lo<<3 | x)}, list(nil, "f", lo, x)
	case 6:
		n := rnd.IntN(12)
		return []byte{0x60 | byte(n)}, list(nil, "f", 20, n)
	case 7:
		if rnd.IntN(2) == 0 {
			return []byte{0x70 | byte(x)}, list([]string{"ra", "gp"}, "s", 0, x)
		}
		return []byte{0x78 | byte(x)}, list([]string{"ra", "s8", "gp"}, "s", 0, x)
	case 8:
		lo := 16 + rnd.IntN(8)
		n := rnd.IntN(24 - lo)
		return []byte{0x59, byte(lo<<3 | n)}, list(nil, "s", lo-16, n)
	}
	c := byte([]int{0x5b, 0x5e, 0x5f}[rnd.IntN(3)])
	return []byte{c}, map[byte]string{0x5b: "cfa = sp", 0x5e: "sp = s8", 0x5f: "nop"}[c]
}

// TestRoundTrip decodes random instructions.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		f := newFile(N32, binary.BigEndian)
		var code []byte
		var want []string
		for range rnd.IntN(20) {
			b, text := encode(rnd)
			code, want = append(code, b...), append(want, text)
		}
		f.outside(0x400000, 1, 0, append(code, 0x5c)...)
		f.end(0x400010)
		table, err := New(f.Config)
		if err != nil {
			t.Fatal(err)
		}
		var e Entry
		if err := table.Find(0x400004, &e); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range e.Ops() {
			got = append(got, op.Text(N32))
		}
		if want = append(want, "finish"); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("seed %d: % x: %v; want %v", seed, code, got, want)
		}
	}
}

// TestDamaged reads tables with one defect each.
func TestDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(f *file)
		why    string
	}{
		"sound":            {func(f *file) {}, ""},
		"version":          {func(f *file) { f.Data[0] = 1 }, "version 2"},
		"encoding":         {func(f *file) { f.Data[1] = 0x3b }, "encoding 0x3b"},
		"count":            {func(f *file) { f.Order.PutUint32(f.Data[4:], 3) }, "room for 2 entries"},
		"largest count":    {func(f *file) { f.Order.PutUint32(f.Data[4:], 1<<32-1) }, "room for 2 entries"},
		"short":            {func(f *file) { f.Data = f.Data[:7] }, "version 2"},
		"outside the file": {func(f *file) { f.Order.PutUint32(f.Data[12:], 0x10000) }, "not in the file"},
		"no end":           {func(f *file) { f.extab = f.extab[:len(f.extab)-1] }, "no end"},
		"endless":          {func(f *file) { f.extab = append(f.extab[:1], make([]byte, 1000)...) }, "no end"},
		"cut personality":  {func(f *file) { f.extab = []byte{0, 1} }, "cut short"},
		"cut number":       {func(f *file) { f.extab = []byte{1, 0x58, 0x80} }, "no end"},
		"huge number":      {func(f *file) { f.extab = []byte{1, 0x58, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x5c} }, "[spare]"},
		"saved twice":      {func(f *file) { f.extab = []byte{1, 0x40, 0x40, 0x5c} }, "register ra is saved twice"},
		"register 32":      {func(f *file) { f.extab = []byte{1, 0x59, 0xff, 0x5c} }, "[spare]"},
		"late SP":          {func(f *file) { f.extab = []byte{1, 0x01, 0x5e, 0x5c} }, "set after"},
		"not sorted":       {func(f *file) { f.Order.PutUint32(f.Data[16:], 0xffff0000) }, "is before"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(O32, binary.LittleEndian)
			f.outside(0x400000, 1, 0, 0x01, 0x40, 0x5c)
			f.end(0x400010)
			c.damage(f)
			table, err := New(f.Config)
			if err == nil {
				for e, bad := range table.All() {
					if err = bad; err == nil {
						err = table.Row(e, new(row.Row))
					}
				}
			}
			if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("error %v; want %q", err, c.why)
			}
		})
	}
}

// BenchmarkFind measures a look-up in 1,000 entries.
func BenchmarkFind(b *testing.B) {
	f := newFile(O32, binary.LittleEndian)
	for i := range uint64(1000) {
		f.inline(0x100000+16*i, 1, 0x01, 0x43, 0x5c)
	}
	f.end(0x100000 + 16000)
	table, err := New(f.Config)
	if err != nil {
		b.Fatal(err)
	}
	var r row.Row
	table.RowAt(0x100000, &r)
	if n := testing.AllocsPerRun(100, func() { table.RowAt(0x102345, &r) }); n != 0 {
		b.Errorf("a look-up allocates %v times", n)
	}
	i := uint64(0)
	for b.Loop() {
		table.RowAt(0x100000+i%16000, &r)
		i += 3331
	}
}

// FuzzTable reads whatever a file contains.
func FuzzTable(f *testing.F) {
	x := newFile(O32, binary.LittleEndian)
	x.inline(0x400000, 1, 0x01, 0x40, 0x5c)
	x.outside(0x400020, 0, 0x400104, 0x3f, 0x58, 0x81, 0x01, 0x5c)
	x.end(0x400060)
	f.Add(x.Data, x.extab, uint8(0))
	f.Fuzz(func(t *testing.T, data, extab []byte, kind uint8) {
		y := newFile(ABI(kind%3), binary.LittleEndian)
		if kind&4 != 0 {
			y.Order = binary.BigEndian
		}
		y.Data, y.extab = data, extab
		table, err := New(y.Config)
		if err != nil {
			return
		}
		for e := range table.All() {
			var r row.Row
			if err := table.Row(e, &r); err == nil && r.CFA.Kind != row.InReg {
				t.Fatalf("the row of 0x%x has no CFA", e.Lo)
			}
			for i, op := range e.Ops() {
				if op.Size == 0 || i+op.Size > len(e.Code) {
					t.Fatalf("the instruction at %d of % x has %d bytes", i, e.Code, op.Size)
				}
			}
			if err := table.RowAt(e.Lo, &r); errors.Is(err, ErrNotCovered) && e.Lo < e.Hi && table.count == 1 {
				t.Fatalf("no entry for 0x%x", e.Lo)
			}
		}
	})
}
