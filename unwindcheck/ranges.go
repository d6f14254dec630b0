package unwindcheck

import (
	"cmp"
	"slices"

	"dbg/arch"
	"dbg/frames"
)

// rangeKey distinguishes wrong ranges: by the row, or by the function and the strategy if there is
// no row, and by what is wrong.
type rangeKey struct {
	row      rowKey
	function string
	strategy frames.Strategy
	kind     faultKind
	reg      arch.Reg
}

// registerOf identifies a register in a function, which is an entry of a table.
type registerOf struct {
	entry rowKey // without the row
	reg   arch.Reg
}

// registerOf returns the register and its function for a key of kind wrongRegister.
func (k *rangeKey) registerOf() registerOf {
	r := registerOf{k.row, k.reg}
	r.entry.lo = 0
	return r
}

// wrongRange holds the wrong places with one key.
type wrongRange struct {
	module *module
	origin string
	table  string
	entry  uint64
	hits   map[uint64]uint64 // by address
	first  map[uint64]string // the text of the first hit at each address
	deeper uint64
	rows   uint64 // hits of rows that were rejected
}

// wrong records a claim that was wrong.
func (c *checker) wrong(cl *claim) {
	f := &cl.fault
	if f.exact && !cl.row {
		c.report.ExactWrong += cl.hits
	}
	switch {
	case cl.row:
		c.report.WrongRows += cl.hits
	case !cl.deeper:
		c.report.Wrong += cl.hits
		c.report.strategies[f.strategy].Judged += cl.hits
	default:
		c.report.DeeperWrong += cl.hits
	}
	at := uint64(f.lookup())
	if cl.row {
		c.places.get(at).rejected += cl.hits
	}
	if pl := c.places.get(at); !cl.deeper && !cl.row {
		pl.wrong += cl.hits
		if !pl.looked && pl.decoded {
			c.look(pl)
		}
	}
	key := rangeKey{strategy: f.strategy, kind: f.kind}
	if f.kind == wrongRegister || f.kind == unknownRegister {
		key.reg = f.reg
	}
	m := c.space.module(f.lookup())
	o, err := c.unwinder.Origin(f.lookup(), true)
	byRow := err == nil && (f.strategy.ByTable() || f.strategy == frames.Sigreturn || f.strategy == frames.Context)
	if byRow {
		key.row = rowKey{o.Module, o.Table, o.Row.Source, o.Row.Lo}
	} else if m != nil {
		key.function, _ = m.function(at)
		key.row.module = m.Module
	}
	r := c.ranges[key]
	if r == nil {
		r = &wrongRange{module: m, hits: map[uint64]uint64{}, first: map[uint64]string{}}
		switch {
		case byRow:
			r.origin, r.table, r.entry = o.String(), o.Table, o.Row.Source
		case f.strategy != frames.Context:
			r.origin = f.strategy.String()
		default:
			r.origin = "no table"
		}
		c.ranges[key] = r
	}
	for i, reg := range calleeSaved {
		if byRow && f.gone&(1<<i) != 0 {
			k := rangeKey{row: key.row, reg: reg}
			c.gone[k.registerOf()] = struct{}{}
		}
	}
	r.hits[at] += cl.hits
	switch {
	case cl.deeper:
		r.deeper += cl.hits
	case cl.row:
		r.rows += cl.hits
	}
	if _, ok := r.first[at]; !ok {
		row := &o.Row
		if err != nil {
			row = nil
		}
		r.first[at] = f.text(row)
	}
}

// freeze converts the results to ranges, while the modules still exist.
func (c *checker) freeze() {
	for key, r := range c.ranges {
		list := c.split(key, r)
		if list[0].NotGivenBack {
			for _, w := range list {
				c.report.NotGivenBack += w.Hits
			}
			c.report.NotGivenBack -= r.deeper + r.rows
		}
		c.report.Ranges = append(c.report.Ranges, list...)
	}
	clear(c.ranges)
	clear(c.gone)
	slices.SortStableFunc(c.report.Ranges, func(a, b Wrong) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Text, b.Text))
	})
}

// split makes the ranges of one key: places are in one range if no correct place is between them.
func (c *checker) split(key rangeKey, r *wrongRange) (out []Wrong) {
	var pcs []uint64
	for pc := range r.hits {
		pcs = append(pcs, pc)
	}
	slices.Sort(pcs)
	for i, pc := range pcs {
		if i > 0 && !c.places.between(pcs[i-1], pc) {
			w := &out[len(out)-1]
			w.Hi = pc - w.bias
			w.Hits += r.hits[pc]
			w.Places++
			continue
		}
		w := Wrong{Lo: pc, Hi: pc, Hits: r.hits[pc], Places: 1, Origin: r.origin, Table: r.table, Entry: r.entry,
			Strategy: key.strategy.String(), Kind: key.kind.String(), Text: r.first[pc]}
		if r.module != nil {
			w.bias = r.module.Bias
			w.Lo, w.Hi, w.Module, w.Path = pc-w.bias, pc-w.bias, r.module.name(), r.module.Path
			w.Function, w.Offset = r.module.function(pc)
		}
		if key.kind == wrongRegister || key.kind == unknownRegister {
			w.Register = arch.AMD64.RegName(key.reg)
			if _, w.NotGivenBack = c.gone[key.registerOf()]; w.NotGivenBack {
				w.Text += ", which the function does not restore"
			}
		}
		out = append(out, w)
	}
	return out
}
