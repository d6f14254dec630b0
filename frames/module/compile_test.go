package module

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/row/compiled"
)

// moduleOf opens a file of x86-64; nil if it is something else.
func moduleOf(t testing.TB, path string) *Module {
	f, err := image.Open(path)
	if err != nil {
		return nil
	}
	t.Cleanup(func() { f.Close() })
	if f.Arch() != arch.AMD64 {
		return nil
	}
	return Of(f, nil)
}

// libraries lists the ELF files that the test looks at: a few, or with DBG_ALL everything under
// /usr/lib and /usr/bin.
func libraries(t testing.TB) (list []string) {
	if !fixture.All() {
		for _, p := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
			"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/gdb", "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", "/usr/bin/bash"} {
			if p, err := filepath.EvalSymlinks(p); err == nil {
				list = append(list, p)
			}
		}
		if len(list) < 2 {
			fixture.Missing(t, "no libraries")
		}
		return list
	}
	for _, dir := range []string{"/usr/lib", "/usr/bin"} {
		filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				list = append(list, p)
			}
			return nil
		})
	}
	return list
}

// TestCompiledRows holds the compiled rows against the interpreter, for every row of every entry.
func TestCompiledRows(t *testing.T) {
	files, rows, rules := 0, 0, 0
	var shared cfi.Compiler
	for _, path := range libraries(t) {
		m := moduleOf(t, path)
		if m == nil {
			continue
		}
		m.contents.Compiler = &shared
		if files%3 == 0 {
			forgetful(&shared).Compile(arch.AMD64) // what is known of other files is used sometimes, and sometimes there is nothing
		}
		m.Compile(arch.AMD64)
		d, e := m.Tables(arch.AMD64)
		dc, ec := m.Compiled(arch.AMD64)
		for _, x := range []struct {
			table    *cfi.Table
			compiled *compiled.Table
		}{{d, dc}, {e, ec}} {
			if x.table == nil {
				continue
			}
			n, err := sameRows(x.table, x.compiled)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if x.compiled != nil {
				files++
				rules = max(rules, x.compiled.Rules())
			}
			rows += n
		}
	}
	t.Logf("%d tables, %d rows, at most %d rules in one", files, rows, rules)
	if rows < 10_000 {
		t.Errorf("only %d rows were compared", rows)
	}
}

