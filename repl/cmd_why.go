package repl

import (
	"fmt"
	"strconv"

	"dbg/arch"
	"dbg/frames"
	"dbg/session"
)

// why runs "frame why [N]", which prints how a frame was found.
func why(sh *shell, args string) error {
	level := selectedLevel(sh)
	if args != "" {
		n, err := strconv.Atoi(args)
		if err != nil || n < 0 {
			return fmt.Errorf("frame why: expected a frame number, not %q", args)
		}
		level = n
	}
	w, err := sh.sess.Why(selectedThread(sh), level)
	if err != nil {
		return frameError(err, level)
	}
	if sh.opts.JSON {
		j := &jsonWriter{w: sh.out}
		j.value(whyJSON(&w))
		j.text("\n")
		return j.err
	}
	sh.printWhy(&w)
	return nil
}

func (sh *shell) printWhy(w *session.Why) {
	f, m := &w.Frame, w.Frame.Machine
	name := f.FunctionName
	switch {
	case m.Signal:
		name = "<signal handler called>"
	case name == "":
		name = "??"
	}
	fmt.Fprintf(sh.out, "Frame %d: %s in %s, found by %s, trust %s.\n", f.Level, f.PC, name, f.Strategy, f.Trust)
	if f.Inlined {
		fmt.Fprintln(sh.out, "It is inlined: it shares the machine frame of its caller.")
	}
	if f.TailCall {
		fmt.Fprintln(sh.out, "It ended in a tail call, as the call sites show. The rest describes the frame that it called.")
	}
	if m.Index == 0 {
		fmt.Fprintln(sh.out, "Its registers are the thread's own.")
		return
	}
	a := m.Regs.Arch
	for i := range w.Evidence.Tries {
		sh.printTry(&w.Evidence.Tries[i], w.EntryFunctions[i], a)
	}
	fmt.Fprintln(sh.out, "Registers:")
	for r := range arch.Reg(arch.MaxRegs) {
		v, known := m.Regs.Get(r)
		if !known || a.RegName(r) == "" {
			continue
		}
		where := "computed"
		switch p, at := m.Where(r); p {
		case frames.InMemory:
			where = "at " + at.String()
		case frames.Live:
			where = "in the thread's own register"
		}
		fmt.Fprintf(sh.out, "  %-8s 0x%016x  %s, %s\n", a.RegName(r), v, where, m.RegisterTrust(r))
	}
}

func (sh *shell) printTry(t *frames.Try, function string, a *arch.Arch) {
	if t.Found {
		fmt.Fprintf(sh.out, "%s: found it.\n", t.Strategy)
	} else {
		fmt.Fprintf(sh.out, "%s: %s.\n", t.Strategy, t.Why)
	}
	if t.HasRow {
		r := &t.Origin.Row
		fmt.Fprintf(sh.out, "  table  %s of %s, row 0x%x..0x%x", t.Origin.String(), t.Origin.Module.Name(), r.Lo+t.Bias, r.Hi+t.Bias)
		if function != "" {
			fmt.Fprintf(sh.out, " in %s", function)
		}
		fmt.Fprintf(sh.out, "\n  rule   %s\n", t.RowString(a))
	}
	for i := range t.Reads {
		r := &t.Reads[i]
		switch {
		case r.Err != nil:
			fmt.Fprintf(sh.out, "  read   %s: %v\n", r.Addr, r.Err)
		case r.Reg == a.PC:
			fmt.Fprintf(sh.out, "  read   %s: 0x%x, the return address\n", r.Addr, r.Value)
		case r.Reg != arch.NoReg:
			fmt.Fprintf(sh.out, "  read   %s: 0x%x, %s\n", r.Addr, r.Value, a.RegName(r.Reg))
		default:
			fmt.Fprintf(sh.out, "  read   %s: 0x%x\n", r.Addr, r.Value)
		}
	}
	for _, g := range t.Guards {
		fmt.Fprintf(sh.out, "  holds  %s\n", g)
	}
}

// jsonTry is a strategy's attempt with its evidence.
type jsonTry struct {
	Strategy string     `json:"strategy"`
	Found    bool       `json:"found"`
	Why      string     `json:"why,omitempty"`
	Table    *string    `json:"table,omitempty"`
	Entry    *string    `json:"entry,omitempty"`
	RowLo    *string    `json:"row_lo,omitempty"`
	RowHi    *string    `json:"row_hi,omitempty"`
	Rule     *string    `json:"rule,omitempty"`
	Reads    []jsonRead `json:"reads"`
	Guards   []string   `json:"guards"`
}

type jsonRead struct {
	Address  string  `json:"address"`
	Value    *string `json:"value"`
	Register *string `json:"register"`
	Error    string  `json:"error,omitempty"`
}

type jsonRegister struct {
	Name  string  `json:"name"`
	Value string  `json:"value"`
	Trust string  `json:"trust"`
	At    *string `json:"at"`
}

type jsonWhy struct {
	Index     int            `json:"index"`
	PC        string         `json:"pc"`
	Function  *string        `json:"function"`
	Strategy  string         `json:"strategy"`
	Trust     string         `json:"trust"`
	Attempts  []jsonTry      `json:"attempts"`
	Registers []jsonRegister `json:"registers"`
}

func whyJSON(w *session.Why) jsonWhy {
	f, m := &w.Frame, w.Frame.Machine
	a := m.Regs.Arch
	out := jsonWhy{Index: f.Level, PC: f.PC.String(), Strategy: f.Strategy, Trust: f.Trust, Attempts: triesJSON(w.Evidence.Tries, a), Registers: []jsonRegister{}}
	if f.FunctionName != "" {
		out.Function = &f.FunctionName
	}
	for r := range arch.Reg(arch.MaxRegs) {
		v, known := m.Regs.Get(r)
		if !known || a.RegName(r) == "" {
			continue
		}
		reg := jsonRegister{Name: a.RegName(r), Value: fmt.Sprintf("0x%x", v), Trust: m.RegisterTrust(r).String()}
		if p, at := m.Where(r); p == frames.InMemory {
			reg.At = ptr(at.String())
		}
		out.Registers = append(out.Registers, reg)
	}
	return out
}

func triesJSON(list []frames.Try, a *arch.Arch) []jsonTry {
	out := []jsonTry{}
	for i := range list {
		t := &list[i]
		j := jsonTry{Strategy: t.Strategy.String(), Found: t.Found, Why: t.Why, Reads: []jsonRead{}, Guards: append([]string{}, t.Guards...)}
		if t.HasRow {
			r := &t.Origin.Row
			j.Table, j.Entry, j.Rule = &t.Origin.Table, ptr(fmt.Sprintf("0x%x", r.Source)), ptr(t.RowString(a))
			j.RowLo, j.RowHi = ptr(fmt.Sprintf("0x%x", r.Lo+t.Bias)), ptr(fmt.Sprintf("0x%x", r.Hi+t.Bias))
		}
		for _, r := range t.Reads {
			jr := jsonRead{Address: r.Addr.String()}
			if r.Err != nil {
				jr.Error = r.Err.Error()
			} else {
				jr.Value = ptr(fmt.Sprintf("0x%x", r.Value))
			}
			if r.Reg != arch.NoReg {
				jr.Register = ptr(a.RegName(r.Reg))
			}
			j.Reads = append(j.Reads, jr)
		}
		out = append(out, j)
	}
	return out
}
