package cfi_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"dbg/arch"
)

// peerEntry is an FDE from the output of readelf --debug-dump=frames-interp.
type peerEntry struct {
	section string // ".eh_frame"
	off     uint64
	lo, hi  uint64
	columns []string // "CFA", then registers
	rows    []peerRow
}

type peerRow struct {
	loc   uint64
	rules []string // parallel to columns
}

// readelf calls fn for each FDE in readelf's output for a file, in order. The entry is valid until
// fn returns.
func readelf(path string, fn func(*peerEntry)) error {
	cmd := exec.Command("readelf", "-W", "--debug-dump=frames-interp,no-follow-links", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	parseReadelf(pipe, fn)
	return cmd.Wait()
}

// readelf writes a register rule as "r9 (r9)".
var registerName = regexp.MustCompile(`(r\d+) \([^)]*\)`)

func parseReadelf(in io.Reader, fn func(*peerEntry)) {
	var e peerEntry
	type cieRow struct {
		columns []string
		row     peerRow
	}
	cies := map[uint64]cieRow{}
	section := ""
	inFDE, inCIE := false, false
	var cie uint64
	flush := func() {
		if inCIE && len(e.rows) > 0 {
			cies[e.off] = cieRow{e.columns, e.rows[len(e.rows)-1]}
		}
		if inFDE {
			if len(e.rows) == 0 {
				// readelf prints no rows for an FDE with only DW_CFA_nop: its row is that of its CIE.
				c := cies[cie]
				e.columns = c.columns
				e.rows = append(e.rows, peerRow{e.lo, c.row.rules})
			}
			fn(&e)
		}
		inFDE, inCIE = false, false
		e.columns, e.rows = nil, e.rows[:0]
	}
	s := bufio.NewScanner(in)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		line := s.Text()
		if strings.IndexByte(line, '(') > 0 {
			line = registerName.ReplaceAllString(line, "$1")
		}
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			flush()
			section = ".eh_frame"
			if strings.Contains(line, "debug_frame") {
				section = ".debug_frame"
			}
			clear(cies)
		case len(fields) > 4 && fields[3] == "FDE":
			flush()
			inFDE = true
			e.section = section
			e.off = hex(fields[0])
			for _, f := range fields[4:] {
				if v, ok := strings.CutPrefix(f, "cie="); ok {
					cie = hex(v)
				}
				if v, ok := strings.CutPrefix(f, "pc="); ok {
					lo, hi, _ := strings.Cut(v, "..")
					// With segments: <0007>:0000000000001000
					e.lo, e.hi = hex(lo[strings.LastIndexByte(lo, ':')+1:]), hex(hi)
				}
			}
		case len(fields) > 3 && fields[3] == "CIE":
			flush()
			inCIE = true
			e.off = hex(fields[0])
		case len(fields) > 1 && fields[1] == "ZERO":
			flush()
		case len(fields) > 1 && fields[0] == "LOC":
			e.columns = fields[1:]
		case (inFDE || inCIE) && len(fields) > 1 && len(fields) == len(e.columns)+1:
			if loc, err := strconv.ParseUint(fields[0], 16, 64); err == nil {
				e.rows = append(e.rows, peerRow{loc, fields[1:]})
			}
		}
	}
	flush()
}

func hex(s string) uint64 {
	v, _ := strconv.ParseUint(s, 16, 64)
	return v
}

// peerReg returns the register for a column heading of readelf.
func peerReg(a *arch.Arch, name string, ra arch.Reg) (arch.Reg, bool) {
	if name == "ra" {
		if a == arch.RISCV64 {
			return 1, true
		}
		return ra, true
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(name, "r"), 10, 16); err == nil && name[0] == 'r' && (a != arch.AMD64 || n > 15) {
		return a.FromDWARF(n)
	}
	return a.RegByName(name)
}

// peerCFA parses a CFA of a register and an offset in readelf's notation.
func peerCFA(a *arch.Arch, reg arch.Reg, n int64) string {
	name := a.RegName(reg)
	if a == arch.ARM || name == "" { // readelf has no names for ARM registers
		name = fmt.Sprintf("r%d", reg)
	}
	return fmt.Sprintf("%s%+d", name, n)
}
