package pdata_test

import (
	"io"
	"math/rand/v2"
	"testing"

	"dbg/arch"
	"dbg/pdata"
	"dbg/row"
)

// FuzzTable has any bytes as function table, record and code: no panic, bounded time, and RowAt and
// EachRow agree.
func FuzzTable(f *testing.F) {
	f.Add(false, words(0x1000, 0x1100, 0x2000), []byte{1, 6, 3, 0, 6, 0x32, 2, 0x60, 1, 0x50, 0, 0}, []byte("\x48\x83\xc4\x20\x5e\x5d\xc3"))
	f.Add(false, words(0x1000, 0x1100, 0x2000), []byte{3, 5, 7, 2 | 1<<5, 1, 0, 2 << 3, 0x80, 0, 0, 0, 5, 0, 4, 0x38, 0x2c, 0, 0}, []byte{})
	f.Add(false, words(0x1000, 0x1100, 0x2001), []byte{0x21, 0, 0, 0}, []byte{})
	f.Add(true, words(0x1000, 0x2000), append(words(20|1<<22|2<<27, 10), 0xe1, 0x81, 0xe6, 0xc8, 0x04, 0xe4, 0xe3, 0xe3), []byte{})
	f.Add(true, words(0x1000, 1|40<<2|3<<13|5<<16|3<<21|20<<23, 0x1200, 2|40<<2), []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, arm bool, table, record, code []byte) {
		a := arch.AMD64
		if arm {
			a = arch.ARM64
		}
		if len(table) > 1<<10 || len(record) > 1<<10 || len(code) > 1<<12 {
			return
		}
		tab := newTable(t, a, table, map[uint32][]byte{0x1000: code, 0x8000: record, 0x2000: record})
		tab.Print(io.Discard)
		last := uint64(0)
		var got row.Row
		tab.EachRow(0, tab.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
			if lo >= hi || lo < last {
				t.Fatalf("a row from 0x%x to 0x%x after 0x%x", lo, hi, last)
			}
			last = hi
			for _, pc := range []uint64{lo, hi - 1} {
				err := tab.RowAt(pc, &got)
				if (err == nil) != (r != nil) || r != nil && got.Format(a) != r.Format(a) {
					t.Fatalf("at 0x%x: %v", pc, err)
				}
			}
			return true
		})
	})
}

// TestRandomBytes is the fuzz target for random changes of valid records.
func TestRandomBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		record := make([]byte, r.IntN(64))
		for i := range record {
			record[i] = byte(r.Uint32())
		}
		if len(record) > 0 && r.IntN(2) == 0 {
			record[0] = record[0]&^7 | byte(1+r.IntN(3))
		}
		for _, a := range []*arch.Arch{arch.AMD64, arch.ARM64} {
			data := words(0x1000, 0x1040, 0x2000)
			if a == arch.ARM64 {
				data = words(0x1000, 0x2000)
			}
			tab := newTable(t, a, data, map[uint32][]byte{0x1000: make([]byte, 0x100), 0x2000: record})
			e := tab.Entry(0)
			list, err := tab.Rows(&e)
			if err == nil && e.Hi > e.Lo && len(list) == 0 {
				t.Fatalf("neither rows nor an error for % x", record)
			}
		}
	}
}

