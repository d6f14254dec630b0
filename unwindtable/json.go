package unwindtable

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"dbg/arch"
	"dbg/expr"
	"dbg/row"
)

// jsonStyle is one object for each function, on a line of its own. It is written as it is decoded, for a
// function may have any number of rows.
type jsonStyle struct {
	open string // how an object begins: with the member of the archive
	line []byte
	regs []row.RegRule
}

func newJSONStyle(member string) *jsonStyle {
	if member == "" {
		return &jsonStyle{open: "{"}
	}
	return &jsonStyle{open: fmt.Sprintf(`{"member":%s,`, quoted(member))}
}

func (*jsonStyle) begin(*printer, *source) {}

func (j *jsonStyle) defect(p *printer, s *source, offset uint64, err error) {
	p.out.WriteString(j.open)
	fmt.Fprintf(p.out, `"source":%s,"entry":"0x%x","error":%s}`+"\n", quoted(s.name), offset, quoted(err.Error()))
}

func (j *jsonStyle) function(p *printer, s *source, f *function) {
	p.out.WriteString(j.open)
	fmt.Fprintf(p.out, `"function":%s,"start":"0x%x","end":"0x%x","source":%s,"entry":"0x%x","signal":%t,`,
		quoted(f.name), f.lo, f.hi, quoted(s.name), f.offset, f.signal)
	if f.personality != "" {
		fmt.Fprintf(p.out, `"personality":%s,`, quoted(f.personality))
	}
	if f.lsda != 0 {
		fmt.Fprintf(p.out, `"lsda":"0x%x",`, f.lsda)
	}
	j.exceptions(p, f)
	if f.remark != "" {
		fmt.Fprintf(p.out, `"remark":%s,`, quoted(f.remark))
	}
	p.out.WriteString(`"rows":[`)
	if f.note != "" {
		fmt.Fprintf(p.out, `],"note":%s}`+"\n", quoted(f.note))
		return
	}
	sep := ""
	for r, err := range f.rows {
		if err != nil {
			fmt.Fprintf(p.out, `],"error":%s}`+"\n", quoted(err.Error()))
			return
		}
		p.out.WriteString(sep)
		j.row(p, r)
		sep = ","
	}
	p.out.WriteString("]}\n")
}

// exceptions writes the call sites of a function.
func (j *jsonStyle) exceptions(p *printer, f *function) {
	if !f.hasSites() {
		return
	}
	type action struct {
		Kind  string   `json:"kind"`
		Types []string `json:"types,omitempty"`
	}
	type site struct {
		Lo      string   `json:"start"`
		Hi      string   `json:"end"`
		Pad     string   `json:"landing_pad,omitempty"`
		Actions []action `json:"actions,omitempty"`
	}
	table, err := p.f.sites(f)
	list := make([]site, 0, len(table.Sites))
	for i := range table.Sites {
		s := &table.Sites[i]
		x := site{Lo: hex(s.Lo), Hi: hex(s.Hi)}
		if s.Pad != 0 {
			x.Pad = hex(s.Pad)
		}
		for k := range s.Actions {
			a := action{Kind: s.Actions[k].Kind.String()}
			for _, t := range s.Actions[k].Types {
				a.Types = append(a.Types, p.f.typeText(t))
			}
			x.Actions = append(x.Actions, a)
		}
		list = append(list, x)
	}
	b, _ := json.Marshal(list)
	fmt.Fprintf(p.out, `"call_sites":%s,`, b)
	if err != nil {
		fmt.Fprintf(p.out, `"call_sites_error":%s,`, quoted(err.Error()))
	}
}

func hex(v uint64) string { return string(appendHex(nil, v)) }

// row writes an object with the address, the CFA, and the registers that have a rule; and what
// expressions say, where there are any.
func (j *jsonStyle) row(p *printer, r *row.Row) {
	a := p.f.arch
	b := appendHex(append(j.line[:0], `{"pc":"`...), r.Lo)
	b = append(appendCFA(append(b, `","cfa":"`...), a, r), '"')
	j.regs = append(j.regs[:0], r.Regs...)
	slices.SortFunc(j.regs, func(a, b row.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	sep := `,"registers":{"`
	for i := range j.regs {
		if rr := &j.regs[i]; rr.Reg != r.RA {
			b = append(append(b, sep...), regName(a, rr.Reg)...)
			b = append(appendRule(append(b, `":"`...), &rr.Rule), '"')
			sep = `,"`
		}
	}
	if sep == `,"` {
		b = append(b, '}')
	}
	if ra := r.Rule(r.RA); ra.Kind != row.Unspecified {
		b = append(appendRule(append(b, `,"ra":"`...), &ra), '"')
	}
	b = expressions(b, a, r, j.regs)
	if r.Signed {
		b = append(b, `,"signed":true`...)
	}
	if r.ArgsSize != 0 {
		b = strconv.AppendUint(append(b, `,"args_size":`...), r.ArgsSize, 10)
	}
	j.line = append(b, '}')
	p.out.Write(j.line)
}

// expressions appends the expressions of a row, if it has any.
func expressions(b []byte, a *arch.Arch, r *row.Row, regs []row.RegRule) []byte {
	sep := `,"expressions":{"`
	note := func(what string, rule *row.Rule) {
		if rule.Kind == row.AtExpr || rule.Kind == row.ValExpr {
			b = append(append(append(b, sep...), what...), `":`...)
			b = append(b, quoted(expr.Dump(rule.Expr, a))...)
			sep = `,"`
		}
	}
	note("cfa", &r.CFA)
	for i := range regs {
		if rr := &regs[i]; rr.Reg == r.RA {
			note("ra", &rr.Rule)
		} else {
			note(regName(a, rr.Reg), &rr.Rule)
		}
	}
	if sep == `,"` {
		b = append(b, '}')
	}
	return b
}

// quoted is a JSON string; bytes that are no UTF-8 become U+FFFD.
func quoted(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}
