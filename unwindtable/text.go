package unwindtable

import (
	"fmt"
	"strconv"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// text is the form for people: a heading for each function, the names of the columns, the rows.
type text struct {
	columns []arch.Reg
	width   []int // of the address, the CFA, the columns, and the return address
	line    []byte
}

func (t *text) begin(*printer, *source) {}

func (t *text) defect(p *printer, s *source, e *cfi.Entry, err error) {
	fmt.Fprintf(p.out, "error: %v\n", err)
}

func (t *text) entry(p *printer, s *source, e *cfi.Entry) {
	if e.Kind != cfi.IsFDE {
		return
	}
	signal := ""
	if e.CIE.Signal {
		signal = " signal"
	}
	fmt.Fprintf(p.out, "%s 0x%x..0x%x  %s  (FDE 0x%x)%s\n", p.f.function(s, e), e.FDE.Lo, e.FDE.Hi, s.name, e.Offset, signal)
	if t.measure(p.f.arch, s.table, e) {
		t.headings(p)
	}
	for r, err := range s.table.Rows(e.FDE) {
		if err != nil {
			fmt.Fprintf(p.out, "  error: %v\n", err)
			return
		}
		t.row(p, r)
	}
}

// measure finds the columns and their widths; false if there is no row. Rows are decoded twice rather
// than kept, since a function may have any number of them.
func (t *text) measure(a *arch.Arch, table *cfi.Table, e *cfi.Entry) bool {
	var moved [arch.MaxRegs]int // width of each column, 0 for a register that never has a rule
	address, cfa, ra := len("pc"), len("cfa"), len("ra")
	rows := 0
	for r, err := range table.Rows(e.FDE) {
		if err != nil {
			break
		}
		rows++
		address = max(address, 2+hexDigits(r.Lo))
		cfa = max(cfa, len(r.CFAString(a)))
		for i := range r.Regs {
			rr := &r.Regs[i]
			if n := len(rr.String()); rr.Reg == r.RA {
				ra = max(ra, n)
			} else {
				moved[rr.Reg] = max(moved[rr.Reg], n, len(regName(a, rr.Reg)))
			}
		}
	}
	t.columns, t.width = t.columns[:0], append(t.width[:0], address, cfa)
	for reg, n := range moved {
		if n > 0 {
			t.columns = append(t.columns, arch.Reg(reg))
			t.width = append(t.width, n)
		}
	}
	t.width = append(t.width, ra)
	return rows > 0
}

func (t *text) headings(p *printer) {
	t.line = append(t.line[:0], ' ')
	t.cell(0, "pc")
	t.cell(1, "cfa")
	for i, reg := range t.columns {
		t.cell(2+i, regName(p.f.arch, reg))
	}
	t.line = append(append(t.line, " ra"...), '\n')
	p.out.Write(t.line)
}

func (t *text) row(p *printer, r *row.Row) {
	t.line = append(t.line[:0], ' ')
	t.cell(0, "0x"+strconv.FormatUint(r.Lo, 16))
	t.cell(1, r.CFAString(p.f.arch))
	for i, reg := range t.columns {
		t.cell(2+i, ruleText(r.Rule(reg)))
	}
	extra := extras(r)
	last := ruleText(r.Rule(r.RA))
	if extra != "" {
		t.cell(len(t.width)-1, last)
		last = extra
	}
	t.line = append(append(append(t.line, ' '), last...), '\n')
	p.out.Write(t.line)
}

// extras is what a row says besides rules.
func extras(r *row.Row) (s string) {
	if r.Signed {
		s = "signed"
	}
	if r.ArgsSize != 0 {
		if s != "" {
			s += " "
		}
		s += fmt.Sprintf("args=%d", r.ArgsSize)
	}
	return s
}

// cell appends a blank and a cell of column i, padded.
func (t *text) cell(i int, s string) {
	t.line = append(append(t.line, ' '), s...)
	for n := len(s); n < t.width[i]; n++ {
		t.line = append(t.line, ' ')
	}
}

func ruleText(r row.Rule) string {
	if r.Kind == row.Unspecified {
		return "-"
	}
	return r.String()
}

func regName(a *arch.Arch, reg arch.Reg) string {
	if name := a.RegName(reg); name != "" {
		return name
	}
	return "r" + strconv.Itoa(int(reg))
}

func hexDigits(v uint64) int {
	n := 1
	for ; v > 15; v >>= 4 {
		n++
	}
	return n
}
