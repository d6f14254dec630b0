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
	maxProgram    = 1 << 24 // bytes of an FDE's
	maxCIEProgram = 1 << 12 // bytes of a CIE's, which is run again for FDEs far apart
	maxCopied     = 1 << 22 // rules copied by all of DW_CFA_remember_state
)

// exec runs the instructions of one FDE: DWARF 5 section 6.4.3. It goes from row
// to row; the row is complete when the next location is known. It saves the states that CIEs leave
// for the next FDE.
type exec struct {
	state
	t   *Table
	fde span // offset and range
	c   *CIE

	r       bytecursor.Cursor // of the program
	initial *savedState       // the rules after the CIE's instructions, for DW_CFA_restore
	saved   []savedState      // by DW_CFA_remember_state; those from depth on keep their capacity
	depth   int
	copied  int    // rules copied into saved so far
	loc     uint64 // where the current row begins

	exprSum uint64 // compiled.HashCFA of the CFA's rule if it is an expression
	flagSum uint64 // the part of the hash that is of no rule
	cfaSums hashCache
	atSums  hashCache

	own    row.Row // of EachRow
	cies   [4]known
	recent *known // of cies, the last one
	order  int    // of cies: the next to be replaced
}

// known is a CIE that was read, and the state that its instructions leave.
type known struct {
	cie   CIE
	ran   bool
	err   error
	state savedState
	args  uint64
	flags uint64 // flagSum
	kind  kind   // its number in the automaton of EachBatch
}

func newExec(t *Table) *exec {
	return &exec{t: t, r: bytecursor.Cursor{Data: t.data, Big: !t.little}}
}

// join prepares x to work with an automaton, whose states come from other machines. Their versions
// must not be taken for those of x: the states that x has of CIEs are made again, and all versions
// are newer than the automaton's from now on.
func (x *exec) join(m *automaton) {
	for i := range x.cies {
		x.cies[i].kind, x.cies[i].ran = kind{}, false
	}
	x.last = max(x.last, m.version)
}

// cie finds a CIE by its offset among those that were read, or reads it.
func (x *exec) cie(off uint64) (*known, error) {
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

// start prepares the program of an FDE, so that next gives its first row in the row
// that begin was given.
func (x *exec) start(e *entry, k *known) error {
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
	if err := x.program(e.instr, maxProgram); err != nil {
		return x.fail(err)
	}
	return nil
}

// program makes instr what run executes.
func (x *exec) program(instr [2]int, most int) error {
	x.r.Restart(instr[0], instr[1])
	if instr[1]-instr[0] > most {
		return tooLong
	}
	return nil
}

// runCIE runs a CIE's instructions and keeps what they leave.
func (x *exec) runCIE(k *known) {
	k.ran, x.c = true, &k.cie
	x.begin(x.row)
	x.row.RA, x.row.Signal = k.cie.RA, k.cie.Signal
	x.initial = &nothing
	x.exprSum = 0
	x.fde, x.loc, x.depth, x.copied = span{hi: 1<<64 - 1}, 0, 0, 0
	if k.err = x.program(k.cie.instr, maxCIEProgram); k.err == nil {
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

// next completes the next row; more says that there is one after it.
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

// rest is the defect of a program that goes on after the end of its range, mostly because the range is too short. The rows
// within the range are good. Rules for the very end are no defect: linkers have them in the entry of each PLT.
func (x *exec) rest() error {
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

// defect is what is wrong with a program; the caller knows where.
type defect string

func (d defect) Error() string { return string(d) }

var nothing savedState

func (x *exec) fail(what error) error { return x.t.err(x.fde.off, what) }

// register is a register that must exist: the CFA depends on it.
func (x *exec) register(n uint64) (arch.Reg, error) {
	reg, ok := x.t.arch.FromDWARF(n)
	if !ok && x.r.Err() == nil {
		return reg, defect(fmt.Sprintf("it uses register %d, which %s has not", n, x.t.arch.Name))
	}
	return reg, nil
}
