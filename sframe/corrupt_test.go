package sframe_test

import (
	"encoding/binary"
	"io"
	"math/rand"
	"strings"
	"testing"
	"time"

	"dbg/row"
	"dbg/sframe"
)

const base = 0x400000

// sample is a table of version 3 with an ordinary, a flexible and a repeating function.
func sample() []sframe.Function {
	offsets := func(start uint32, sp bool, words ...int32) sframe.FRE {
		f := sframe.FRE{Start: start, SP: sp, Size: 1, Count: len(words)}
		copy(f.Words[:], words)
		return f
	}
	return []sframe.Function{
		{FDE: sframe.FDE{Lo: 0x1000, Hi: 0x1010},
			Rows: []sframe.FRE{offsets(0, true, 8), offsets(1, true, 16, -16), offsets(4, false, 16, -16)}},
		{FDE: sframe.FDE{Lo: 0x1010, Hi: 0x1020, Flexible: true},
			Rows: []sframe.FRE{offsets(0, false, 10<<3|1, 0), offsets(2, false, 6<<3|3, -8, 0, 6<<3|3, 0), offsets(8, false)}},
		{FDE: sframe.FDE{Lo: 0x1020, Hi: 0x1040, Masked: true, Repeat: 16},
			Rows: []sframe.FRE{offsets(0, true, 8), offsets(11, true, 16)}},
		{FDE: sframe.FDE{Lo: 0x1050, Hi: 0x1060}, Rows: nil},
	}
}

