package cfi_test

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// sections opens a file's tables without package image, which is above this one.
func sections(t testing.TB, path string) (eh, debug *cfi.Table) {
	ehConfig, debugConfig := configs(t, path)
	if ehConfig.Data != nil {
		eh = cfi.New(ehConfig)
	}
	if debugConfig.Data != nil {
		debug = cfi.New(debugConfig)
	}
	return eh, debug
}

func sectionSize(path string) (eh, debug int) {
	e, d := configs(nil, path)
	return len(e.Data), len(d.Data)
}

func configs(t testing.TB, path string) (eh, debug cfi.Config) {
	f, err := elf.Open(path)
	if err != nil {
		return eh, debug
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return eh, debug
	}
	if s := f.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		data, _ := s.Data()
		c := cfi.Config{Arch: arch.AMD64, Data: data, Addr: s.Addr}
		if h := f.Section(".eh_frame_hdr"); h != nil {
			c.Hdr, _ = h.Data()
			c.HdrAddr = h.Addr
		}
		if s := f.Section(".text"); s != nil {
			c.Text = s.Addr
		}
		if s := f.Section(".got.plt"); s != nil {
			c.DataBase = s.Addr
		} else if s := f.Section(".got"); s != nil {
			c.DataBase = s.Addr
		}
		eh = c
	}
	if s := f.Section(".debug_frame"); s != nil {
		data, _ := s.Data()
		debug = cfi.Config{Arch: arch.AMD64, Data: data, Debug: true}
	} else if s := f.Section(".zdebug_frame"); s != nil {
		raw, _ := s.Data()
		if len(raw) > 12 {
			if z, err := zlib.NewReader(bytes.NewReader(raw[12:])); err == nil {
				data, _ := io.ReadAll(z)
				debug = cfi.Config{Arch: arch.AMD64, Data: data, Debug: true}
			}
		}
	}
	return eh, debug
}

// realFiles lists programs and libraries of this machine.
func realFiles() (files []string) {
	for _, pattern := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libcrypto.so*",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
		"/usr/lib/x86_64-linux-gnu/libpython3*.so*", "/usr/bin/python3*", "/usr/lib/x86_64-linux-gnu/libpthread*",
		"/usr/bin/[b-e]*", "/usr/lib/x86_64-linux-gnu/lib[g-z]*.so.*",
	} {
		m, _ := filepath.Glob(pattern)
		n := 0
		for _, f := range m {
			if f, err := filepath.EvalSymlinks(f); err != nil || slices.Contains(files, f) {
				continue
			}
			if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() && st.Size() < 12<<20 && n < 14 {
				f, _ = filepath.EvalSymlinks(f)
				files = append(files, f)
				n++
			}
		}
	}
	return files
}

// TestGolden compares every row of every entry of real files with what readelf says.
func TestGolden(t *testing.T) {
	if _, err := exec.LookPath("readelf"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("readelf is needed: package binutils")
		}
		t.Skip("readelf is not installed (package binutils)")
	}
	files := realFiles()
	if testing.Short() && len(files) > 5 {
		files = files[:5]
	}
	entries, rows := 0, 0
	tested := 0
	for _, f := range files {
		eh, debug := sections(t, f)
		if eh == nil && debug == nil {
			continue
		}
		e, r := compareFile(t, f, eh, debug)
		entries, rows = entries+e, rows+r
		tested++
	}
	t.Logf("%d files, %d entries, %d rows", tested, entries, rows)
}

