package cfi

import (
	"fmt"

	"dbg/arch"
	"dbg/internal/bytecursor"
	"dbg/row"
)

// Limits of one entry's program.
const (
	maxRemembered = 64
	maxProgram    = 1 << 24 // bytes of an FDE
	maxCIEProgram = 1 << 12 // bytes of a CIE; distant FDEs execute it again
	maxCopied     = 1 << 22 // rules copied by all DW_CFA_remember_state together
)

// exec executes the instructions of one FDE: DWARF 5 section 6.4.3. It goes from row to row; a row
// is complete when the next location is known. It saves the states after CIEs for the next FDE.
type exec struct {
	state
	t   *Table
	fde span // offset and range
	c   *CIE

	r       bytecursor.Cursor // over the program
	initial *savedState       // the rules after the CIE's instructions, for DW_CFA_restore
	saved   []savedState      // by DW_CFA_remember_state; elements from depth on keep their capacity
	depth   int
	copied  int    // rules copied into saved so far
	loc     uint64 // where the current row begins

	exprSum uint64 // compiled.HashCFA of the CFA's rule, if that is an expression
	flagSum uint64 // the part of the hash that does not come from rules
	cfaSums hashCache
	atSums  hashCache

	own    row.Row // used by EachRow
	cies   [4]cieState
	recent *cieState // in cies, the most recently used
	order  int       // index in cies of the next to be replaced
}

// cieState is a CIE, and the state after its instructions.
type cieState struct {
	cie   CIE
	ran   bool
	err   error
	state savedState
	args  uint64
	flags uint64 // exec.flagSum
	kind  kind   // in the automaton of EachBatch
}

func newExec(t *Table) *exec {
	return &exec{t: t, r: bytecursor.Cursor{Data: t.data, Big: !t.little}}
}

// join prepares x to work with an automaton, whose states come from other execs. Its versions must
// differ from those of x: x computes the states after CIEs again, and all versions from now on are
// newer than the automaton's.
func (x *exec) join(m *automaton) {
	for i := range x.cies {
		x.cies[i].kind, x.cies[i].ran = kind{}, false
	}
	x.last = max(x.last, m.version)
}

// cie returns the CIE at off, from the cache or from the section.
func (x *exec) cie(off uint64) (*cieState, error) {
	if k := x.recent; k != nil && k.cie.Offset == off && k.cie.Version != 0 {
		return k, nil
	}
	for i := range x.cies {
		if k := &x.cies[i]; k.cie.Version != 0 && k.cie.Offset == off {
			x.recent = k
			return k, nil
		}
	}
	k := &x.cies[x.order]
	x.order = (x.order + 1) % len(x.cies)
	k.ran, k.kind = false, kind{}
	if err := x.t.cie(off, &k.cie); err != nil {
		k.cie.Version = 0
		return nil, err
	}
	return k, nil
}

// start prepares the program of an FDE. The first call of next then completes its first row, in the
// row that was passed to begin.
func (x *exec) start(e *entry, k *cieState) error {
	r := x.row
	x.c = &k.cie
	if !k.ran {
		x.runCIE(k)
	}
	x.fde, x.loc = e.span, e.lo
	x.depth, x.copied = 0, 0
	r.RA, r.Signal, r.Source = k.cie.RA, k.cie.Signal, e.off
	if k.err != nil {
		return x.fail(k.err)
	}
	x.recall(&k.state)
	x.exprSum, x.flagSum, r.ArgsSize = k.state.cfaSum, k.flags, k.args
	x.initial = &k.state
	if err := x.setProgram(e.instr, maxProgram); err != nil {
		return x.fail(err)
	}
	return nil
}

// setProgram sets the instructions that run executes.
func (x *exec) setProgram(instr [2]int, most int) error {
	x.r.Restart(instr[0], instr[1])
	if instr[1]-instr[0] > most {
		return tooLong
	}
	return nil
}

// runCIE executes a CIE's instructions and saves the resulting state.
func (x *exec) runCIE(k *cieState) {
	k.ran, x.c = true, &k.cie
	x.begin(x.row)
	x.row.RA, x.row.Signal = k.cie.RA, k.cie.Signal
	x.initial = &emptyState
	x.exprSum = 0
	x.fde, x.loc, x.depth, x.copied = span{hi: 1<<64 - 1}, 0, 0, 0
	if k.err = x.setProgram(k.cie.instr, maxCIEProgram); k.err == nil {
		var at uint64
		if at, k.err = x.run(); k.err == nil && at != x.fde.hi { // DWARF 5, 6.4.1: initial instructions make one row
			k.err = moves
		}
	}
	x.keep(&k.state)
	k.state.cfaSum = x.exprSum
	x.hashFlags()
	k.args, k.flags = x.row.ArgsSize, x.flagSum
}

// next completes the next row; more reports whether another row follows.
func (x *exec) next() (more bool, err error) {
	x.row.Lo = x.loc
	at, err := x.run()
	if err != nil {
		return false, x.fail(err)
	}
	x.row.Hi = min(at, x.fde.hi)
	x.loc = at
	return at < x.fde.hi, nil
}

// checkRest returns an error if instructions follow the end of the range, usually because the range
// is too short. The rows within the range are valid. Rules at the very end are allowed: linkers
// write them in the entry of each PLT.
func (x *exec) checkRest() error {
	for x.loc == x.fde.hi && x.r.More() {
		at, err := x.run()
		if err != nil {
			return x.fail(err)
		}
		if at == x.loc {
			return nil
		}
		x.loc = at
	}
	if x.loc > x.fde.hi {
		return x.fail(beyond)
	}
	return nil
}

// defect describes an error in a program; the caller adds the location.
type defect string

func (d defect) Error() string { return string(d) }

var emptyState savedState

func (x *exec) fail(what error) error { return x.t.err(x.fde.off, what) }

// register returns a register that must exist, because the CFA depends on it.
func (x *exec) register(n uint64) (arch.Reg, error) {
	reg, ok := x.t.arch.FromDWARF(n)
	if !ok && x.r.Err() == nil {
		return reg, defect(fmt.Sprintf("%s has no DWARF register %d", x.t.arch.Name, n))
	}
	return reg, nil
}
