package ehabi_test

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/ehabi"
	"dbg/row"
)

// sample is a table of all models.
func sample() []function {
	return []function{
		{addr: 0x1000, model: ehabi.Inline, code: []byte{0xa8}},
		{addr: 0x1100, model: ehabi.CantUnwind},
		{addr: 0x1200, model: ehabi.Compact, index: 0, code: []byte{0x01, 0xab}},
		{addr: 0x1300, model: ehabi.Compact, index: 1, code: []byte{0x97, 0x41, 0x84, 0x0d, 0xb0, 0xb0}, data: []byte{0, 0, 0, 0}},
		{addr: 0x1401, model: ehabi.Generic, personality: 0x9001, code: []byte{0x02, 0xaf}, data: []byte{0xff, 1, 2, 3}},
		{addr: 0x1500, model: ehabi.CantUnwind},
	}
}

// rowText is the row at an address without the address, or the error.
func rowText(t *ehabi.Table, pc uint64) string {
	var r row.Row
	if err := t.RowAt(pc, &r); err != nil {
		return err.Error()
	}
	_, text, _ := strings.Cut(r.Format(nil), " ")
	return text
}

// TestCorrupt: what a defect costs, and what it does not.
func TestCorrupt(t *testing.T) {
	code := func(i int, b ...byte) func([]function) []function {
		return func(fs []function) []function { fs[i].code = b; return fs }
	}
	word := func(i int, v uint32) func(exidx, extab []byte) ([]byte, []byte) {
		return func(exidx, extab []byte) ([]byte, []byte) {
			binary.LittleEndian.PutUint32(exidx[4*i:], v)
			return exidx, extab
		}
	}
	tab := func(i int, v uint32) func(exidx, extab []byte) ([]byte, []byte) {
		return func(exidx, extab []byte) ([]byte, []byte) {
			binary.LittleEndian.PutUint32(extab[4*i:], v)
			return exidx, extab
		}
	}
	const uncovered, cant, unknown = "no entry covers this address", "can't be unwound", "only the personality routine at 0x9001"
	const inline = "cfa=r13+8 r4=c-8 ra=c-4"
	for name, c := range map[string]struct {
		change func([]function) []function
		patch  func(exidx, extab []byte) ([]byte, []byte)
		at     map[uint64]string
	}{
		"sound": {at: map[uint64]string{0xfff: uncovered, 0x1000: inline, 0x10ff: inline, 0x1100: cant, 0x1200: "cfa=r13+28 r4=c-20",
			0x1400: "cfa=r13+48 r4=c-36", 0x1401: "cfa=r13+48", 0x14ff: "cfa=r13+48", 0x1500: cant, codeEnd: uncovered, 0x100001000: uncovered}},
		"framed":                {at: map[uint64]string{0x1300: "cfa=r7+8 r4=c-16 r6=c-12 r7=c-8 ra=c-4"}},
		"refuses":               {change: code(0, 0x80, 0x00), at: map[uint64]string{0x1000: "refuse to unwind"}},
		"reserved 9d":           {change: code(0, 0x9d), at: map[uint64]string{0x1000: "0x9d at byte 0 is reserved", 0x1200: "cfa=r13+28"}},
		"reserved 9f":           {change: code(0, 0xa8, 0x9f), at: map[uint64]string{0x1000: "0x9f at byte 1 is reserved"}},
		"spare after a finish":  {change: code(0, 0xa8, 0xb0, 0xff), at: map[uint64]string{0x1000: inline}},
		"spare b1 00":           {change: code(0, 0xb1, 0x00), at: map[uint64]string{0x1000: "0xb1 at byte 0 is reserved"}},
		"spare b1 10":           {change: code(0, 0xb1, 0x10), at: map[uint64]string{0x1000: "is reserved"}},
		"spare b6":              {change: code(0, 0xb6), at: map[uint64]string{0x1000: "is reserved"}},
		"spare c7":              {change: code(0, 0xc7, 0x20), at: map[uint64]string{0x1000: "is reserved"}},
		"d32":                   {change: code(0, 0xc8, 0xf1), at: map[uint64]string{0x1000: "is reserved"}},
		"spare ca":              {change: code(0, 0xca), at: map[uint64]string{0x1000: "is reserved"}},
		"spare d8":              {change: code(0, 0xd8), at: map[uint64]string{0x1000: "is reserved"}},
		"cut short":             {change: code(0, 0xa8, 0xa8, 0xb1), at: map[uint64]string{0x1000: "is cut short"}},
		"endless ULEB128":       {change: code(0, 0xb2, 0x80, 0x80), at: map[uint64]string{0x1000: "is cut short"}},
		"far":                   {change: code(3, 0xb2, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), at: map[uint64]string{0x1300: "out of the address space"}},
		"vsp again and again":   {change: code(3, 0x97, 0x94, 0x95, 0x96), at: map[uint64]string{0x1300: "for the 4th time"}},
		"pop {sp} of pop {sp}":  {change: code(3, 0x82, 0x00, 0x82, 0x00), at: map[uint64]string{0x1300: "cfa=exp"}},
		"bit 31 of an address":  {patch: word(4, 0x80000000), at: map[uint64]string{0x1000: "out of order"}},
		"inline personality 1":  {patch: word(1, 0x8100b0b0), at: map[uint64]string{0x1000: "first byte 0x81", 0x1200: "cfa=r13+28"}},
		"inline reserved bits":  {patch: word(1, 0xc000b0b0), at: map[uint64]string{0x1000: "first byte 0xc0"}},
		"table outside":         {patch: word(5, 0x00000100), at: map[uint64]string{0x1200: "is not in the file", 0x1300: "cfa="}},
		"personality index 3":   {patch: tab(0, 0x83b0b0b0), at: map[uint64]string{0x1200: "reserved first byte 0x83"}},
		"reserved bits":         {patch: tab(0, 0x9000b0b0), at: map[uint64]string{0x1200: "reserved first byte 0x90"}},
		"words outside":         {patch: tab(1, 0x81ff9741), at: map[uint64]string{0x1300: "255 words"}},
		"other data":            {patch: tab(5, 0x00ffffff), at: map[uint64]string{0x1400: unknown}},
		"other count":           {patch: tab(5, 0xff02afb0), at: map[uint64]string{0x1400: unknown}},
		"data after the finish": {change: code(4, 0xa8, 0xb0, 0xa8), at: map[uint64]string{0x1400: unknown}},
		"no table":              {patch: func(x, _ []byte) ([]byte, []byte) { return x, nil }, at: map[uint64]string{0x1200: "not in the file", 0x1000: inline}},
		"out of order":          {change: func(fs []function) []function { fs[1].addr = 0x1280; return fs }, at: map[uint64]string{0x1000: "out of order", 0x1500: "out of order"}},
		"no length": {change: func(fs []function) []function { fs[0].addr = 0x1100; fs[1].addr = 0x1100; return fs },
			at: map[uint64]string{0x1000: uncovered, 0x1100: cant}},
		"empty": {patch: func(_, y []byte) ([]byte, []byte) { return nil, y }, at: map[uint64]string{0x1000: uncovered}},
	} {
		t.Run(name, func(t *testing.T) {
			fs := sample()
			if c.change != nil {
				fs = c.change(fs)
			}
			exidx, extab := encode(fs)
			if c.patch != nil {
				exidx, extab = c.patch(exidx, extab)
			}
			tab := tableOf(exidx, extab)
			for pc, want := range c.at {
				if got := rowText(tab, pc); !strings.Contains(got, want) {
					t.Errorf("at %#x: %s; want %s", pc, got, want)
				}
			}
			agree(t, tab)
		})
	}
	if _, err := ehabi.New(ehabi.Config{Data: make([]byte, 12)}); err == nil {
		t.Error("half an entry is no error")
	}
}