// TestCompiledAfterOthers: what was learned from other files, and forgotten, is in no table of a later one.
func TestCompiledAfterOthers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one automaton
	var shared cfi.Compiler
	for i, path := range libraries(t)[:4] {
		m := moduleOf(t, path)
		if m == nil {
			continue
		}
		m.contents.Compiler = &shared
		if i%2 == 1 {
			forgetful(&shared).Compile(arch.AMD64)
		}
		m.Compile(arch.AMD64)
		_, table := m.Tables(arch.AMD64)
		_, result := m.Compiled(arch.AMD64)
		if _, err := sameRows(table, result); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCompiledWithoutHeader: where .eh_frame_hdr is not the section's index, wherever that shows, its rows are compiled all the same.
func TestCompiledWithoutHeader(t *testing.T) {
	good := moduleOf(t, "/lib/x86_64-linux-gnu/libc.so.6")
	if good == nil || len(good.contents.EHFrameHdr.Data) < 1000 {
		fixture.Missing(t, "no libc with .eh_frame_hdr")
	}
	good.Compile(arch.AMD64)
	_, right := good.Compiled(arch.AMD64)
	n := (len(good.contents.EHFrameHdr.Data) - 12) / 8
	for _, at := range []int{0, 1, n / 2, n - 1} {
		for name, spoil := range map[string]func(b []byte){
			"another function":   func(b []byte) { b[0]++ },
			"another entry":      func(b []byte) { b[4] ^= 4 },
			"the section's end":  func(b []byte) { copy(b[4:], "\xff\xff\xff\x7f") },
			"the same as before": func(b []byte) { copy(b, good.contents.EHFrameHdr.Data[12+8*max(at-1, 0):][:8]) },
		} {
			if at == 0 && name == "the same as before" {
				continue
			}
			hdr := bytes.Clone(good.contents.EHFrameHdr.Data)
			spoil(hdr[12+8*at:])
			m := New(Contents{EHFrame: good.contents.EHFrame, EHFrameHdr: Section{Data: hdr, Addr: good.contents.EHFrameHdr.Addr}, Text: good.contents.Text, Data: good.contents.Data})
			m.Compile(arch.AMD64)
			_, result := m.Compiled(arch.AMD64)
			if result == nil || result.Rows() != right.Rows() {
				t.Errorf("%s at %d of %d: not all rows are compiled", name, at, n)
			}
			_, table := m.Tables(arch.AMD64)
			if _, err := sameRows(table, result); err != nil {
				t.Errorf("%s at %d of %d: %v", name, at, n, err)
			}
		}
	}
}

func sameRows(table *cfi.Table, result *compiled.Table) (n int, err error) {
	var want row.Row
	check := func(pc uint64) error {
		werr := table.RowAt(pc, &want)
		if result == nil {
			if werr == nil {
				return fmt.Errorf("0x%x has a row, and nothing was compiled", pc)
			}
			return nil
		}
		p, id := result.Lookup(pc)
		switch {
		case id == compiled.AskDecoder:
		case errors.Is(werr, cfi.ErrNotCovered):
			if id != compiled.NoRule {
				return fmt.Errorf("0x%x is not covered, compiled it is %s", pc, p.Row().Format(arch.AMD64))
			}
		case werr != nil:
			return fmt.Errorf("0x%x: %w, compiled it is rule %d", pc, werr, id)
		case p == nil:
			return fmt.Errorf("0x%x is %s, compiled there is none", pc, want.Format(arch.AMD64))
		case !compiled.SameRules(&want, p.Row()):
			return fmt.Errorf("0x%x is %s, compiled it is %s", pc, want.Format(arch.AMD64), p.Row().Format(arch.AMD64))
		}
		return nil
	}
	// is spares check, which interprets the entry from its beginning, where the entry is the one that is asked.
	is := func(f *cfi.FDE, r *row.Row, pc uint64) bool {
		if result == nil {
			return false
		}
		p, _ := result.Lookup(pc)
		found, ok := table.Find(pc)
		return p != nil && ok && found.Offset == f.Offset && compiled.SameRules(r, p.Row())
	}
	for f, ferr := range table.FDEs() {
		if ferr != nil {
			continue
		}
		for r, rerr := range table.Rows(f) {
			if rerr != nil {
				break
			}
			n++
			for _, pc := range []uint64{r.Lo, r.Hi - 1} {
				if is(&f, r, pc) {
					continue
				}
				if err := check(pc); err != nil {
					return n, err
				}
			}
		}
		for _, pc := range []uint64{f.Lo - 1, f.Hi} {
			if err := check(pc); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// compileBench are files of different compilers and languages that most machines have some of, the one with the
// largest table first.
func compileBench(b *testing.B) (names []string, all []*Module) {
	for _, pattern := range []string{"/usr/lib/llvm-19/lib/libLLVM*.so*", "/usr/lib/x86_64-linux-gnu/libclang-cpp.so*", "/usr/lib/x86_64-linux-gnu/librsvg-2.so.2.*",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/python3.*", "/lib/x86_64-linux-gnu/libc.so.6"} {
		list, _ := filepath.Glob(pattern)
		for _, p := range list {
			if m := moduleOf(b, p); m != nil && len(m.contents.EHFrame.Data) > 0 {
				names, all = append(names, filepath.Base(p)), append(all, m)
				break
			}
		}
	}
	if len(all) == 0 {
		fixture.Missing(b, "no library")
	}
	return names, all
}

// forgetful is a table after which a Compiler knows nothing of instructions any more: it has too many different ones.
func forgetful(c *cfi.Compiler) *Module {
	return New(Contents{EHFrame: forgetfulSection(), Compiler: c})
}

func forgetfulSection() Section {
	var b []byte
	entry := func(id int, body ...byte) {
		b = binary.LittleEndian.AppendUint32(b, uint32(4+len(body)))
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
		b = append(b, body...)
	}
	entry(0, 1, 'z', 'R', 0, 1, 0x78, byte(arch.AMD64.PC), 1, 0, 0x0c, 7, 8, 0x90, 1) // a CIE: CFA=rsp+8, RA at c-8
	for a := range byte(90) {
		body := binary.LittleEndian.AppendUint64(nil, 0x1000*uint64(a))
		body = append(binary.LittleEndian.AppendUint64(body, 0x1000), 0)
		for n := range byte(90) {
			body = append(body, 0x0e, a, 0x41, 0x0e, n, 0x41) // DW_CFA_def_cfa_offset, DW_CFA_advance_loc
		}
		entry(len(b)+4, body...)
	}
	return Section{Data: b, Addr: 0x100000}
}

// BenchmarkCompile is all of a module's rows, on one core: checking the header, decoding, interning and joining. Nothing is known of other files.
func BenchmarkCompile(b *testing.B) {
	names, all := compileBench(b)
	var shared cfi.Compiler
	for i, first := range all {
		b.Run(names[i], func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // Run has set it
			b.ReportAllocs()
			var t *compiled.Table
			for range b.N {
				m := New(Contents{EHFrame: first.contents.EHFrame, EHFrameHdr: first.contents.EHFrameHdr, Text: first.contents.Text, Data: first.contents.Data, Compiler: &shared})
				b.StopTimer()
				forgetful(&shared).Compile(arch.AMD64)
				b.StartTimer()
				m.Compile(arch.AMD64)
				_, t = m.Compiled(arch.AMD64)
			}
			size := float64(len(first.contents.EHFrame.Data)) / 1e6
			b.ReportMetric(size, "MB")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e6/float64(b.N)/size, "ms/MB")
			b.ReportMetric(float64(t.Rows())/size/1e3, "Krows/MB")
			b.ReportMetric(float64(t.Rules()), "rules")
			b.ReportMetric(float64(t.Bytes())/float64(t.Rows()), "B/row")
		})
	}
}

// BenchmarkCompileFiles is the same of all the files that TestCompiledRows looks at, one after the other, as in a program that has them:
// with DBG_ALL, of everything that is installed.
func BenchmarkCompileFiles(b *testing.B) {
	var all []*Module
	size := 0
	for _, path := range libraries(b) {
		if m := moduleOf(b, path); m != nil && len(m.contents.EHFrame.Data) > 0 {
			all, size = append(all, m), size+len(m.contents.EHFrame.Data)
		}
	}
	compile := func(shared *cfi.Compiler) {
		for _, first := range all {
			m := New(Contents{EHFrame: first.contents.EHFrame, EHFrameHdr: first.contents.EHFrameHdr, Text: first.contents.Text, Data: first.contents.Data, Compiler: shared})
			m.Compile(arch.AMD64)
		}
	}
	compile(nil) // the files are read
	report := func(b *testing.B) {
		mb := float64(size) / 1e6
		b.ReportMetric(float64(len(all)), "files")
		b.ReportMetric(mb, "MB")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e6/float64(b.N)/mb, "ms/MB")
	}
	var shared cfi.Compiler
	b.Run("one Compiler", func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // Run has set it
		for range b.N {
			b.StopTimer()
			forgetful(&shared).Compile(arch.AMD64) // else the first ones know of the round before
			b.StartTimer()
			compile(&shared)
		}
		report(b)
	})
	b.Run("a Compiler for each", func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // Run has set it
		for range b.N {
			compile(nil)
		}
		report(b)
	})
	// What there would be without automata: every instruction of every entry is executed.
	b.Run("row by row", func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // Run has set it
		for range b.N {
			for _, m := range all {
				_, t := m.Tables(arch.AMD64)
				to := compiled.NewBuilder(len(m.contents.EHFrame.Data) / 5)
				t.EachRow(0, t.Entries(), func(lo, hi uint64, r *row.Row, hash uint64) bool {
					if r == nil {
						to.AskDecoder(lo, hi)
					} else {
						to.Add(lo, hi, r, hash)
					}
					return true
				})
				compiled.Join(arch.AMD64, []*compiled.Builder{to}, arch.AMD64.CalleeSavedSet)
			}
		}
		report(b)
	})
}