// TestCorruptARM64 has records of ARM64 that are defective, and what the error says at the start of
// the function.
func TestCorruptARM64(t *testing.T) {
	code := func(b ...byte) []byte {
		for len(b)%4 != 0 {
			b = append(b, 0xe4)
		}
		return append(words(20|1<<21|uint32(len(b)/4)<<27), b...)
	}
	for name, c := range map[string]struct {
		word   uint32
		record []byte
		want   string
	}{
		"no record":                 {0x3000, nil, "the record at RVA 0x3000 is not in the image"},
		"reserved flag":             {3, nil, "its flag has the reserved value 3"},
		"version 1":                 {0x2000, words(20 | 1<<18 | 1<<27), "unsupported version 1 of the record at RVA 0x2000"},
		"cut extension":             {0x2000, words(20), "the second word of the record at RVA 0x2000 is not in the image"},
		"codes outside":             {0x2000, words(20 | 1<<21 | 3<<27), "the 3 words of codes at RVA 0x2004 are not in the image"},
		"no end":                    {0x2000, append(words(20|1<<21|1<<27), 0xe3, 0xe3, 0xe3, 0xe3), "the unwind codes have no end"},
		"half a code":               {0x2000, append(words(20|1<<21|1<<27), 0xe3, 0xe3, 0xe3, 0xe0), "the unwind codes have no end"},
		"reserved code":             {0x2000, code(0xed), "reserved unwind code 0xed"},
		"reserved save_any_reg":     {0x2000, code(0xe7, 0x80, 0), "reserved unwind code 0xe78000"},
		"x31":                       {0x2000, code(0xe7, 0x1f, 0), "an unwind code saves a register that does not exist"},
		"save_next alone":           {0x2000, code(0xe6), "a save_next belongs to no pair"},
		"save_next after one":       {0x2000, code(0xe6, 0xd0, 0), "a save_next belongs to no pair"},
		"too many save_next":        {0x2000, code(append(bytesOf(0xe6, 20), 0xd8, 0)...), "more registers are saved than there are"},
		"trap frame":                {0x2000, code(0xe8), "a trap frame, whose layout is not documented"},
		"codes after a frame":       {0x2000, code(0xe9, 0x01), "an operation follows a frame of the processor or a context"},
		"x29 is lost":               {0x2000, code(0x40, 0xe1), "the frame register is restored before it is used"},
		"SVE":                       {0x2000, code(0xdf, 1), "alloc_z: the size of the frame depends on the length of SVE vectors"},
		"epilogue's codes outside":  {0x2000, append(words(20|1<<21|31<<22|1<<27), 0xe4, 0xe4, 0xe4, 0xe4), "the epilogue's first code 31 is not among the 4 bytes of codes"},
		"scopes outside":            {0x2000, append(words(20|31<<22|1<<27), 0xe4, 0xe4, 0xe4, 0xe4), "the 1 words of codes at RVA 0x2080 are not in the image"},
		"epilogues out of order":    {0x2000, append(words(20|2<<22|1<<27, 9, 5), 0xe4, 0xe4, 0xe4, 0xe4), "epilogue 1 begins at offset 0x14, out of order or after the function"},
		"packed: too small a frame": {1 | 40<<2 | 4<<16 | 1<<23, nil, "its packed data gives a frame that is smaller than the registers saved in it"},
		"packed: 11 registers":      {1 | 40<<2 | 11<<16 | 30<<23, nil, "its packed data saves more than ten registers"},
		"packed: too short":         {1 | 1<<2 | 4<<16 | 30<<23, nil, "its epilogue is larger than the function"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := newTable(t, arch.ARM64, words(0x1000, c.word), map[uint32][]byte{0x2000: c.record})
			e := tab.Entry(0)
			if _, err := tab.Rows(&e); err == nil || err.Error() != ".pdata at 0x0: "+c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func bytesOf(b byte, n int) []byte {
	list := make([]byte, n)
	for i := range list {
		list[i] = b
	}
	return list
}

// TestARM64Frames has the frames of the kernel and of exceptions.
func TestARM64Frames(t *testing.T) {
	for name, c := range map[string]struct {
		codes []byte
		want  string
	}{
		"machine frame":         {[]byte{0xe9, 0xe4, 0xe4, 0xe4}, "cfa=sp+0 sp=c+0 ra=c+8 signal"},
		"machine frame, above":  {[]byte{0x02, 0xe9, 0xe4, 0xe4}, "cfa=sp+32 sp=c+0 ra=c+8 signal"},
		"clear unwound to call": {[]byte{0xec, 0xe4, 0xe4, 0xe4}, "cfa=sp+0 signal"},
	} {
		tab := newTable(t, arch.ARM64, words(0x1000, 0x2000), map[uint32][]byte{0x2000: append(words(20|1<<27), c.codes...)})
		if got := at(tab, arch.ARM64, 16); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
	for code, want := range map[byte]map[arch.Reg]int64{
		0xea: {0: 8, 28: 0xe8, 29: 0xf0, 30: 0xf8, 31: 0x100, arch.ARM64.PC: 0x108, 72: 0x190},
		0xeb: {8: 0x78, 0: 0x80, 31: 0x98, 29: 0xa0, 25: 0xa8, 19: 0xd8, 22: 0xf0, arch.ARM64.PC: 0xf8, 30: 0x120, 15: 0x190, 72: 0x220},
	} {
		tab := newTable(t, arch.ARM64, words(0x1000, 0x2000), map[uint32][]byte{0x2000: append(words(20|1<<27), code, 0xe4, 0xe4, 0xe4)})
		var r row.Row
		if err := tab.RowAt(base+0x1010, &r); err != nil {
			t.Fatal(err)
		}
		for reg, at := range want {
			if got := r.Rule(reg); got.Kind != row.At || got.N != at {
				t.Errorf("code 0x%x: %s is %v, want c+%d", code, arch.ARM64.RegName(reg), got, at)
			}
		}
		if !r.Signal || r.RA != arch.ARM64.PC {
			t.Errorf("code 0x%x: signal %v, return address in %d", code, r.Signal, r.RA)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	var data []byte
	for i := range uint32(10000) {
		data = append(data, words(0x1000+64*i, 0x1030+64*i, 0x2000)...)
	}
	tab := newTable(b, arch.AMD64, data, nil)
	r := rand.New(rand.NewPCG(5, 6))
	pcs := make([]uint64, 4096)
	for i := range pcs {
		pcs[i] = base + 0x1000 + 64*uint64(r.IntN(10000))
	}
	var e pdata.Entry
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if tab.Find(pcs[i&4095], &e) != nil {
			b.Fatal(pcs[i&4095])
		}
	}
}