// TestNoEnd: without the end of the code nothing is known of the last entry.
func TestNoEnd(t *testing.T) {
	exidx, _ := encode(sample()[:1])
	tab, err := ehabi.New(ehabi.Config{Data: exidx, Addr: indexAt})
	if err != nil {
		t.Fatal(err)
	}
	if got := rowText(tab, 0x1000); !strings.Contains(got, "no entry") {
		t.Error(got)
	}
}

// agree checks that All, Find, Bounds and EachRow say the same.
func agree(t *testing.T, tab *ehabi.Table) {
	t.Helper()
	var e ehabi.Entry
	ordered := true
	if err := tab.Find(0, &e); err != nil && err != ehabi.ErrNotCovered {
		ordered = false
	}
	type piece struct{ lo, hi uint64 }
	rows := map[piece]string{}
	if tab.EachRow(0, tab.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
		rows[piece{lo, hi}] = "nil"
		if r != nil {
			rows[piece{lo, hi}] = r.Format(nil)
		}
		return true
	}) != ordered {
		t.Fatal("EachRow and Find do not agree on the order")
	}
	n := 0
	for e, err := range tab.All() {
		n++
		if !ordered || e.Lo >= e.Hi {
			continue
		}
		for _, pc := range []uint64{e.Lo, (e.Lo + e.Hi) / 2, e.Hi - 1} {
			var f ehabi.Entry
			ferr := tab.Find(pc, &f)
			if (err == nil) != (ferr == nil) || err != nil && err.Error() != ferr.Error() || f.Lo != e.Lo || f.Hi != e.Hi || f.Word != e.Word {
				t.Fatalf("at %#x All has %+v, %v, Find %+v, %v", pc, *e, err, f, ferr)
			}
			lo, hi, ok := tab.Bounds(pc)
			if lo != e.Lo || hi != e.Hi || !ok {
				t.Fatalf("Bounds(%#x) is %#x, %#x, %v", pc, lo, hi, ok)
			}
		}
		var r row.Row
		want := "nil"
		if err == nil && tab.Row(e, &r) == nil {
			want = r.Format(nil)
		}
		if got := rows[piece{e.Lo, e.Hi}]; got != want {
			t.Fatalf("EachRow has %q from %#x on, want %q", got, e.Lo, want)
		}
	}
	if n != tab.Entries() {
		t.Fatalf("All has %d of %d entries", n, tab.Entries())
	}
}

