package dyninfo

import (
	"fmt"

	"dbg/target"
)

// Tag is unw_dyn_operation_t: the kind of an operation.
type Tag int8

const (
	Stop       Tag = iota // the end of the region's operations
	SaveReg               // the register is saved in register Val
	SpillFPRel            // the register is saved at the frame pointer plus Val
	SpillSPRel            // the register is saved at the stack pointer plus Val
	Add                   // Val is added to the register
	PopFrames             // the effects of the innermost Val regions are undone
	LabelState            // the current state gets the name Val
	CopyState             // the state with the name Val becomes the current state
	Alias                 // the code behaves as the code at address Val
)

func (t Tag) String() string {
	names := [...]string{"stop", "save_reg", "spill_fp_rel", "spill_sp_rel",
		"add", "pop_frames", "label_state", "copy_state", "alias"}
	if t >= 0 && int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("operation %d", int8(t))
}

// Op is unw_dyn_op_t: an operation.
type Op struct {
	Tag  Tag
	QP   int8  // the predicate of a conditional operation
	Reg  int16 // in libunwind's numbering
	When int32 // the instruction of the region that has the effect; -1 means before the first
	Val  int64
}

// Region is unw_dyn_region_info_t with the operations before the first Stop.
type Region struct {
	Addr  target.Addr
	Count int32 // length in instructions; negative if the region ends where the procedure ends
	Ops   []Op
}

// Procedure is a procedure with regions.
type Procedure struct {
	Info
	Regions []Region
}

// Limits of one procedure. Generators write about ten operations for each region.
const (
	MaxRegions   = 1 << 10
	MaxRegionOps = 1 << 10 // before the first Stop
	MaxOps       = 1 << 13 // of all regions
)

// ReadProcedure reads the regions of an entry with the format Dynamic.
func (l Layout) ReadProcedure(mem target.Memory, x Info) (*Procedure, error) {
	if x.Format != Dynamic {
		return nil, fmt.Errorf("entry of %s at %s has no regions: its format is %s", ListSymbol, x.Addr, x.Format)
	}
	p := &Procedure{Info: x}
	ops := 0
	seen := map[target.Addr]bool{}
	for at := x.Regions; at != 0; {
		switch {
		case seen[at]:
			return nil, fmt.Errorf("the regions of the entry at %s are circular: %s occurs twice", x.Addr, at)
		case len(p.Regions) == MaxRegions:
			return nil, fmt.Errorf("the entry at %s has more than %d regions", x.Addr, MaxRegions)
		}
		seen[at] = true
		r, next, err := l.readRegion(mem, at)
		if err != nil {
			return nil, err
		}
		if ops += len(r.Ops); ops > MaxOps {
			return nil, fmt.Errorf("the entry at %s has more than %d operations", x.Addr, MaxOps)
		}
		p.Regions = append(p.Regions, r)
		at = next
	}
	return p, nil
}

func (l Layout) readRegion(mem target.Memory, at target.Addr) (r Region, next target.Addr, err error) {
	var buf [maxOp]byte
	b := buf[:l.regionHeaderSize()]
	if err := read(mem, at, b, "region"); err != nil {
		return r, 0, err
	}
	next = target.Addr(l.word(b))
	r = Region{Addr: at, Count: int32(l.Order.Uint32(b[l.Word:]))}
	count := l.Order.Uint32(b[l.Word+4:])
	at += target.Addr(len(b))
	b = buf[:l.opSize()]
	for i := range count {
		if i == MaxRegionOps {
			return r, 0, fmt.Errorf("the region at %s has more than %d operations", r.Addr, MaxRegionOps)
		}
		if err := read(mem, at+target.Addr(uint64(i)*uint64(len(b))), b, "operation"); err != nil {
			return r, 0, err
		}
		op := Op{Tag(b[0]), int8(b[1]), int16(l.Order.Uint16(b[2:])), int32(l.Order.Uint32(b[4:])), l.signed(b[8:])}
		if op.Tag == Stop {
			break
		}
		r.Ops = append(r.Ops, op)
	}
	return r, next, nil
}
