package cfi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
	"dbg/row/compiled"
)

// checkSweep compares EachRow with RowAt at the first and the last address of each row, and its
// hash with compiled.HashRow.
func checkSweep(t testing.TB, table *cfi.Table) int {
	t.Helper()
	rows, err := sweep(table)
	if err == nil {
		err = sameBatches(table)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// shared is one Compiler for the files of all tests: the state from one file must not change the
// rows of another.
var shared cfi.Compiler

// sameBatches compares EachBatch with EachRow, in three parts and in one.
func sameBatches(table *cfi.Table) error {
	want := sweptRows(table)
	for _, parts := range []int{3, 1} { // first find errors that occur only between two parts
		for again := 0; ; again++ {
			ok, err := inBatches(table, parts, want)
			if err != nil && ok {
				return fmt.Errorf("in %d parts: %w", parts, err)
			}
			if ok {
				break
			}
			if again == 1 {
				return fmt.Errorf("EachBatch is false twice")
			}
		}
	}
	return nil
}

// swept is a row from EachRow.
type swept struct {
	lo, hi uint64
	known  bool
	hash   uint64
	row    row.Row
}

func sweptRows(table *cfi.Table) (rows []swept) {
	table.EachRow(0, table.Entries(), func(lo, hi uint64, r *row.Row, hash uint64) bool {
		s := swept{lo: lo, hi: hi, known: r != nil, hash: hash}
		if r != nil {
			s.row.CopyFrom(r)
		}
		rows = append(rows, s)
		return true
	})
	return rows
}

// inBatches compares EachBatch with the expected rows. It returns false if EachBatch does.
func inBatches(table *cfi.Table, parts int, want []swept) (bool, error) {
	var err error
	n := 0
	check := func(lo, hi uint64, r *row.Row, hash uint64) bool {
		if err != nil {
			return false
		}
		if n == len(want) {
			err = fmt.Errorf("0x%x..0x%x is in a batch, not in EachRow", lo, hi)
			return false
		}
		w := &want[n]
		n++
		if lo != w.lo || hi != w.hi || (r != nil) != w.known || r != nil && (hash != w.hash || !compiled.SameRules(r, &w.row)) {
			err = fmt.Errorf("0x%x..0x%x is 0x%x..0x%x in a batch", w.lo, w.hi, lo, hi)
			if r != nil {
				err = fmt.Errorf("%w, %s: %s", err, w.row.Format(arch.AMD64), r.Format(arch.AMD64))
			}
		}
		return err == nil
	}
	batch := func(b *compiled.Batch) {
		for k, r := range b.Starts[:b.N] {
			hi := b.Hi
			if k+1 < b.N {
				hi = b.Starts[k+1].Lo
			}
			check(r.Lo, hi, &b.Rules[r.Rule].Row, b.Rules[r.Rule].Hash)
		}
	}
	for i, all := 0, table.Batches(); i < parts; i++ {
		if !table.EachBatch(&shared, i*all/parts, (i+1)*all/parts, batch, check) {
			return false, nil
		}
	}
	if err == nil && n != len(want) {
		err = fmt.Errorf("%d rows in batches, %d in EachRow", n, len(want))
	}
	return true, err
}

func sweep(table *cfi.Table) (rows int, err error) {
	var at row.Row
	last := uint64(0)
	table.EachRow(0, table.Entries(), func(lo, hi uint64, r *row.Row, hash uint64) bool {
		rows++
		if lo >= hi || lo < last {
			err = fmt.Errorf("0x%x..0x%x after 0x%x", lo, hi, last)
		}
		last = hi
		for _, pc := range []uint64{lo, hi - 1} {
			atErr := table.RowAt(pc, &at)
			switch {
			case r == nil && atErr == cfi.ErrNotCovered:
				err = fmt.Errorf("0x%x: EachRow has it, RowAt has not", pc)
			case r == nil:
			case atErr != nil:
				err = fmt.Errorf("0x%x: RowAt: %w", pc, atErr)
			case !compiled.SameRules(r, &at) || r.Lo != at.Lo || r.Hi != at.Hi || r.Source != at.Source:
				err = fmt.Errorf("0x%x: EachRow %s of 0x%x, RowAt %s of 0x%x", pc, r.Format(arch.AMD64), r.Source, at.Format(arch.AMD64), at.Source)
			}
		}
		if r != nil && hash != compiled.HashRow(r) {
			err = fmt.Errorf("0x%x: hash 0x%x, of the row 0x%x", lo, hash, compiled.HashRow(r))
		}
		return err == nil
	})
	return rows, err
}

func TestEachRow(t *testing.T) {
	for _, path := range realFiles()[:5] {
		eh, debug := sections(t, path)
		for _, table := range []*cfi.Table{eh, debug} {
			if table != nil {
				t.Logf("%s: %d entries, %d rows", path, table.Entries(), checkSweep(t, table))
			}
		}
	}
}

// TestEachRowInParts compares EachRow in two parts, for every cut, with one call.
func TestEachRowInParts(t *testing.T) {
	b := &builder{a: arch.AMD64}
	c := b.cie(plain...)
	for i := range uint64(10) {
		b.fde(c, 0x1000+i*0x100, 0x80, 0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0a, 0x0e, 32, 0x41, 0x0b)
	}
	table := b.table()
	var whole []string
	note := func(to *[]string) cfi.RowFunc {
		return func(lo, hi uint64, r *row.Row, hash uint64) bool {
			*to = append(*to, fmt.Sprintf("%x %x %x %s", lo, hi, hash, r.Format(arch.AMD64)))
			return true
		}
	}
	table.EachRow(0, table.Entries(), note(&whole))
	if len(whole) != 40 {
		t.Fatalf("%d rows, want 40", len(whole))
	}
	for cut := range table.Entries() + 1 {
		var parts []string
		table.EachRow(0, cut, note(&parts))
		table.EachRow(cut, table.Entries()+7, note(&parts))
		if fmt.Sprint(parts) != fmt.Sprint(whole) {
			t.Errorf("cut at %d: other rows", cut)
		}
	}
	n := 0
	if table.EachRow(0, 10, func(uint64, uint64, *row.Row, uint64) bool { n++; return n < 7 }) || n != 7 {
		t.Errorf("false ended it after %d rows", n)
	}
}

// bigFiles lists the installed libraries with a large .eh_frame.
func bigFiles() (files []string) {
	home, _ := os.UserHomeDir()
	for _, pattern := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libLLVM*.so*",
		filepath.Join(home, ".rustup/toolchains/stable*/lib/librustc_driver*.so")} {
		m, _ := filepath.Glob(pattern)
		if len(m) > 0 {
			files = append(files, m[len(m)-1])
		}
	}
	return files
}

// BenchmarkEachRow decodes all rows of a file, and BenchmarkIndex makes the index for that:
// together they are the cost of compiling a table.
func BenchmarkEachRow(b *testing.B) {
	for _, path := range bigFiles() {
		eh, _ := sections(b, path)
		size := sectionSize(path)
		b.Run(filepath.Base(path), func(b *testing.B) {
			n := eh.Entries()
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				rows = 0
				eh.EachRow(0, n, func(lo, hi uint64, r *row.Row, hash uint64) bool { rows++; return true })
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(ns/float64(rows), "ns/row")
			b.ReportMetric(ns/1e6/(float64(size)/(1<<20)), "ms/MB")
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

func sectionSize(path string) int {
	eh, _ := configs(path)
	return len(eh.Data)
}

func BenchmarkIndex(b *testing.B) {
	for _, path := range bigFiles() {
		c, _ := configs(path)
		size := sectionSize(path)
		b.Run(filepath.Base(path), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = cfi.New(c).Entries()
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(ns/float64(n), "ns/entry")
			b.ReportMetric(ns/1e6/(float64(size)/(1<<20)), "ms/MB")
		})
	}
}

// TestBatchesOfManyFiles checks that a file uses the states of another only if their CIEs agree.
func TestBatchesOfManyFiles(t *testing.T) {
	cie := func(version, codeAlign, dataAlign, ra byte, initial ...byte) []byte {
		return append([]byte{version, 0, codeAlign, dataAlign, ra}, initial...)
	}
	usual := []byte{0x0c, 7, 8, 0x90, 1}
	files := []struct {
		a    *arch.Arch
		cie  []byte
		expr bool
	}{
		{arch.AMD64, cie(1, 1, 0x78, 16, usual...), false},
		{arch.AMD64, cie(1, 4, 0x78, 16, usual...), false},                                     // code alignment
		{arch.AMD64, cie(1, 1, 0x7c, 16, 0x0c, 7, 8, 0x90, 2), false},                          // data alignment, with the same row
		{arch.AMD64, cie(3, 1, 0x78, 16, usual...), false},                                     // the same again
		{arch.AMD64, cie(1, 1, 0x78, 15, usual...), false},                                     // return address
		{arch.AMD64, cie(1, 1, 0x78, 16, append([]byte{0x86, 4}, usual...)...), false},         // the rule that DW_CFA_restore gives rbp
		{arch.AMD64, cie(1, 1, 0x78, 16, append([]byte{0x2e, 8}, usual...)...), false},         // size of arguments
		{arch.AMD64, cie(1, 1, 0x78, 16, append([]byte{0x10, 6, 1, 0x30}, usual...)...), true}, // an expression, which aliases the section
		{arch.ARM64, cie(1, 1, 0x78, 16, usual...), false},                                     // the numbers mean other registers
		{arch.I386, cie(1, 1, 0x7c, 8, 0x0c, 4, 4, 0x88, 1), false},
	}
	for round := range 3 {
		for i := range files {
			f := &files[(i*7+round)%len(files)]
			b := &builder{a: f.a}
			c := b.cie(f.cie...)
			for n := range uint64(20) {
				b.fde(c, 0x1000+n*0x400, 0x400, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x42, 0x0a, 0xc6, 0x0c, 7, byte(8+n%3), 0x41, 0x0b, 0x42, 0x86, byte(n%5), 0x43, 0xc6)
			}
			b.fde(c, 0x8000, 0x400, 0x41, 0x2d)                                          // DW_CFA_AARCH64_negate_ra_state, elsewhere DW_CFA_GNU_window_save
			b.fde(c, 0x9000, 0x400, 0x41, 0x0e, 16, 0x02, 0, 0x86, 2, 0x02, 5, 0x0e, 24) // DW_CFA_advance_loc1 by 0
			b.fde(c, 0xa000, 0x400, 0x41, 0x0e, 16, 0x86, 2, 0x02)                       // cut off: the following bytes belong to the next entry
			b.fde(c, 0xb000, 0x400, 0x41, 0x0e, 16, 0x0e)
			b.fde(c, 0xc000, 0x400, 0, 0, 0x41, 0x0e, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x86, 2, 0, 0)
			b.fde(c, 0xd000, 0x400)
			table := b.table()
			if err := sameBatches(table); err != nil {
				t.Errorf("round %d, file %d: %v", round, (i*7+round)%len(files), err)
			}
			batches := 0
			table.EachBatch(&shared, 0, table.Batches(), func(*compiled.Batch) { batches++ }, func(uint64, uint64, *row.Row, uint64) bool { return true })
			want := 22 // all except the defective ones and the section's last one, after which there are no eight bytes
			switch {
			case f.expr:
				want = 0
			case f.a == arch.ARM64:
				want = 23
			}
			if batches != want {
				t.Errorf("round %d, file %d: %d batches, not %d", round, (i*7+round)%len(files), batches, want)
			}
		}
	}
}

// TestBatchesInOtherOrder checks that a file continues from a state that another file has reached
// in another way.
func TestBatchesInOtherOrder(t *testing.T) {
	for _, programs := range [][][]byte{
		{{0x41, 0x86, 2}},
		{{0x41, 0x83, 2}, {0x41, 0x86, 2, 0x41, 0x8c, 3}}, // rbx; rbp, and then r12
		{{0x41, 0x8d, 2}, {0x41, 0x86, 2, 0x41, 0x8c, 3, 0x41, 0x8e, 4}},
	} {
		b := &builder{a: arch.AMD64}
		c := b.cie(1, 0, 1, 0x78, 14, 0x0c, 7, 8, 0x8e, 1) // no other test uses these rules
		for i, p := range programs {
			b.fde(c, 0x1000+0x100*uint64(i), 0x100, p...)
		}
		b.fde(c, 0x8000, 0x100)
		if _, err := inBatches(b.table(), 1, sweptRows(b.table())); err != nil {
			t.Error(err)
		}
	}
}

// TestBatchesInBatches checks that a table does not use its cached CIE states with another
// automaton.
func TestBatchesInBatches(t *testing.T) {
	file := func(ra byte) *cfi.Table {
		b := &builder{a: arch.AMD64}
		for k := range byte(3) {
			c := b.cie(1, 0, 1, 0x78, ra-k, 0x0c, 7, 8, 0x80|(ra-k), 1)
			for i := range uint64(5) {
				b.fde(c, 0x1000*uint64(k+1)+0x100*i, 0x100, 0x41, 0x86, 2, 0x41, 0x0e, 16)
			}
		}
		return b.table()
	}
	table, other := file(13), file(16)
	want := sweptRows(table)
	nested := 0
	check := func() {
		if _, err := inBatches(table, 1, want); err != nil {
			t.Error(err)
		}
	}
	check()
	other.EachBatch(&shared, 0, other.Batches(), func(*compiled.Batch) { nested++; check() }, func(uint64, uint64, *row.Row, uint64) bool { return true })
	if nested == 0 {
		t.Error("no batch")
	}
}
