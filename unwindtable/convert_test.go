package unwindtable

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/sframe"
)

// TestConvert converts the call frame information of files, and compares every row with what the new
// section has at its first and last address. With DBG_ALL it also converts libraries, and holds the result
// against readelf --sframe.
func TestConvert(t *testing.T) {
	files := []string{fixture.Build(t, "unwind/sframe.c", "-O2"), fixture.Build(t, "torture/last.s", "-nostdlib", "-static")}
	readelf := ""
	if fixture.All() {
		readelf = filepath.Join(fixture.Binutils(t, fixture.Forky), "x86_64-linux-gnu-readelf")
		files = append(files, "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/aarch64-linux-gnu/lib/libc.so.6")
	}
	total := 0
	for _, path := range files {
		for _, version := range []int{2, 3} {
			out := filepath.Join(t.TempDir(), "out")
			var report bytes.Buffer
			if err := Convert(context.Background(), &report, path, ConvertOptions{To: "sframe", Source: "eh_frame", Output: out, Version: version}); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			rows, lost := compareConverted(t, path, out)
			total += rows
			if want := lostRows(t, report.String()); lost != want || rows == 0 {
				t.Errorf("%s, version %d: %d of %d rows are not in the new section, and the report has %d:\n%s", path, version, lost, rows, want, report.String())
			}
			if readelf != "" {
				againstReadelf(t, readelf, out)
			}
		}
	}
	t.Logf("%d rows are equal or reported as lost", total)
}

// lostRows adds up the rows that a report has lost.
func lostRows(t *testing.T, report string) (n int) {
	for line := range strings.Lines(report) {
		var rows int
		if _, err := fmt.Sscanf(line, "rows lost: %d:", &rows); err == nil {
			n += rows
		}
	}
	return n
}

// compareConverted compares the rows of .eh_frame with those of the new section. It returns the number of
// rows, and of those that the new section does not cover.
func compareConverted(t *testing.T, path, converted string) (rows, lost int) {
	t.Helper()
	from, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := image.Open(converted)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	eh, _ := from.Section(".eh_frame")
	s, ok := to.SFrame()
	if !ok {
		t.Fatal("the new file has no .sframe")
	}
	tab, err := sframe.New(sframe.Config{Data: s.Data, Addr: uint64(s.Addr)})
	if err != nil {
		t.Fatal(err)
	}
	a := from.Arch()
	table := cfi.New(cfi.Config{Arch: a, Data: eh.Data, Addr: uint64(eh.Addr)})
	for e, err := range table.Section() {
		if err != nil || e.Kind != cfi.IsFDE {
			continue
		}
		for r, err := range table.Rows(e.FDE) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Lo >= r.Hi {
				continue
			}
			rows++
			if !sameRow(t, a, tab, r) {
				lost++
			}
		}
	}
	return rows, lost
}

// sameRow compares a row with what an SFrame table has at its ends. It returns false if the table does not
// cover it.
func sameRow(t *testing.T, a *arch.Arch, tab *sframe.Table, r *row.Row) bool {
	t.Helper()
	var got row.Row
	for _, pc := range []uint64{r.Lo, r.Hi - 1} {
		err := tab.RowAt(pc, &got)
		if err == sframe.ErrNotCovered {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		if want, is := described(a, r), described(a, &got); want != is || got.Signed != r.Signed && !strings.Contains(want, "outermost") || got.Signal != r.Signal {
			t.Fatalf("0x%x: %s was converted to %s", pc, want, is)
		}
	}
	return true
}

// described is the part of a row that SFrame describes.
func described(a *arch.Arch, r *row.Row) string {
	ra, fp := r.Rule(r.RA), r.Rule(a.FP)
	if ra.Kind == row.Undefined {
		return "outermost"
	}
	if ra.Kind == row.Unspecified && r.RA == a.LR { // it is in the link register
		ra.Kind = row.Same
	}
	if fp.Kind == row.Unspecified {
		fp.Kind = row.Same
	}
	cfa := r.CFAString(a)
	if r.CFA.Kind == row.ValExpr {
		cfa = r.CFA.Explain(a)
	}
	return cfa + ", ra " + ra.Explain(a) + ", fp " + fp.Explain(a)
}

func againstReadelf(t *testing.T, readelf, file string) {
	t.Helper()
	said, err := exec.Command(readelf, "--sframe", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := printSFrame(t, file, Options{Raw: true})
	var a, b []string
	for line := range strings.Lines(strings.TrimSpace(string(said))) {
		a = append(a, strings.TrimRight(line, " \n"))
	}
	for line := range strings.Lines(strings.TrimSpace(ours)) {
		b = append(b, strings.TrimRight(line, " \n"))
	}
	if strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("%s: readelf prints %d lines, and ours are %d others", file, len(a), len(b))
	}
}

// TestConvertRefuses: what can't be converted is an error.
func TestConvertRefuses(t *testing.T) {
	file := fixture.Build(t, "unwind/deep.c")
	out := filepath.Join(t.TempDir(), "out")
	for name, c := range map[string]struct {
		path string
		o    ConvertOptions
	}{
		"no output":    {file, ConvertOptions{To: "sframe"}},
		"version":      {file, ConvertOptions{To: "sframe", Output: out, Version: 1}},
		"no file":      {"/nonexistent", ConvertOptions{To: "sframe", Output: out}},
		"no such data": {file, ConvertOptions{To: "sframe", Output: out, Source: "debug_frame"}},
	} {
		if err := Convert(context.Background(), new(bytes.Buffer), c.path, c.o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var b bytes.Buffer
	if err := Convert(context.Background(), &b, file, ConvertOptions{To: "json"}); err != nil || !strings.HasPrefix(b.String(), `{"function":`) {
		t.Errorf("JSON: %v, %.80s", err, b.String())
	}
}
