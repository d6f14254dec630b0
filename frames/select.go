package frames

import (
	"fmt"
	"strings"

	"dbg/cfi"
	"dbg/dyninfo"
	"dbg/row"
	"dbg/target"
)

// StrategySet is a set of strategies.
type StrategySet uint32

// SetOf returns the set of the given strategies.
func SetOf(list ...Strategy) (s StrategySet) {
	for _, x := range list {
		s |= 1 << x
	}
	return s
}

// Has reports whether x is in the set.
func (s StrategySet) Has(x Strategy) bool { return s&(1<<x) != 0 }

// AllStrategies is the set of all strategies.
const AllStrategies StrategySet = 1<<strategies - 1

// StrategyByName returns the strategy with a name, as defined in the command line's contract, or
// false.
func StrategyByName(name string) (Strategy, bool) {
	for s := range strategies {
		if s.String() == strings.ToLower(name) {
			return s, true
		}
	}
	return 0, false
}

// Origin is the table entry that covers an address.
type Origin struct {
	Module *Module
	Table  string // the section: ".eh_frame", ".debug_frame"
	Row    row.Row
}

// String returns the name of the entry for messages: ".eh_frame FDE 0x5a8", "__unwind_info entry
// 0xc4".
func (o *Origin) String() string {
	kind := "FDE"
	switch o.Table {
	case "__unwind_info", ".ARM.exidx", ".pdata", ".orc_unwind", dyninfo.ListSymbol:
		kind = "entry"
	}
	return fmt.Sprintf("%s %s 0x%x", o.Table, kind, o.Row.Source)
}

// Origin returns the row that unwinds a frame at pc, in the module's address space (Row.Lo and Hi);
// precise is false for a return address. It decodes the entry again, so it is for messages, not for
// walks. It returns ErrNotCovered of package cfi if no entry covers pc.
func (u *Unwinder) Origin(pc target.Addr, precise bool) (Origin, error) {
	if !precise {
		pc--
	}
	o := Origin{Module: u.space.FindModule(pc)}
	if o.Module == nil {
		return o, cfi.ErrNotCovered
	}
	var err error
	o.Table, err = o.Module.Origin(u.arch, uint64(pc)-o.Module.Bias(), &o.Row)
	return o, err
}
