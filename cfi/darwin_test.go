package cfi_test

import (
	hexadecimal "encoding/hex"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
	"dbg/row/compiled"
)

// __eh_frame of "int g(int); int f(int a) { return g(a) + 1; }", compiled by clang-19
// --target=i386-apple-macosx10.15 -O1 -fno-omit-frame-pointer -fasynchronous-unwind-tables -c. f
// begins with push %ebp; mov %esp,%ebp.
const darwinEH = "1400000000000000017a5200017c0801100c050488010000180000001c000000b4ffffff1700000000410e088402420d04000000"

// In i386's __eh_frame ESP is 5 and EBP is 4; everywhere else they are 4 and 5.
func TestDarwinEH(t *testing.T) {
	data, err := hexadecimal.DecodeString(darwinEH)
	if err != nil {
		t.Fatal(err)
	}
	// Another function, with expressions: CFA=*(ebp+8), ebx at *(esp+4)+4.
	data = append(data, 0x1c, 0, 0, 0, byte(len(data)+4), 0, 0, 0, 0, 0x10, 0, 0, 0x10, 0, 0, 0, 0,
		0x0f, 3, 0x74, 8, 0x06, 0x10, 3, 3, 0x75, 4, 0x06, 0x09, 6, 5) // esi in r5
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	for _, c := range []struct {
		a      *arch.Arch
		darwin bool
		want   string
	}{
		{arch.I386, true, "0 cfa=esp+4 ra=c-4|1 cfa=esp+8 ebp=c-8 ra=c-4|3 cfa=ebp+8 ebp=c-8 ra=c-4|" +
			"1068 cfa=breg5 (ebp) +8; deref ebx=breg4 (esp) +4; deref esi=r4"},
		{arch.I386, false, "0 cfa=ebp+4 ra=c-4|1 cfa=ebp+8 esp=c-8 ra=c-4|3 cfa=esp+8 esp=c-8 ra=c-4|" +
			"1068 cfa=breg4 (esp) +8; deref ebx=breg5 (ebp) +4; deref esi=r5"},
	} {
		table := cfi.New(cfi.Config{Arch: c.a, Data: data, Addr: 0x2c, DarwinEH: c.darwin})
		short := func(r *row.Row) string {
			s := strings.TrimLeft(r.Format(c.a), "0")
			if strings.HasPrefix(s, " ") {
				s = "0" + s
			}
			if r.CFA.Kind == row.ValExpr {
				s, _, _ = strings.Cut(s, " ")
				s += " cfa=" + strings.TrimPrefix(r.CFA.Explain(c.a), "is ") + " ebx=" +
					strings.TrimPrefix(r.Rule(3).Explain(c.a), "saved at ") + " esi=" + r.Rule(6).String()
			}
			return s
		}
		var rows, at, each, batch []string
		for f, err := range table.FDEs() {
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range table.Rows(f) {
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, short(r))
				var again row.Row
				if err := table.RowAt(r.Lo, &again); err != nil {
					t.Fatal(err)
				}
				at = append(at, short(&again))
			}
		}
		add := func(list *[]string) cfi.RowFunc {
			return func(lo, hi uint64, r *row.Row, hash uint64) bool {
				if r == nil || hash != compiled.HashRow(r) {
					t.Errorf("row at %x: %v, hash %x", lo, r, hash)
					return true
				}
				*list = append(*list, short(r))
				return true
			}
		}
		table.EachRow(0, table.Entries(), add(&each))
		b := compiled.NewBuilder(10)
		table.EachBatch(new(cfi.Compiler), 0, table.Batches(), b.AddBatch, add(&batch))
		for what, got := range map[string][]string{"Rows": rows, "RowAt": at, "EachRow": each} {
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("%s %v, %s:\ngot  %s\nwant %s", c.a.Name, c.darwin, what, s, c.want)
			}
		}
		if c.darwin && strings.Join(batch, "|") != c.want {
			t.Errorf("batches: %s", batch)
		}
	}
	// Other architectures use the usual numbers.
	table := cfi.New(cfi.Config{Arch: arch.AMD64, PtrSize: 4, Data: data, Addr: 0x2c, DarwinEH: true})
	var r row.Row
	if err := table.RowAt(0, &r); err != nil || r.CFA.Reg != 5 {
		t.Errorf("%v, %+v", err, r)
	}
}
