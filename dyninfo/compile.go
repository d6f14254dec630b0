package dyninfo

import (
	"fmt"
	"maps"
	"slices"

	"dbg/arch"
	"dbg/row"
)

// Config holds the functions that New needs. Each may be nil.
type Config struct {
	Arch *arch.Arch

	// InstructionLength returns the number of bytes of the instruction at an address, or 0 if it is
	// not known. It serves where instructions have several sizes: a row begins at the instruction
	// after the one that an operation names. Without it a row begins one byte after the start of that
	// instruction, which is wrong only for return addresses after a call that has operations itself.
	InstructionLength func(pc uint64) int

	// Alias fills r with the row that is valid at an address of other code. Its expressions must not
	// contain addresses. Without it an alias is an error.
	Alias func(pc uint64, r *row.Row) error
}

// maxWork limits the operations that are applied while one procedure is compiled: each row of a region
// starts from the region's operations again.
const maxWork = 1 << 21

// compiler compiles one procedure.
type compiler struct {
	Config
	p      *Procedure
	unit   uint64 // bytes of an instruction's number
	labels map[int64]label
	spans  []span
	work   int
}

// label is what label_state has named.
type label struct {
	state  state
	around *enclosing
}

// step is the result of applying operations.
type step struct {
	state   state
	around  *enclosing // the regions around, without the current one
	isAlias bool
	alias   uint64
}

// New compiles a procedure. An error concerns the whole procedure: its regions do not fit into it, or the
// machine's instructions are not numbered. Any other problem is an error of the rows that it affects.
func New(p *Procedure, c Config) (*Table, error) {
	x := &compiler{Config: c, p: p, unit: instructionSize(c.Arch, p.Start), labels: map[int64]label{}}
	if x.unit == 0 {
		return nil, fmt.Errorf("regions of %s code are not supported: the numbers of its instructions are not defined",
			c.Arch.Name)
	}
	at := p.Start
	s := x.entry()
	var around *enclosing
	for i := range p.Regions {
		r := &p.Regions[i]
		lo, hi, err := x.place(r, at, i == len(p.Regions)-1)
		if err != nil {
			return nil, err
		}
		x.add(at, lo, &s, nil) // the code before a region that is at the end
		end, err := x.region(r, lo, hi, s, around)
		if err != nil {
			x.addError(hi, p.End, err) // the state is not known from here on
			return x.table(), nil
		}
		s, around, at = end.state, end.around, hi
	}
	x.add(at, p.End, &s, nil)
	return x.table(), nil
}

// entry is the state at the start of the procedure. A procedure that describes where the return address
// is starts with the caller's SP as CFA, as its operations describe the call, too (an empty region first).
// In any other procedure the call has the effect that the ABI defines.
func (x *compiler) entry() state {
	s := state{frame: arch.NoReg, spKnown: true}
	a := x.Arch
	if a.LR != arch.NoReg {
		return s
	}
	for _, r := range x.p.Regions {
		for _, op := range r.Ops {
			saves := op.Tag == SaveReg || op.Tag == SpillFPRel || op.Tag == SpillSPRel
			if reg, ok := registerOf(a, int64(op.Reg)); ok && reg == a.PC && saves {
				return s
			}
		}
	}
	s.sp = int64(a.PtrSize)
	s.set(a.PC, row.Rule{Kind: row.At, N: -s.sp}, true)
	return s
}

// place returns the addresses of a region. The parts after the procedure's end do not count.
func (x *compiler) place(r *Region, at uint64, last bool) (lo, hi uint64, err error) {
	n := int64(r.Count)
	if n >= 0 {
		return at, at + min(uint64(n)*x.unit, x.p.End-at), nil
	}
	size := uint64(-n) * x.unit
	switch {
	case !last:
		return 0, 0, fmt.Errorf("the region at %s has a negative length, but is not the last one", r.Addr)
	case size > x.p.End-at:
		return 0, 0, fmt.Errorf("the region at %s has %d instructions, more than the procedure has left", r.Addr, -n)
	}
	return x.p.End - size, x.p.End, nil
}

// region adds the rows of a region, and returns the state at its end.
func (x *compiler) region(r *Region, lo, hi uint64, entry state, outer *enclosing) (end step, err error) {
	around := &enclosing{outer, entry}
	ops := slices.Clone(r.Ops)
	sortOps(ops)
	bounds := x.boundaries(ops, lo, hi)
	for i, b := range bounds {
		next := hi
		if i+1 < len(bounds) {
			next = bounds[i+1]
		}
		st, err := x.stateAt(ops, lo, hi, b, around, false)
		switch {
		case err != nil:
			x.addError(b, next, err)
		case st.isAlias:
			x.spans = append(x.spans, span{lo: b, hi: next, isAlias: true, alias: st.alias + (b - lo)})
		default:
			x.add(b, next, &st.state, nil)
		}
	}
	end, err = x.stateAt(ops, lo, hi, hi, around, true)
	if err != nil {
		return end, err
	}
	if end.isAlias {
		return x.afterAlias(end, hi-lo)
	}
	return end, nil
}