func compareFile(t *testing.T, path string, eh, debug *cfi.Table) (entries, rows int) {
	cmd := exec.Command("readelf", "-W", "--debug-dump=frames-interp", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bad := 0
	complain := func(format string, args ...any) {
		if bad++; bad <= 5 {
			t.Errorf("%s: %s", filepath.Base(path), fmt.Sprintf(format, args...))
		}
	}
	var table *cfi.Table
	byOffset := map[uint64]cfi.FDE{}
	var mine []row.Row
	var theirs []map[string]string
	var theirLoc []uint64
	var columns []string
	var current *cfi.FDE
	cieRow := map[uint64]map[string]string{}
	inCIE, cieOff := false, uint64(0)
	flush := func() {
		if current == nil {
			return
		}
		entries++
		rows += len(mine)
		if len(theirLoc) == 0 {
			// readelf prints no rows of an FDE that has only DW_CFA_nop: it has the
			// CIE's one.
			if len(mine) != 1 || cieRow[current.CIE.Offset] == nil {
				complain("FDE 0x%x: %d rows, readelf has none", current.Offset, len(mine))
				current, mine = nil, nil
				return
			}
			theirs, theirLoc = append(theirs, cieRow[current.CIE.Offset]), append(theirLoc, current.Lo)
		}
		starts := map[uint64]bool{}
		for i := range mine {
			starts[mine[i].Lo] = true
		}
		seen := map[uint64]bool{}
		for i, loc := range theirLoc {
			if i+1 < len(theirLoc) && theirLoc[i+1] == loc {
				continue // an advance by 0: the last row of an address counts
			}
			if loc >= current.Hi {
				continue
			}
			seen[loc] = true
			r := rowAt(mine, loc)
			if r == nil || !starts[loc] {
				complain("FDE 0x%x: no row at 0x%x", current.Offset, loc)
				continue
			}
			for col, want := range theirs[i] {
				got := column(r, col)
				if col == "CFA" && got == "u" && want == "rax+0" {
					continue // .cfi_startproc simple: not defined yet, which readelf shows as register 0
				}
				if got != want {
					complain("FDE 0x%x at 0x%x: %s is %q, readelf says %q", current.Offset, loc, col, got, want)
				}
			}
		}
		for lo := range starts {
			if !seen[lo] {
				complain("FDE 0x%x: a row at 0x%x that readelf has not", current.Offset, lo)
			}
		}
		current, mine, theirs, theirLoc = nil, nil, nil, nil
	}
	in := bufio.NewScanner(pipe)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if current != nil {
			line = registerName.ReplaceAllString(line, "$1")
		}
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			flush()
			table = nil
			if strings.Contains(line, "eh_frame") {
				table = eh
			} else if strings.Contains(line, "debug_frame") {
				table = debug
			}
			byOffset = map[uint64]cfi.FDE{}
			if table != nil {
				for f, err := range table.FDEs() {
					if err != nil {
						complain("%v", err)
					}
					byOffset[f.Offset] = f
				}
			}
		case len(fields) > 5 && fields[3] == "FDE":
			flush()
			inCIE = false
			var off uint64
			fmt.Sscanf(fields[0], "%x", &off)
			f, ok := byOffset[off]
			if !ok {
				complain("FDE 0x%x not found", off)
				continue
			}
			delete(byOffset, off)
			var lo, hi uint64
			fmt.Sscanf(fields[len(fields)-1], "pc=%x..%x", &lo, &hi)
			if f.Lo != lo || f.Hi != hi {
				complain("FDE 0x%x: %x..%x, readelf says %x..%x", off, f.Lo, f.Hi, lo, hi)
			}
			current = &f
			for r, err := range table.Rows(f) {
				if err != nil {
					complain("%v", err)
					break
				}
				var c row.Row
				c.CopyFrom(r)
				mine = append(mine, c)
			}
		case len(fields) > 3 && fields[3] == "CIE":
			flush()
			inCIE = true
			fmt.Sscanf(fields[0], "%x", &cieOff)
		case len(fields) > 1 && fields[1] == "ZERO":
			flush()
		case len(fields) > 1 && fields[0] == "LOC":
			columns = fields[1:]
		case (current != nil || inCIE) && len(fields) == len(columns)+1:
			var loc uint64
			if _, err := fmt.Sscanf(fields[0], "%x", &loc); err != nil {
				continue
			}
			m := map[string]string{}
			for i, c := range columns {
				m[c] = fields[i+1]
			}
			if inCIE {
				cieRow[cieOff] = m
				continue
			}
			theirs, theirLoc = append(theirs, m), append(theirLoc, loc)
		}
	}
	flush()
	if err := cmd.Wait(); err != nil {
		t.Logf("%s: readelf: %v", path, err)
	}
	if bad > 5 {
		t.Errorf("%s: %d differences", path, bad)
	}
	return entries, rows
}

// readelf writes a register rule as "r9 (r9)".
var registerName = regexp.MustCompile(`(r\d+) \(\w+\)`)

func rowAt(rows []row.Row, pc uint64) *row.Row {
	for i := range rows {
		if rows[i].Lo <= pc && pc < rows[i].Hi {
			return &rows[i]
		}
	}
	return nil
}

// column is our rule in readelf's words. readelf has no word for unspecified and
// writes "u".
func column(r *row.Row, name string) string {
	if name == "CFA" {
		return r.CFAString(arch.AMD64)
	}
	reg := r.RA
	if name != "ra" {
		var ok bool
		if reg, ok = arch.AMD64.RegByName(name); !ok {
			return "no such register"
		}
	}
	s := r.Rule(reg).String()
	if s == "" {
		return "u"
	}
	return s
}

// TestAssembled compares what gas and ld make of testdata/corner.s, in both
// sections and with 64-bit pointers, with readelf.
func TestAssembled(t *testing.T) {
	for _, tool := range []string{"gcc", "readelf"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is needed", tool)
			}
			t.Skipf("%s is not installed", tool)
		}
	}
	for _, flags := range []string{"-shared", "-shared -Wl,--no-eh-frame-hdr", "-static -Wl,-e,f1 -Wl,-Ttext=0x7000000000"} {
		out := filepath.Join(t.TempDir(), "corner")
		args := append(strings.Fields(flags), "-nostdlib", "-o", out, "testdata/corner.s")
		if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, msg)
		}
		eh, debug := sections(t, out)
		if entries, rows := compareFile(t, out, eh, debug); entries != 10 || rows < 40 {
			t.Errorf("%s: %d entries, %d rows", flags, entries, rows)
		}
	}
}
