package unwindtable

import (
	"fmt"

	"dbg/arch"
	safe "dbg/internal/plain"
	"dbg/row"
)

// text is the form for people: a heading for each function, the names of the columns, the rows.
type text struct {
	columns []arch.Reg
	width   []int // of the address, the CFA, the columns, and the return address
	line    []byte
}

func (t *text) begin(*printer, *source) {}

func (t *text) defect(p *printer, s *source, offset uint64, err error) {
	fmt.Fprintf(p.out, "error: %v\n", err)
}

func (t *text) function(p *printer, s *source, f *function) {
	more := ""
	if f.signal {
		more = " signal"
	}
	if f.personality != "" {
		more += " personality " + safe.Line(f.personality)
	}
	if f.lsda != 0 {
		more += fmt.Sprintf(" LSDA 0x%x", f.lsda)
	}
	if f.remark != "" {
		more += " " + f.remark
	}
	if f.note != "" {
		more += " " + f.note
	}
	fmt.Fprintf(p.out, "%s 0x%x..0x%x  %s  (%s 0x%x)%s\n", safe.Line(f.name), f.lo, f.hi, s.name, f.kind, f.offset, more)
	if f.note != "" {
		return
	}
	if t.measure(p.f.arch, f) {
		t.headings(p)
	}
	for r, err := range f.rows {
		if err != nil {
			fmt.Fprintf(p.out, "  error: %v\n", err)
			return
		}
		t.row(p, r)
	}
	t.exceptions(p, f)
}

// exceptions prints where exceptions of calls land.
func (t *text) exceptions(p *printer, f *function) {
	if !f.hasSites() {
		return
	}
	table, err := p.f.sites(f)
	for i := range table.Sites {
		s := &table.Sites[i]
		fmt.Fprintf(p.out, "  exceptions 0x%x..0x%x  ", s.Lo, s.Hi)
		if s.Pad == 0 {
			fmt.Fprintln(p.out, "pass")
			continue
		}
		fmt.Fprintf(p.out, "land at 0x%x", s.Pad)
		sep := ": "
		for k := range s.Actions {
			fmt.Fprint(p.out, sep, safe.Line(p.f.action(&s.Actions[k])))
			sep = "; "
		}
		fmt.Fprintln(p.out)
	}
	if err != nil {
		fmt.Fprintf(p.out, "  error: %v\n", err)
	}
}

// measure finds the columns and their widths; false if there is no row. Rows are decoded twice rather
// than kept, since a function may have any number of them.
func (t *text) measure(a *arch.Arch, f *function) bool {
	var moved [arch.MaxRegs]int // width of each column, 0 for a register that never has a rule
	address, cfa, ra := len("pc"), len("cfa"), len("ra")
	rows := 0
	for r, err := range f.rows {
		if err != nil {
			break
		}
		rows++
		address = max(address, 2+hexDigits(r.Lo))
		t.line = appendCFA(t.line[:0], a, r)
		cfa = max(cfa, len(t.line))
		for i := range r.Regs {
			rr := &r.Regs[i]
			t.line = appendRule(t.line[:0], &rr.Rule)
			if n := len(t.line); rr.Reg == r.RA {
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
	t.line = append(t.line[:0], "  pc"...)
	t.pad(0, len("pc"))
	t.line = append(t.line, " cfa"...)
	t.pad(1, len("cfa"))
	for i, reg := range t.columns {
		name := regName(p.f.arch, reg)
		t.line = append(append(t.line, ' '), name...)
		t.pad(2+i, len(name))
	}
	p.out.Write(append(t.line, " ra\n"...))
}

func (t *text) row(p *printer, r *row.Row) {
	t.line = appendHex(append(t.line[:0], ' ', ' '), r.Lo)
	t.pad(0, len(t.line)-2)
	at := len(t.line) + 1
	t.line = appendCFA(append(t.line, ' '), p.f.arch, r)
	t.pad(1, len(t.line)-at)
	for i, reg := range t.columns {
		t.rule(2+i, r, reg)
	}
	last := len(t.width) - 1
	at = len(t.line)
	t.rule(last, r, r.RA)
	if extra := extras(r); extra != "" {
		t.line = append(append(t.line, ' '), extra...)
	}
	for len(t.line) > at && t.line[len(t.line)-1] == ' ' {
		t.line = t.line[:len(t.line)-1]
	}
	t.line = append(t.line, '\n')
	p.out.Write(t.line)
}

// rule appends a blank and the rule of a register as column i.
func (t *text) rule(i int, r *row.Row, reg arch.Reg) {
	at := len(t.line) + 1
	rule := r.Rule(reg)
	t.line = appendRule(append(t.line, ' '), &rule)
	t.pad(i, len(t.line)-at)
}

// pad makes n characters as wide as column i.
func (t *text) pad(i, n int) {
	for ; n < t.width[i]; n++ {
		t.line = append(t.line, ' ')
	}
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

func hexDigits(v uint64) int {
	n := 1
	for ; v > 15; v >>= 4 {
		n++
	}
	return n
}