// TestFind looks up the ends of entries of random tables, densely and thinly spread.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		fs, at := []function(nil), uint32(r.IntN(5000))*2
		for range 1 + r.IntN(60) {
			fs = append(fs, function{addr: at, model: ehabi.Inline, code: []byte{0xa8 | byte(r.IntN(8))}})
			at = min(at+2*uint32(r.ExpFloat64()*float64(1+r.IntN(300))), codeEnd-1)
		}
		exidx, extab := encode(fs)
		tab := tableOf(exidx, extab)
		agree(t, tab)
		var e ehabi.Entry
		for _, pc := range lookups(fs) {
			want := -1
			for i, f := range fs {
				if uint64(f.addr) <= pc && pc < codeEnd {
					want = i
				}
			}
			err := tab.Find(pc, &e)
			if want < 0 && err != ehabi.ErrNotCovered || want >= 0 && (err != nil || e.Offset != 8*want) {
				t.Fatalf("Find(%#x): %+v, %v; want entry %d", pc, e, err, want)
			}
		}
	}
}

// FuzzTable: whatever the bytes, no panic, and all ways to ask agree.
func FuzzTable(f *testing.F) {
	exidx, extab := encode(sample())
	f.Add(exidx, extab)
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		var fs []function
		for i := range uint32(30) {
			code, _ := randomCode(r, 100, [16]uint32{})
			fs = append(fs, function{addr: 0x1000 + 64*i, model: ehabi.Generic, personality: 0x9001, code: code})
		}
		exidx, extab := encode(fs)
		f.Add(exidx, extab)
	}
	f.Fuzz(func(t *testing.T, exidx, extab []byte) {
		if len(exidx) > 1<<12 { // an entry may have 1,023 bytes of instructions, which others share
			return
		}
		tab := tableOf(exidx[:len(exidx)&^7], extab)
		agree(t, tab)
		p := ehabi.Printer{W: io.Discard, Name: func(uint64) string { return "f" }}
		for e, err := range tab.All() {
			if err := p.Entry(e, err); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// BenchmarkFind looks up addresses at random, and those of one stack again and again.
func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	var fs []function
	at := uint32(0x1000)
	for range 10_000 {
		fs = append(fs, function{addr: at, model: ehabi.Inline, code: []byte{0xa8}})
		at += 2 * uint32(1+r.ExpFloat64()*100)
	}
	exidx, _ := encode(fs)
	tab, err := ehabi.New(ehabi.Config{Data: exidx, Addr: indexAt, End: uint64(at)})
	if err != nil {
		b.Fatal(err)
	}
	pcs := make([]uint64, 4096)
	for i := range pcs {
		pcs[i] = uint64(fs[r.IntN(len(fs))].addr) + 2
	}
	for name, n := range map[string]int{"random": 4096, "stack": 32} {
		b.Run(name, func(b *testing.B) {
			var e ehabi.Entry
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if tab.Find(pcs[i&(n-1)], &e) != nil {
					b.Fatal(pcs[i&(n-1)])
				}
			}
		})
	}
}
