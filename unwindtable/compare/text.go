package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Judged counts at how many executed instructions of a difference each table was right and wrong.
type Judged struct {
	A, B Counts
}

// Counts are executions of instructions at which the truth is known.
type Counts struct {
	Right, Wrong uint64
	Nowhere      uint64 // the row leads to no plausible caller
}

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Right += o.Right
	c.Wrong += o.Wrong
	c.Nowhere += o.Nowhere
}

// Printer writes differences and summaries.
type Printer struct {
	W    io.Writer
	JSON bool
	All  bool                     // also those of class Either
	Name func(addr uint64) string // the function at an address

	function uint64
	headed   bool
}

// Shows reports whether differences of a class are printed.
func (p *Printer) Shows(c Class) bool { return p.All || c != Either }

// Difference writes a difference of two tables. run is nil if nothing was run.
func (p *Printer) Difference(sum *Summary, d *Difference, run *Judged) error {
	if !p.Shows(d.Class) {
		return nil
	}
	if p.JSON {
		return p.differenceJSON(sum, d, run)
	}
	if !p.headed || p.function != d.Function {
		p.headed, p.function = true, d.Function
		if _, err := fmt.Fprintf(p.W, "%s 0x%x\n", p.Name(d.Function), d.Function); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  0x%x..0x%x  %s", d.Lo, d.Hi, d.Class)
	if d.Class == Broken {
		broken := sum.B
		if d.BrokenA {
			broken = sum.A
		}
		fmt.Fprintf(&b, "  no row of %s can be read", broken)
	}
	for _, i := range d.Items {
		fmt.Fprintf(&b, "  %s %s | %s", i.What, i.A, i.B)
	}
	if run != nil {
		fmt.Fprintf(&b, "  run: %s | %s", run.A.text(), run.B.text())
	}
	_, err := fmt.Fprintln(p.W, b.String())
	return err
}

func (c *Counts) text() string {
	all := c.Right + c.Wrong + c.Nowhere
	switch all {
	case 0:
		return "not run"
	case c.Right:
		return "right"
	case c.Wrong:
		return "wrong"
	case c.Nowhere:
		return "leads nowhere"
	}
	return fmt.Sprintf("right at %d of %d", c.Right, all)
}

type itemJSON struct {
	Class string `json:"class"`
	What  string `json:"what"`
	A     string `json:"a"`
	B     string `json:"b"`
}

type countsJSON struct {
	Right   uint64 `json:"right"`
	Wrong   uint64 `json:"wrong"`
	Nowhere uint64 `json:"nowhere"`
}

func (p *Printer) differenceJSON(sum *Summary, d *Difference, run *Judged) error {
	o := struct {
		Function string      `json:"function"`
		Start    string      `json:"function_start"`
		Lo       string      `json:"start"`
		Hi       string      `json:"end"`
		A        string      `json:"a"`
		B        string      `json:"b"`
		Class    string      `json:"class"`
		Broken   string      `json:"broken,omitempty"`
		Rules    []itemJSON  `json:"rules,omitempty"`
		RunA     *countsJSON `json:"run_a,omitempty"`
		RunB     *countsJSON `json:"run_b,omitempty"`
	}{Function: p.Name(d.Function), Start: hex(d.Function), Lo: hex(d.Lo), Hi: hex(d.Hi), A: sum.A, B: sum.B, Class: d.Class.String()}
	if d.Class == Broken {
		if o.Broken = sum.B; d.BrokenA {
			o.Broken = sum.A
		}
	}
	for _, i := range d.Items {
		o.Rules = append(o.Rules, itemJSON{i.Class.String(), i.What, i.A, i.B})
	}
	if run != nil {
		o.RunA, o.RunB = (*countsJSON)(&run.A), (*countsJSON)(&run.B)
	}
	return p.line(&o)
}

func (p *Printer) line(o any) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = p.W.Write(append(b, '\n'))
	return err
}

func hex(v uint64) string { return fmt.Sprintf("0x%x", v) }

// Summary writes the counts.
func (p *Printer) Summary(s *Summary) error {
	if p.JSON {
		return p.summaryJSON(s)
	}
	unit := "bytes"
	if s.AtCallsOnly {
		unit = "calls"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s | %s: %d functions in both, %d %s compared, %.3f %% without a conflict\n", s.A, s.B, s.Functions, s.Compared, unit, 100*s.Agree())
	if s.Differences > 0 {
		fmt.Fprintf(&b, "  conflict: %d %s in %d ranges of %d functions\n", s.Conflict, unit, s.Differences, s.Disagreeing)
	}
	if s.MayDisagree > 0 {
		more := ""
		if !p.All {
			more = " (--all shows them)"
		}
		fmt.Fprintf(&b, "  either: %d %s in %d ranges, where both may be right%s\n", s.Either, unit, s.MayDisagree, more)
	}
	if s.Padding > 0 {
		fmt.Fprintf(&b, "  not counted: %d bytes of padding, where they differ\n", s.Padding)
	}
	if s.Unreadable > 0 {
		fmt.Fprintf(&b, "  broken: %d bytes in %d ranges\n", s.Broken, s.Unreadable)
	}
	if only := s.InA - s.Both; only > 0 {
		fmt.Fprintf(&b, "  only in %s: %d bytes\n", s.A, only)
	}
	if only := s.InB - s.Both; only > 0 {
		fmt.Fprintf(&b, "  only in %s: %d bytes\n", s.B, only)
	}
	if s.OutOfOrder != nil {
		fmt.Fprintf(&b, "  warning: %v: the rest is not compared\n", s.OutOfOrder)
	}
	_, err := io.WriteString(p.W, b.String())
	return err
}

func (p *Printer) summaryJSON(s *Summary) error {
	o := struct {
		A           string `json:"a"`
		B           string `json:"b"`
		Functions   int    `json:"functions"`
		Unit        string `json:"unit"`
		Compared    uint64 `json:"compared"`
		Conflict    uint64 `json:"conflict"`
		Ranges      int    `json:"conflict_ranges"`
		Disagreeing int    `json:"conflict_functions"`
		Either      uint64 `json:"either"`
		Broken      uint64 `json:"broken_bytes"`
		Padding     uint64 `json:"padding_bytes"`
		OnlyA       uint64 `json:"only_a_bytes"`
		OnlyB       uint64 `json:"only_b_bytes"`
		Warning     string `json:"warning,omitempty"`
	}{s.A, s.B, s.Functions, "bytes", s.Compared, s.Conflict, s.Differences, s.Disagreeing, s.Either, s.Broken, s.Padding, s.InA - s.Both, s.InB - s.Both, ""}
	if s.AtCallsOnly {
		o.Unit = "calls"
	}
	if s.OutOfOrder != nil {
		o.Warning = s.OutOfOrder.Error()
	}
	return p.line(map[string]any{"summary": o})
}