func encode(t testing.TB, version uint8, fns []sframe.Function) []byte {
	t.Helper()
	h := sframe.Header{Version: version, ABI: sframe.AMD64, FixedRA: -8}
	data, err := sframe.Encode(h, base, fns)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rowText is the row at an address without the address, or the error.
func rowText(tab *sframe.Table, pc uint64) string {
	var r row.Row
	if err := tab.RowAt(pc, &r); err != nil {
		return err.Error()
	}
	_, text, _ := strings.Cut(r.Format(nil), " ")
	return text
}

// The parts of the encoded sample.
const (
	fdeAt  = 28          // the index of function 0
	attrAt = 28 + 4*16   // the attribute of function 0
	freAt  = attrAt + 5  // its rows: 2+1, 2+2 and 2+2 bytes
	flexAt = freAt + 11  // the attribute of function 1
	maskAt = flexAt + 18 // the attribute of function 2
)

// TestCorrupt: what a defect costs, and what it does not.
func TestCorrupt(t *testing.T) {
	const uncovered = "no entry covers this address"
	const first, second, third = "cfa=r7+8 r6=s ra=c-8", "cfa=r7+16 r6=c-16 ra=c-8", "cfa=r6+16 r6=c-16 ra=c-8"
	set := func(at int, b ...byte) func([]byte) []byte {
		return func(d []byte) []byte { copy(d[at:], b); return d }
	}
	word := func(at int, v uint32) func([]byte) []byte {
		return func(d []byte) []byte { binary.LittleEndian.PutUint32(d[at:], v); return d }
	}
	for name, c := range map[string]struct {
		patch func([]byte) []byte
		table string // the error of New
		at    map[uint64]string
	}{
		"sound": {at: map[uint64]string{0xfff: uncovered, 0x1000: first, 0x1001: second, 0x1003: second, 0x1004: third, 0x100f: third,
			0x1010: "cfa=r10+0 r6=s ra=c-8", 0x1012: "cfa=exp r6=exp ra=c-8", 0x1018: "cfa=u ra=u", 0x101f: "cfa=u ra=u",
			0x1020: first, 0x102a: first, 0x102b: "cfa=r7+16 r6=s ra=c-8", 0x1030: first, 0x103b: "cfa=r7+16 r6=s ra=c-8", 0x1040: uncovered,
			0x1050: "no rows", 0x1060: uncovered}},
		"empty":             {patch: func([]byte) []byte { return nil }, table: "0 of 28 bytes"},
		"magic number":      {patch: set(0, 0xe3), table: "magic number 0xdee3"},
		"byte order":        {patch: set(0, 0xde, 0xe2), table: "wrong byte order"},
		"version 0":         {patch: set(2, 0), table: "version 0"},
		"version 4":         {patch: set(2, 4), table: "version 4"},
		"flags":             {patch: set(3, 8), table: "flags 0x8"},
		"flag of version 2": {patch: set(3, 2), table: "flags 0x2"},
		"ABI":               {patch: set(4, 5), table: "ABI 5"},
		"no return address": {patch: set(6, 0), table: "place of the return address is missing"},
		"number of FDEs":    {patch: word(8, 1<<28), table: "FDEs at 0x1c are outside"},
		"place of FDEs":     {patch: word(20, 1<<31), table: "are outside"},
		"length of FREs":    {patch: word(16, 1<<31), table: "outside of the section"},
		"place of FREs":     {patch: word(24, 0xffffffff), table: "outside of the section"},
		"truncated":         {patch: func(d []byte) []byte { return d[:len(d)-1] }, table: "outside of the section"},
		"auxiliary header":  {patch: set(7, 255), table: "outside"},
		"size of the first function": {patch: word(fdeAt+8, 0x20),
			at: map[uint64]string{0x100f: third, 0x1010: "inside of another function", 0x1020: first}},
		"function wraps around": {patch: set(fdeAt, 0xff, 0xff, 0xbf, 0xff, 0xff, 0xff, 0xff, 0xff),
			at: map[uint64]string{0x1000: uncovered, 0x1010: "cfa=r10+0 r6=s ra=c-8"}},
		"rows outside": {patch: word(fdeAt+12, 1<<30),
			at: map[uint64]string{0x1000: "attribute at 0x40000000 is outside", 0x1020: first}},
		"number of rows": {patch: set(attrAt, 255, 255),
			at: map[uint64]string{0x1000: first, 0x1008: "", 0x1020: first}},
		"bit of the info byte": {patch: set(attrAt+2, 0x40),
			at: map[uint64]string{0x1000: "bits 0x40", 0x1020: first}},
		"FRE type": {patch: set(attrAt+2, 3),
			at: map[uint64]string{0x1000: "FRE type 3", 0x1020: first}},
		"key": {patch: set(attrAt+2, 0x20),
			at: map[uint64]string{0x1000: "does not exist on AMD64", 0x1020: first}},
		"FDE type": {patch: set(attrAt+3, 2),
			at: map[uint64]string{0x1000: "FDE type 2", 0x1020: first}},
		"bit of the second info byte": {patch: set(attrAt+3, 0x20),
			at: map[uint64]string{0x1000: "second info byte", 0x1020: first}},
		"order of rows": {patch: set(freAt+3, 0),
			at: map[uint64]string{0x1000: "the row for 0x0 comes after the row for 0x0", 0x1020: first}},
		"size of data words": {patch: set(freAt+1, 0x63),
			at: map[uint64]string{0x1000: "size of its data words", 0x1020: first}},
		"too many data words": {patch: set(freAt+1, 7<<1|1), at: map[uint64]string{0x1000: "it has 7 data words"}},
		"mangled":             {patch: set(freAt+1, 0x83), at: map[uint64]string{0x1000: "not signed on AMD64"}},
		"CFA relative to itself": {patch: set(flexAt+7, 10<<3|2),
			at: map[uint64]string{0x1010: "not relative to a register", 0x1012: "cfa=exp r6=exp ra=c-8"}},
		"unknown bit of a control": {patch: set(flexAt+7, 10<<3|5),
			at: map[uint64]string{0x1010: "bit 2 of its control word"}},
		"no repeat": {patch: set(maskAt+4, 0),
			at: map[uint64]string{0x1020: "size of the block is 0", 0x1000: first}},
	} {
		t.Run(name, func(t *testing.T) {
			data := encode(t, 3, shifted())
			if c.patch != nil {
				data = c.patch(data)
			}
			tab, err := sframe.New(sframe.Config{Data: data, Addr: base})
			if (err != nil) != (c.table != "") || err != nil && !strings.Contains(err.Error(), c.table) {
				t.Fatalf("New: want %q, got %v", c.table, err)
			}
			if err != nil {
				return
			}
			for pc, want := range c.at {
				got := rowText(tab, base+pc)
				if strings.HasPrefix(want, "cfa=") && got != want || !strings.Contains(got, want) {
					t.Errorf("0x%x: want %q, got %q", pc, want, got)
				}
			}
			exercise(t, tab)
		})
	}
}

// shifted is the sample at its address.
func shifted() []sframe.Function {
	fns := sample()
	for i := range fns {
		fns[i].Lo, fns[i].Hi = fns[i].Lo+base, fns[i].Hi+base
	}
	return fns
}

// exercise calls everything, and checks that EachRow and RowAt agree.
func exercise(t testing.TB, tab *sframe.Table) {
	t.Helper()
	p := sframe.Printer{W: io.Discard}
	p.Header(tab)
	i := 0
	for e, err := range tab.All() {
		p.FDE(tab, i, e, err)
		i++
		if err == nil {
			for r, err := range tab.RowsOf(e) {
				if (r == nil) == (err == nil) {
					t.Fatalf("FDE at 0x%x: a row %v with the error %v", e.Offset, r, err)
				}
			}
		}
	}
	var got row.Row
	last := uint64(0)
	tab.EachRow(0, tab.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
		if r == nil {
			last = max(last, lo) // the decoder answers
			return true
		}
		if lo >= hi || lo < last {
			t.Fatalf("a row from 0x%x to 0x%x after 0x%x", lo, hi, last)
		}
		last = hi
		for _, pc := range []uint64{lo, hi - 1} {
			if err := tab.RowAt(pc, &got); err != nil || got.Format(nil)[16:] != r.Format(nil)[16:] {
				t.Fatalf("at 0x%x EachRow has %s, and RowAt %s, %v", pc, r.Format(nil), got.Format(nil), err)
			}
		}
		return true
	})
}

