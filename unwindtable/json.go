package unwindtable

import (
	"encoding/json"
	"fmt"

	"dbg/arch"
	"dbg/cfi"
	"dbg/expr"
	"dbg/row"
)

// jsonStyle is one object for each function, on a line of its own. It is written as it is decoded, for a
// function may have any number of rows.
type jsonStyle struct{}

func (jsonStyle) begin(*printer, *source) {}

func (jsonStyle) defect(p *printer, s *source, e *cfi.Entry, err error) {
	fmt.Fprintf(p.out, `{"source":%s,"entry":"0x%x","error":%s}`+"\n", quoted(s.name), e.Offset, quoted(err.Error()))
}

func (j jsonStyle) entry(p *printer, s *source, e *cfi.Entry) {
	if e.Kind != cfi.IsFDE {
		return
	}
	fmt.Fprintf(p.out, `{"function":%s,"start":"0x%x","end":"0x%x","source":%s,"entry":"0x%x","signal":%t,"rows":[`,
		quoted(p.f.function(s, e)), e.FDE.Lo, e.FDE.Hi, quoted(s.name), e.Offset, e.CIE.Signal)
	sep := ""
	for r, err := range s.table.Rows(e.FDE) {
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

// row writes an object with the address, the CFA, and the registers that have a rule; and what
// expressions say, where there are any.
func (jsonStyle) row(p *printer, r *row.Row) {
	a := p.f.arch
	fmt.Fprintf(p.out, `{"pc":"0x%x","cfa":"%s"`, r.Lo, r.CFAString(a))
	sep := `,"registers":{`
	for reg := range arch.Reg(arch.MaxRegs) {
		if rule := r.Rule(reg); rule.Kind != row.Unspecified && reg != r.RA {
			fmt.Fprintf(p.out, `%s"%s":"%s"`, sep, regName(a, reg), rule)
			sep = ","
		}
	}
	if sep == "," {
		p.out.WriteString("}")
	}
	if ra := r.Rule(r.RA); ra.Kind != row.Unspecified {
		fmt.Fprintf(p.out, `,"ra":"%s"`, ra)
	}
	sep = `,"expressions":{`
	note := func(what string, rule *row.Rule) {
		if rule.Kind == row.AtExpr || rule.Kind == row.ValExpr {
			fmt.Fprintf(p.out, `%s"%s":%s`, sep, what, quoted(expr.Dump(rule.Expr, a)))
			sep = ","
		}
	}
	note("cfa", &r.CFA)
	for i := range r.Regs {
		if rr := &r.Regs[i]; rr.Reg == r.RA {
			note("ra", &rr.Rule)
		} else {
			note(regName(a, rr.Reg), &rr.Rule)
		}
	}
	if sep == "," {
		p.out.WriteString("}")
	}
	if r.Signed {
		p.out.WriteString(`,"signed":true`)
	}
	if r.ArgsSize != 0 {
		fmt.Fprintf(p.out, `,"args_size":%d`, r.ArgsSize)
	}
	p.out.WriteString("}")
}

// quoted is a JSON string; bytes that are no UTF-8 become U+FFFD.
func quoted(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}