// afterAlias is the state after a region that behaves as other code.
func (x *compiler) afterAlias(end step, size uint64) (step, error) {
	var r row.Row
	if err := x.aliasRow(end.alias+size, &r); err != nil {
		return end, err
	}
	end.state = stateOf(x.Arch, &r)
	return end, nil
}

// sortOps sorts the operations by their instruction, as the manual demands no order. Operations of one
// instruction keep their order. Nothing moves across a label_state or copy_state: a label names the state
// after the operations that precede it in the list.
func sortOps(ops []Op) {
	start := 0
	for i := 0; i <= len(ops); i++ {
		if i < len(ops) && ops[i].Tag != LabelState && ops[i].Tag != CopyState && ops[i].Tag != Alias {
			continue
		}
		slices.SortStableFunc(ops[start:i], func(a, b Op) int { return int(max(-1, min(1, int64(a.When)-int64(b.When)))) })
		start = i + 1
	}
}

// boundaries returns the addresses at which rows begin.
func (x *compiler) boundaries(ops []Op, lo, hi uint64) []uint64 {
	if lo >= hi {
		return nil
	}
	list := []uint64{lo}
	for i := range ops {
		if b := x.effective(&ops[i], lo, hi); b > lo && b < hi {
			list = append(list, b)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// effective returns the address from which on an operation has taken effect. One that names an
// instruction after the region's end belongs to the last instruction.
func (x *compiler) effective(op *Op, lo, hi uint64) uint64 {
	if op.When < 0 || lo >= hi {
		return lo
	}
	at := lo + uint64(op.When)*x.unit
	if at >= hi {
		return hi
	}
	if x.unit == 1 && x.InstructionLength != nil {
		if n := x.InstructionLength(at); n > 0 {
			return min(hi, at+uint64(n))
		}
	}
	return min(hi, at+x.unit)
}

// stateAt applies the operations that have taken effect at an address. atEnd makes the result the state
// with which the next region begins, and defines the labels for it.
func (x *compiler) stateAt(ops []Op, lo, hi, at uint64, around *enclosing, atEnd bool) (step, error) {
	st := step{state: around.entry.clone(), around: around.outer}
	next := around
	var popped *enclosing
	var labels map[int64]label // of this region; they become known to others at its end
	for i := range ops {
		op := &ops[i]
		if x.effective(op, lo, hi) > at {
			continue
		}
		if x.work++; x.work > maxWork {
			return st, fmt.Errorf("the procedure has too many operations")
		}
		if op.QP != 0 && x.Arch == arch.ARM {
			return st, fmt.Errorf("%s depends on the predicate %d, which is not known", op.Tag, op.QP)
		}
		switch op.Tag {
		case LabelState:
			if labels == nil {
				labels = map[int64]label{}
			}
			labels[op.Val] = label{st.state.clone(), next}
		case CopyState:
			l, ok := labels[op.Val]
			if !ok {
				l, ok = x.labels[op.Val]
			}
			if !ok {
				return st, fmt.Errorf("copy_state of the unknown label %d", op.Val)
			}
			st.state, next, popped = l.state.clone(), l.around, nil
		case PopFrames:
			s, to, err := st.state.pop(op.Val, next)
			if err != nil {
				return st, err
			}
			st.state, popped = s, to
		case Alias:
			if op.When >= 0 && lo < hi {
				return st, fmt.Errorf("alias after instruction %d of its region", op.When)
			}
			st.isAlias, st.alias = true, uint64(op.Val)&x.mask()
			return x.finish(st, next, popped, atEnd), nil
		case SaveReg, SpillFPRel, SpillSPRel, Add:
			if err := st.state.apply(x.Arch, op); err != nil {
				return st, err
			}
		default:
			return st, fmt.Errorf("unknown operation %d", int8(op.Tag))
		}
	}
	if atEnd {
		maps.Copy(x.labels, labels)
	}
	return x.finish(st, next, popped, atEnd), nil
}

// finish makes the state that the next region begins with: after pop_frames the popped region's own.
func (x *compiler) finish(st step, around, popped *enclosing, atEnd bool) step {
	st.around = around
	if atEnd && popped != nil {
		st.state, st.around = popped.entry.clone(), popped.outer
	}
	return st
}

func (x *compiler) mask() uint64 { return uint64(1)<<(8*x.Arch.PtrSize-1)<<1 - 1 }