func FuzzTable(f *testing.F) {
	for _, d := range dialects {
		rng := rand.New(rand.NewSource(7))
		for range 3 {
			h, fns, _ := d.random(rng, base)
			data, err := sframe.Encode(h, base, fns)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add(encode(f, 3, shifted()))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		if tab, err := sframe.New(sframe.Config{Data: data, Addr: base}); err == nil {
			started := time.Now()
			exercise(t, tab)
			if took := time.Since(started); took > 2*time.Second {
				t.Fatalf("%d bytes took %v", len(data), took)
			}
		}
	})
}

// TestUnsorted finds functions in any order.
func TestUnsorted(t *testing.T) {
	fns := shifted()
	fns[0], fns[2] = fns[2], fns[0]
	tab, err := sframe.New(sframe.Config{Data: encode(t, 3, fns), Addr: base})
	if err != nil {
		t.Fatal(err)
	}
	for pc, want := range map[uint64]string{0x1001: "cfa=r7+16 r6=c-16 ra=c-8",
		0x1010: "cfa=r10+0 r6=s ra=c-8", 0x103b: "cfa=r7+16 r6=s ra=c-8", 0x1041: "no entry covers this address"} {
		if got := rowText(tab, base+pc); got != want {
			t.Errorf("0x%x: want %q, got %q", pc, want, got)
		}
	}
}

// TestEncodeRefuses: what a version can't express is an error.
func TestEncodeRefuses(t *testing.T) {
	for name, change := range map[string]func(h *sframe.Header, fn *sframe.Function){
		"version":         func(h *sframe.Header, _ *sframe.Function) { h.Version = 4 },
		"flexible in 2":   func(h *sframe.Header, fn *sframe.Function) { h.Version, fn.Flexible = 2, true },
		"far in 2":        func(h *sframe.Header, fn *sframe.Function) { h.Version, fn.Lo, fn.Hi = 2, 1<<40, 1<<40+1 },
		"repeat":          func(_ *sframe.Header, fn *sframe.Function) { fn.Masked, fn.Repeat = true, 256 },
		"start of a row":  func(_ *sframe.Header, fn *sframe.Function) { fn.Rows[2].Start = 256 },
		"ends before":     func(_ *sframe.Header, fn *sframe.Function) { fn.Hi = fn.Lo - 1 },
		"size of a word":  func(_ *sframe.Header, fn *sframe.Function) { fn.Rows[0].Size = 8 },
		"number of words": func(_ *sframe.Header, fn *sframe.Function) { fn.Rows[0].Count = 7 },
	} {
		h, fns := sframe.Header{Version: 3, ABI: sframe.AMD64, FixedRA: -8}, shifted()[:1]
		change(&h, &fns[0])
		if _, err := sframe.Encode(h, base, fns); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	var fns []sframe.Function
	rng := rand.New(rand.NewSource(1))
	pc := uint64(base)
	for range 10_000 {
		fn := sample()[0]
		fn.Lo, fn.Hi = pc, pc+16+uint64(rng.Intn(400))
		pc = fn.Hi
		fns = append(fns, fn)
	}
	data := encode(b, 3, fns)
	tab, err := sframe.New(sframe.Config{Data: data, Addr: base})
	if err != nil {
		b.Fatal(err)
	}
	var pcs [1024]uint64
	for i := range pcs {
		pcs[i] = base + uint64(rng.Intn(int(pc-base)))
	}
	for _, c := range []struct {
		name string
		do   func(pc uint64) error
	}{
		{"bounds", func(pc uint64) error { tab.Bounds(pc); return nil }},
		{"FDE", func(pc uint64) error { var e sframe.FDE; return tab.Find(pc, &e) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := c.do(pcs[i%len(pcs)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		var r row.Row
		for i := 0; b.Loop(); i++ {
			if err := tab.RowAt(pcs[i%len(pcs)], &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestFarApart finds functions at both ends of the address space.
func TestFarApart(t *testing.T) {
	fns := sample()[:1]
	last := sample()[0]
	last.Lo, last.Hi = 1<<64-0x110, 1<<64-0x100
	fns = append(fns, last)
	tab, err := sframe.New(sframe.Config{Data: encode(t, 3, fns), Addr: base})
	if err != nil {
		t.Fatal(err)
	}
	for pc, want := range map[uint64]string{0x1000: "cfa=r7+8 r6=s ra=c-8", 0x1010: "no entry covers this address",
		1<<64 - 0x110: "cfa=r7+8 r6=s ra=c-8", 1<<64 - 0x101: "cfa=r6+16 r6=c-16 ra=c-8", 1<<64 - 1: "no entry covers this address"} {
		if got := rowText(tab, pc); got != want {
			t.Errorf("0x%x: want %q, got %q", pc, want, got)
		}
	}
}
