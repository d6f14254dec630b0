package unwindtable

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	safe "dbg/internal/plain"
	"dbg/row"
)

// summary counts what the tables of a file have, in place of printing them.
type summary struct {
	member string // the name in an archive
	tables []*tableSummary
	code   uint64 // bytes of executable segments
}

// tableSummary are the counts of one table.
type tableSummary struct {
	Member        string         `json:"member,omitempty"`
	Table         string         `json:"table"`
	Section       string         `json:"section"`
	Bytes         uint64         `json:"bytes,omitempty"`
	Functions     int            `json:"entries"`
	WithoutRows   int            `json:"without_rows"`
	Signal        int            `json:"signal_frames"`
	Defects       int            `json:"defects"`
	Rows          int            `json:"rows"`
	Most          int            `json:"most_rows"`
	Covered       uint64         `json:"code_bytes"`
	Code          uint64         `json:"executable_bytes,omitempty"`
	CFA           map[string]int `json:"cfa"`
	Saved         map[string]int `json:"saved"` // entries that have a rule for the register
	Personalities map[string]int `json:"personalities"`
	LSDAs         int            `json:"lsdas"`
	CallSites     int            `json:"call_sites"`
	LandingPads   int            `json:"landing_pads"`
}

func (s *summary) begin(p *printer, src *source) { s.of(p, src) }

// of returns the counts of a table.
func (s *summary) of(p *printer, src *source) *tableSummary {
	for _, t := range s.tables {
		if t.Table == src.name {
			return t
		}
	}
	t := &tableSummary{Member: s.member, Table: src.name, Section: src.section, Code: s.code, CFA: map[string]int{}, Saved: map[string]int{}, Personalities: map[string]int{}}
	if sec, ok := p.f.Section(src.section); ok && sec.Data != nil {
		t.Bytes = sec.Size
	} else if p.f.debug != nil {
		sec, _ := p.f.debug.Section(src.section)
		t.Bytes = sec.Size
	}
	s.tables = append(s.tables, t)
	return t
}

func (s *summary) defect(p *printer, src *source, _ uint64, _ error) { s.of(p, src).Defects++ }

func (s *summary) function(p *printer, src *source, f *function) {
	t := s.of(p, src)
	t.Functions++
	t.Covered += f.hi - f.lo
	if f.signal {
		t.Signal++
	}
	if f.personality != "" {
		name := f.personality
		if _, after, ok := strings.Cut(name, " "); ok {
			name = after
		}
		t.Personalities[name]++
	}
	t.exceptions(p, f)
	if f.note != "" {
		t.WithoutRows++
		return
	}
	n, saved := 0, map[string]bool{}
	for r, err := range f.rows {
		if err != nil {
			t.Defects++
			break
		}
		n++
		t.CFA[cfaKind(p, r)]++
		for i := range r.Regs {
			if reg := r.Regs[i].Reg; reg != r.RA {
				saved[regName(p.f.arch, reg)] = true
			}
		}
	}
	for name := range saved {
		t.Saved[name]++
	}
	t.Rows += n
	t.Most = max(t.Most, n)
}

// exceptions counts a function's call sites.
func (t *tableSummary) exceptions(p *printer, f *function) {
	if f.lsda != 0 {
		t.LSDAs++
	}
	if !f.hasSites() {
		return
	}
	table, err := p.f.sites(f)
	if err != nil {
		t.Defects++
	}
	t.CallSites += len(table.Sites)
	for i := range table.Sites {
		if table.Sites[i].Pad != 0 {
			t.LandingPads++
		}
	}
}

// cfaKind is the register from which a row computes the CFA, or "expression".
func cfaKind(p *printer, r *row.Row) string {
	switch r.CFA.Kind {
	case row.InReg:
		return regName(p.f.arch, r.CFA.Reg)
	case row.ValExpr:
		return "expression"
	}
	return "none"
}

// end writes the counts.
func (s *summary) end(p *printer, asJSON bool) {
	for _, t := range s.tables {
		if asJSON {
			b, _ := json.Marshal(t)
			p.out.Write(append(b, '\n'))
		} else {
			t.print(p)
		}
	}
}

func (t *tableSummary) print(p *printer) {
	size := ""
	if t.Bytes > 0 {
		size = fmt.Sprintf(" in %d bytes", t.Bytes)
	}
	fmt.Fprintf(p.out, "%s (%s): %d entries%s", t.Table, t.Section, t.Functions, size)
	if t.Rows > 0 {
		fmt.Fprintf(p.out, "; %d rows, %.1f an entry, at most %d", t.Rows, float64(t.Rows)/float64(max(t.Functions, 1)), t.Most)
	}
	fmt.Fprintf(p.out, "\n  covers %d bytes of code", t.Covered)
	if t.Code > 0 {
		fmt.Fprintf(p.out, ", of %d in executable segments", t.Code)
	}
	fmt.Fprintln(p.out)
	for _, c := range []struct {
		what   string
		counts map[string]int
	}{{"CFA by", t.CFA}, {"registers saved", t.Saved}, {"personality", t.Personalities}} {
		if len(c.counts) > 0 {
			fmt.Fprintf(p.out, "  %s: %s\n", c.what, safe.Line(byCount(c.counts)))
		}
	}
	if t.LSDAs > 0 {
		fmt.Fprintf(p.out, "  exceptions: %d entries, %d call sites, %d with a landing pad\n", t.LSDAs, t.CallSites, t.LandingPads)
	}
	for _, c := range []struct {
		what string
		n    int
	}{{"signal frames", t.Signal}, {"without rows", t.WithoutRows}, {"defects", t.Defects}} {
		if c.n > 0 {
			fmt.Fprintf(p.out, "  %s: %d\n", c.what, c.n)
		}
	}
}

// byCount lists names with their counts, the largest first.
func byCount(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, counts[n])
	}
	return strings.Join(names, ", ")
}

// executable returns the number of bytes of a file's executable segments.
func (f *file) executable() (n uint64) {
	for _, s := range f.Segments() {
		if s.Exec {
			n += uint64(s.Hi - s.Lo)
		}
	}
	return n
}
