package cfi_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/internal/fixture"
	"dbg/row"
)

// TestGolden compares every row of every entry of real files with readelf's output: of a few dozen
// files, or, with DBG_ALL, of every ELF file in /usr/lib and /usr/bin. It compares the rows from
// Rows, and also compares EachRow and RowAt with each other.
func TestGolden(t *testing.T) {
	fixture.Need(t, "readelf")
	files := realFiles()
	if testing.Short() && len(files) > 5 {
		files = files[:5]
	}
	if fixture.All() {
		files = allFiles([]string{"/usr/lib", "/usr/bin", "/usr/sbin", "/usr/lib32", "/usr/libx32", "/usr/libexec"})
	}
	var total tally
	next := make(chan string)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards total
	for range 2 {
		wg.Go(func() {
			for f := range next {
				c := compareFile(t, f)
				mu.Lock()
				total.add(c)
				if total.files%500 == 0 && c.files > 0 && fixture.All() {
					fmt.Fprintf(os.Stderr, "%s: %s\n", f, &total)
				}
				mu.Unlock()
			}
		})
	}
	for _, f := range files {
		next <- f
	}
	close(next)
	wg.Wait()
	t.Logf("%s", &total)
}

// tally counts what was compared.
type tally struct{ files, entries, rows, bad int }

func (c *tally) add(o tally) {
	c.files += o.files
	c.entries += o.entries
	c.rows += o.rows
	c.bad += o.bad
}

func (c *tally) String() string {
	return fmt.Sprintf("%d files, %d entries, %d rows, %d differences", c.files, c.entries, c.rows, c.bad)
}

// comparison is the state for one file.
type comparison struct {
	tally
	t    *testing.T
	path string
	mine []row.Row // of the current entry
}

func (c *comparison) complain(format string, args ...any) {
	if c.bad++; c.bad <= 5 {
		c.t.Errorf("%s: %s", c.path, fmt.Sprintf(format, args...))
	}
}

func compareFile(t *testing.T, path string) tally {
	eh, debug := configs(path)
	if eh.Data == nil && debug.Data == nil {
		return tally{}
	}
	c := comparison{tally: tally{files: 1}, t: t, path: path}
	tables := map[string]*cfi.Table{}
	fdes := map[string]map[uint64]cfi.FDE{}
	for _, conf := range []cfi.Config{eh, debug} {
		if conf.Data == nil {
			continue
		}
		table := cfi.New(conf)
		tables[table.Name()] = table
		byOffset := map[uint64]cfi.FDE{}
		for f, err := range table.FDEs() {
			if err != nil {
				c.complain("%v", err)
				continue
			}
			byOffset[f.Offset] = f
		}
		fdes[table.Name()] = byOffset
		if _, err := sweep(table); err != nil {
			c.complain("%s: %v", table.Name(), err)
		}
	}
	a := eh.Arch
	if a == nil {
		a = debug.Arch
	}
	err := readelf(path, func(e *peerEntry) {
		f, ok := fdes[e.section][e.off]
		if !ok {
			c.complain("%s FDE 0x%x not found", e.section, e.off)
			return
		}
		delete(fdes[e.section], e.off)
		c.entry(a, tables[e.section], f, e)
	})
	if err != nil {
		t.Logf("%s: readelf: %v", path, err)
	}
	for section, left := range fdes {
		for off := range left {
			c.complain("%s FDE 0x%x: readelf has it not", section, off)
		}
	}
	return c.tally
}

// entry compares one entry's rows.
func (c *comparison) entry(a *arch.Arch, table *cfi.Table, f cfi.FDE, e *peerEntry) {
	c.entries++
	if f.Lo != e.lo || f.Hi != e.hi {
		c.complain("FDE 0x%x: %x..%x, readelf says %x..%x", f.Offset, f.Lo, f.Hi, e.lo, e.hi)
		return
	}
	n := 0
	for r, err := range table.Rows(f) {
		if err != nil {
			c.complain("%v", err)
			break
		}
		if n == len(c.mine) {
			c.mine = append(c.mine, row.Row{})
		}
		c.mine[n].CopyFrom(r)
		n++
	}
	mine := c.mine[:n]
	c.rows += n
	regs := make([]arch.Reg, len(e.columns))
	for i, name := range e.columns {
		if i == 0 {
			continue
		}
		var ok bool
		if regs[i], ok = peerReg(a, name, f.CIE.RA); !ok {
			regs[i] = arch.NoReg // we have no slot for it, and so no rules
		}
	}
	k := 0
	for i := range e.rows {
		their := &e.rows[i]
		if i+1 < len(e.rows) && e.rows[i+1].loc == their.loc || their.loc >= f.Hi {
			continue // an advance by 0: the last row of an address is valid; or a row after the end
		}
		if k == n || mine[k].Lo != their.loc {
			c.complain("FDE 0x%x: readelf has a row at 0x%x, and of %d rows number %d is not there", f.Offset, their.loc, n, k)
			return
		}
		r := &mine[k]
		k++
		if len(their.rules) != len(e.columns) {
			c.complain("FDE 0x%x: no columns at 0x%x", f.Offset, their.loc)
			return
		}
		for j, want := range their.rules {
			got := ""
			if j == 0 {
				got = cfaText(a, r, want)
			} else if regs[j] == arch.NoReg {
				continue
			} else {
				got = ruleText(r.Rule(regs[j]))
			}
			if got != want {
				c.complain("FDE 0x%x at 0x%x: %s is %q, readelf says %q", f.Offset, their.loc, e.columns[j], got, want)
			}
		}
	}
	if k != n {
		c.complain("FDE 0x%x: a row at 0x%x that readelf has not", f.Offset, mine[k].Lo)
	}
}

// cfaText returns our CFA in readelf's notation.
func cfaText(a *arch.Arch, r *row.Row, want string) string {
	switch r.CFA.Kind {
	case row.InReg:
		return peerCFA(a, r.CFA.Reg, r.CFA.N)
	case row.ValExpr:
		return "exp"
	}
	if want == peerCFA(a, 0, 0) {
		return want // .cfi_startproc simple: not defined yet; readelf shows register 0
	}
	return "u"
}

// ruleText returns our rule in readelf's notation. readelf writes "u" for an unspecified rule.
func ruleText(r row.Rule) string {
	if s := r.String(); s != "" {
		return s
	}
	return "u"
}

// TestAssembled compares gas's and ld's output for testdata/corner.s, in both sections and with
// 64-bit pointers, with readelf.
func TestAssembled(t *testing.T) {
	fixture.Need(t, "gcc", "readelf")
	for _, flags := range []string{"-shared", "-shared -Wl,--no-eh-frame-hdr", "-static -Wl,-e,f1 -Wl,-Ttext=0x7000000000"} {
		out := filepath.Join(t.TempDir(), "corner")
		args := append(strings.Fields(flags), "-nostdlib", "-o", out, "testdata/corner.s")
		if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, msg)
		}
		if c := compareFile(t, out); c.entries != 10 || c.rows < 40 {
			t.Errorf("%s: %s", flags, &c)
		}
	}
}
