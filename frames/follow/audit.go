package follow

import (
	"dbg/arch"
	"dbg/code"
	"dbg/code/flow"
)

// An Audit is the result of following a function's code from its first instruction, along all
// paths. It lists the registers that the function must preserve, but that have another value and
// are not saved anywhere. A table that describes such a register as unchanged is wrong there.
// Tables of assembly code often are.
//
// It reports only certain results: a path ends at a call, because that may not return, and at a
// jump to an unknown target. A register that was stored anywhere, and is then loaded from anywhere,
// may have its old value.
type Audit struct {
	at     map[uint64]uint32 // by instruction: slots of the registers that are lost before it
	called map[uint64]uint32 // the same by return address: the state in the call
}

// Limits of audits.
const (
	auditSteps    = 20_000 // instructions read; one is read again if another path to it adds information
	maxAuditPaths = 256    // pending paths
)

// LostAt returns the mask of the slots (flow.Slots) of the registers that are lost at pc, an
// address in the process. precise is false for a return address: they are lost in the call then. a
// may be nil.
func (a *Audit) LostAt(pc uint64, precise bool) uint32 {
	if a == nil {
		return 0
	}
	if precise {
		return a.at[pc]
	}
	return a.called[pc]
}

// auditPath is a path through the code.
type auditPath struct {
	pc uint64
	flow.State
	auditMask
}

// auditMask holds the known facts about registers, by slots.
type auditMask struct {
	lost   uint32 // has another value than at entry
	kept   uint32 // has been stored somewhere
	doubt  uint32 // was stored and loaded: may have its old value
	copies uint32 // registers, by number, that may hold a stored or copied value
}

// merge adds the facts of another path. It returns false if they are not new.
func (m *auditMask) merge(o auditMask) bool {
	before := *m
	m.lost |= o.lost
	m.kept |= o.kept
	m.doubt |= o.doubt
	m.copies |= o.copies
	return *m != before
}

// auditNode is an instruction that was reached.
type auditNode struct {
	auditMask
	cfa   flow.Place
	sp    int32
	hasSP bool
}

// auditor reads one function.
type auditor struct {
	arch    *arch.Arch
	machine flow.Machine
	Reader
	lo, hi    uint64
	seen      map[uint64]*auditNode
	afterCall map[uint64]*auditMask // by return address
	paths     []auditPath
	steps     int
}

// NewAudit audits the code from lo to hi, addresses in the process. It returns nil if it has
// no findings.
func NewAudit(r Reader, lo, hi uint64) *Audit {
	a := &auditor{arch: r.Arch, machine: flow.MachineOf(r.Arch), Reader: r, lo: lo, hi: hi,
		seen: map[uint64]*auditNode{}, afterCall: map[uint64]*auditMask{}}
	if a.savesFirst() {
		return nil
	}
	a.paths = append(a.paths, auditPath{pc: lo, State: flow.Entry(a.arch)})
	for len(a.paths) > 0 {
		at := a.paths[len(a.paths)-1]
		a.paths = a.paths[:len(a.paths)-1]
		if !a.follow(&at) {
			return nil
		}
	}
	out := &Audit{at: map[uint64]uint32{}, called: map[uint64]uint32{}}
	for pc, n := range a.seen {
		if v := n.lost &^ n.doubt; v != 0 {
			out.at[pc] = v
		}
	}
	for pc, n := range a.afterCall {
		if v := n.lost &^ n.doubt; v != 0 {
			out.called[pc] = v
		}
	}
	if len(out.at) == 0 {
		return nil
	}
	return out
}

// savesFirst reports whether the code, read linearly, saves each register on the stack before it
// changes it. Compiled code does so, and needs no audit.
func (a *auditor) savesFirst() bool {
	var buf [aheadBytes]byte
	var text []byte
	saved := uint32(0)
	for pc := a.lo; pc < a.hi; {
		if len(text) < 15 {
			text = a.Read(pc, buf[:])
		}
		in := code.Decode(a.arch, text)
		if a.steps++; in.Len == 0 || a.steps > auditSteps/2 {
			return false
		}
		saved |= a.machine.SlotsOf(a.machine.Saves(&in))
		if in.Next != code.Call && in.Next != code.CallFar && a.machine.SlotsOf(in.Writes())&^saved != 0 {
			return false
		}
		pc, text = pc+uint64(in.Len), text[in.Len:]
	}
	return true
}

// follow follows a path until it ends or adds no information. It returns false if the code is
// invalid.
func (a *auditor) follow(at *auditPath) bool {
	var buf [aheadBytes]byte
	var text []byte
	for a.lo <= at.pc && at.pc < a.hi {
		var f flow.Frame
		at.Frame(&f)
		n := a.seen[at.pc]
		switch {
		case n == nil:
			a.seen[at.pc] = &auditNode{at.auditMask, f.CFA, f.SP, f.HasSP}
		case n.hasSP != f.HasSP || n.sp != f.SP || n.cfa != f.CFA:
			return false // the paths that meet here have different frames
		case !n.merge(at.auditMask):
			return true
		default:
			at.auditMask = n.auditMask
		}
		if a.steps++; a.steps > auditSteps {
			return false
		}
		if len(text) < 15 {
			text = a.Read(at.pc, buf[:])
		}
		in := code.Decode(a.arch, text)
		if in.Next == code.Bad || in.Len == 0 || omitted(text) {
			return false
		}
		own := text[:in.Len]
		at.pc, text = at.pc+uint64(in.Len), text[in.Len:]
		switch in.Next {
		case code.Return, code.Trap, code.Indirect:
			return true
		case code.Call, code.CallFar:
			a.call(at)
			return true
		case code.Jump:
			at.pc, text = at.pc+uint64(int64(in.Imm)), nil
			continue
		case code.Branch:
			if len(a.paths) >= maxAuditPaths {
				return false
			}
			other := *at
			other.pc += uint64(int64(in.Imm))
			a.paths = append(a.paths, other)
		}
		a.apply(at, &in, own)
	}
	return true
}

// call records the state at a call.
func (a *auditor) call(at *auditPath) {
	if m := a.afterCall[at.pc]; m != nil {
		m.merge(at.auditMask)
	} else {
		m := at.auditMask
		a.afterCall[at.pc] = &m
	}
}

// apply applies an instruction to a path.
func (a *auditor) apply(at *auditPath, in *code.Insn, text []byte) {
	var before, after flow.Frame
	at.State.Frame(&before)
	moves := in.Moves(a.arch, text)
	at.kept |= a.machine.SlotsOf(moves.Stores) &^ before.Lost
	copies := moves.Loads
	if at.LoadsArgument(in) {
		copies = 0
	}
	at.State.Apply(in)
	at.State.Frame(&after)
	if moves.From != code.None {
		if from := uint32(1) << moves.From; at.copies&from != 0 || a.machine.SlotsOf(from)&^before.Lost != 0 {
			copies |= 1 << moves.To
		}
	}
	writes := in.Writes()
	at.copies = at.copies&^writes | copies
	at.doubt = at.doubt&^a.machine.SlotsOf(writes) | a.machine.SlotsOf(copies)&at.kept
	at.lost |= after.Lost &^ before.Lost
}
