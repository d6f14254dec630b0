package cfi

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// automaton caches the effects of instructions. The programs of a file consist of the same few
// hundred states and a few thousand transitions from one to the next. Each transition is executed
// once, and then looked up by the state and the bytes of the instructions. The next file uses them
// too, if its CIEs have the same contents.
//
// It covers the instructions that nearly all programs consist of. At any other instruction, and at
// a possible defect, it gives up, and the program is executed from the start.
//
// Time saved: on one core the files of BenchmarkCompileFiles take 2.8 ms for each MB of .eh_frame
// with one Compiler, 3.9 ms with a Compiler for each file, and 5.0 ms if every instruction is
// executed (measured on an AMD EPYC).
type automaton struct {
	kinds       map[cieKind]kind
	known       map[stateKey]uint32
	states      []automatonState     // by number; 0 is not a state
	rules       []compiled.HashedRow // parallel to states
	regs        arena[row.RegRule]
	sums        arena[uint64]
	transitions [1 << transitionBits]transition // open addressing
	taken       []uint16                        // indices of the used transitions

	stack  [maxRemembered]uint32
	depth  int
	copied int // number of rules saved by DW_CFA_remember_state

	rowStarts [maxRowStarts]compiled.RowStart // backs out.Starts
	out       compiled.Batch                  // its slices are set only when they change: a pointer write is costly during garbage collection

	version uint64 // the latest version of any state; see exec.join
}

// Limits of an automaton: a file may have any number of different states.
const (
	maxStates      = 1<<16 - 1
	maxRowStarts   = 1 << 12 // for each entry
	transitionBits = 14
)

// cieKind holds the properties of a CIE that decide the effects of its FDEs' instructions. CIEs
// with equal properties share states.
type cieKind struct {
	arch      *arch.Arch
	dataAlign int64
	hash      uint64 // of its initial row
}

// kind holds the number of a cieKind, and its initial state.
type kind struct{ n, first uint32 }

// stateKey identifies a state. The kind of CIE is part of it, because DW_CFA_restore returns to the
// CIE's rules.
type stateKey struct {
	hash uint64
	kind uint32
}

// automatonState is a state from which more instructions can be executed.
type automatonState struct {
	saved   savedState
	flagSum uint64
}

// transition leads from one state to another. Its key is the number of the first state, and the
// bytes of the instructions. Its place in the table is the hash of those bytes plus the number, so
// that the hash can be computed before the state is known.
type transition struct {
	key uint64
	to  uint32
}

// shapes holds, for each common opcode, the length of the instruction in bits if each of its LEB128
// operands is one byte below 64. The bits of shapeMore in an element are the bits that are clear in
// such an instruction. DW_CFA_remember_state, DW_CFA_restore_state and instructions that move the
// location are not included.
var shapes = func() (s [256]uint32) {
	for op := range s {
		switch {
		case op&0xc0 == cfaOffset, op == cfaDefCFAOffset, op == cfaDefCFARegister, op == cfaUndefined, op == cfaSameValue, op == cfaDefCFAOffsetSF:
			s[op] = 16 | 0x8000
		case op&0xc0 == cfaRestore, op == cfaAArch64NegateRAState:
			s[op] = 8
		case op == cfaDefCFA, op == cfaOffsetExtended, op == cfaOffsetExtendedSF, op == cfaRegister:
			s[op] = 24 | 0x808000
		}
	}
	return s
}()

const shapeMore = 0x808000

// batch sets m.out to the rows of an entry. It returns false if the entry must be executed instead.
func (m *automaton) batch(x *exec, k *cieState, e *entry) bool {
	t := x.t
	pos, end := e.instr[0], e.instr[1]
	align := k.cie.CodeAlign
	at := progress{loc: e.lo, cur: uint64(m.first(x, k))}
	if at.cur == 0 || !t.little || align == 0 || align > 1<<10 || pos > end || end-pos > maxProgram || end+8 > len(t.data) || e.lo >= e.hi || e.hi > 1<<62 {
		return false
	}
	data := t.data[:end+8]
	m.depth, m.copied = 0, 0
	for {
		if pos, at = m.cachedRun(data, pos, at, align); pos >= end {
			break
		}
		w := binary.LittleEndian.Uint64(data[pos:])
		bits := common(w, end-pos)
		if bits == 0 {
			next, delta, size := m.special(byte(w), w>>8, uint32(at.cur))
			if pos += size; next == 0 || pos > end || at.n >= len(m.rowStarts) {
				return false
			}
			if delta != 0 {
				m.rowStarts[at.n] = compiled.RowStart{Lo: at.loc, Rule: uint32(at.cur)}
				at.n++
				if at.loc += delta * align; at.loc > e.hi {
					return false
				}
			}
			at.cur = uint64(next)
			continue
		}
		if bits == uncommon {
			return false
		}
		at.cur = m.next(x, k, w&(1<<bits-1)|at.cur<<48, pos, int(bits>>3))
		if at.cur == 0 {
			return false
		}
		pos += int(bits >> 3)
	}
	n := at.n
	if pos > end || n >= len(m.rowStarts) {
		return false
	}
	if at.loc < e.hi {
		m.rowStarts[n] = compiled.RowStart{Lo: at.loc, Rule: uint32(at.cur)}
		n++
	}
	for n > 0 && m.rowStarts[n-1].Lo >= e.hi {
		n--
	}
	m.out.N, m.out.Hi = n, e.hi
	return true
}

// progress is the point that execution has reached.
type progress struct {
	loc, cur uint64
	n        int
}

// cachedRun executes known transitions, beginning at pos. It stops before an instruction that has
// no known transition, or is not common. It makes no calls, so that its variables stay in
// registers. data holds eight more bytes after the program.
func (m *automaton) cachedRun(data []byte, pos int, at progress, align uint64) (int, progress) {
	end := len(data) - 8
	loc, cur, n := at.loc, at.cur, at.n
	for pos < end {
		w := binary.LittleEndian.Uint64(data[pos:])
		if op := byte(w); op > cfaAdvanceLoc && op < cfaOffset {
			if n >= len(m.rowStarts) {
				break
			}
			m.rowStarts[n] = compiled.RowStart{Lo: loc, Rule: uint32(cur)}
			n++
			loc += uint64(op&0x3f) * align
			if pos++; pos >= end {
				break
			}
			w >>= 8 // seven bytes are left; six are examined
		}
		// This repeats common, to avoid a call.
		shape := uint64(shapes[byte(w)])
		bits := shape & 63
		if bits == 0 {
			if left := end - pos; left < 8 && w<<(64-8*uint(left)&63) == 0 { // DW_CFA_nop up to the end
				pos = end
				break
			}
			if byte(w) != cfaAdvanceLoc1 || w&0xff00 == 0 || n >= len(m.rowStarts) {
				break
			}
			m.rowStarts[n] = compiled.RowStart{Lo: loc, Rule: uint32(cur)}
			n++
			loc += w >> 8 & 0xff * align
			pos += 2
			continue
		}
		if w&shape&shapeMore == 0 {
			then := w >> (bits & 63)
			if second := uint64(shapes[byte(then)]); then&second&shapeMore == 0 && pos+int((bits+second&63)>>3) <= end {
				bits += second & 63
			}
		} else if bits = 24; byte(w) != cfaDefCFAOffset || w&0x800000 != 0 {
			break
		}
		code := w & (1<<(bits&63) - 1)
		to := &m.transitions[(code*spread>>(64-transitionBits)+cur)%(1<<transitionBits)]
		if to.key != code|cur<<48 {
			break
		}
		cur = uint64(to.to)
		pos += int(bits >> 3)
	}
	return pos, progress{loc, cur, n}
}

// common returns the length in bits of the next instruction, or of the next two, if they are among
// those in shapes. The program has left more bytes, and w holds the first eight. common returns 0
// for other instructions, and uncommon for operands that are too large.
func common(w uint64, left int) uint64 {
	shape := uint64(shapes[byte(w)])
	bits := shape & 63
	if w&shape&shapeMore != 0 {
		if byte(w) != cfaDefCFAOffset || w&0x800000 != 0 {
			return uncommon
		}
		return 24 // an operand of two bytes
	}
	then := w >> (bits & 63)
	if second := uint64(shapes[byte(then)]); bits != 0 && then&second&shapeMore == 0 && int(bits+second&63)>>3 <= left {
		bits += second & 63
	}
	return bits
}

const uncommon = 64

// next finds a transition that is not in its first slot, or learns it. It returns the state after
// the transition, or 0 on failure.
func (m *automaton) next(x *exec, k *cieState, key uint64, pos, size int) uint64 {
	i := (key<<16>>16*spread>>(64-transitionBits) + key>>48) % (1 << transitionBits)
	for ; m.transitions[i].key != 0; i = (i + 1) % (1 << transitionBits) {
		if m.transitions[i].key == key {
			return uint64(m.transitions[i].to)
		}
	}
	if len(m.taken) > 1<<transitionBits/2 {
		return 0
	}
	to := m.learn(x, k, uint32(key>>48), pos, size)
	if to != 0 {
		m.taken = append(m.taken, uint16(i))
		m.transitions[i] = transition{key, to}
	}
	return uint64(to)
}

// special executes an instruction that has no shape; w holds the bytes after the opcode. It returns
// the next state, by how much the location moves, and the size of the instruction. A next state of
// 0 leaves the instruction to exec.
func (m *automaton) special(op byte, w uint64, cur uint32) (next uint32, delta uint64, size int) {
	switch op {
	case cfaNop:
		return cur, 0, 1
	case cfaRememberState:
		if m.copied += len(m.states[cur].saved.sums); m.depth == len(m.stack) || m.copied > maxCopied {
			return 0, 0, 0
		}
		m.stack[m.depth] = cur
		m.depth++
		return cur, 0, 1
	case cfaRestoreState:
		if m.depth == 0 {
			return 0, 0, 0
		}
		m.depth--
		return m.stack[m.depth], 0, 1
	case cfaAdvanceLoc1:
		return cur, w & 0xff, 2
	case cfaAdvanceLoc2:
		return cur, w & 0xffff, 3
	case cfaAdvanceLoc4:
		return cur, w & 0xffffffff, 5
	}
	if op&0xc0 == cfaAdvanceLoc {
		return cur, uint64(op & 0x3f), 1
	}
	return 0, 0, 0
}

// spread is 2**64 divided by the golden ratio, for multiplicative hashing.
const spread = 0x9e3779b97f4a7c15

// learn executes instructions from state start, and returns the resulting state, or 0 on failure.
func (m *automaton) learn(x *exec, k *cieState, start uint32, pos, size int) uint32 {
	from := &m.states[start]
	r := x.row
	x.c, x.initial = &k.cie, &k.state
	x.recall(&from.saved)
	r.RA, r.Signal, r.ArgsSize, x.flagSum = k.cie.RA, k.cie.Signal, k.args, from.flagSum
	x.r.Restart(pos, pos+size)
	for x.r.More() {
		op := x.r.U8()
		switch op & 0xc0 {
		case cfaOffset:
			x.offset(arch.Reg(op&0x3f), int64(x.r.ULEB())*x.c.DataAlign)
		case cfaRestore:
			reg := arch.Reg(op & 0x3f)
			rule, sum := x.initial.rule(reg)
			x.set(reg, rule, sum)
		default:
			if err := x.change(op); err != nil {
				return 0
			}
		}
	}
	if x.r.Err() != nil || x.r.Pos != pos+size {
		return 0
	}
	return m.state(x, k)
}

// first returns the state after the CIE's instructions, or 0 if the automaton does not support it.
func (m *automaton) first(x *exec, k *cieState) uint32 {
	if k.kind.first != 0 {
		return k.kind.first
	}
	if !k.ran {
		x.runCIE(k)
	}
	if k.err != nil || k.state.hasExpressions() {
		return 0
	}
	r := x.row
	x.recall(&k.state)
	r.RA, r.Signal, r.ArgsSize, x.flagSum = k.cie.RA, k.cie.Signal, k.args, k.flags
	if r.CFA.Kind != row.InReg {
		return 0
	}
	key := cieKind{x.t.arch, k.cie.DataAlign, x.hash()}
	if k.kind = m.kinds[key]; k.kind.first == 0 {
		k.kind.n = uint32(len(m.kinds) + 1)
		if k.kind.first = m.state(x, k); k.kind.first != 0 {
			m.kinds[key] = k.kind
		}
	}
	return k.kind.first
}

// hasExpressions reports whether a rule is an expression, which refers to bytes of the section.
func (k *savedState) hasExpressions() bool {
	for i := range k.regs {
		if k.regs[i].Expr != nil {
			return true
		}
	}
	return false
}

// state returns the number of the state that x is in, or 0 if there can be none. A state with an
// expression for the CFA is not supported.
func (m *automaton) state(x *exec, k *cieState) uint32 {
	if x.row.CFA.Kind != row.InReg {
		return 0
	}
	key := stateKey{x.hash(), k.kind.n}
	if n := m.known[key]; n != 0 {
		return n
	}
	n := len(m.states)
	if n > maxStates {
		return 0
	}
	own := compiled.HashedRow{Row: *x.row, Hash: key.hash}
	own.Lo, own.Hi, own.Source = 0, 0, 0
	own.Regs = m.regs.copy(x.row.Regs)
	m.rules = append(m.rules, own)
	m.out.Rules = m.rules
	m.states = append(m.states, automatonState{flagSum: x.flagSum, saved: savedState{
		cfa: own.CFA, signed: own.Signed, regs: own.Regs, sums: m.sums.copy(x.sums), sum: x.sum, version: x.version}})
	m.known[key] = uint32(n)
	return uint32(n)
}

func newAutomaton() *automaton {
	m := &automaton{
		kinds:  map[cieKind]kind{},
		known:  map[stateKey]uint32{},
		states: make([]automatonState, 1, 256),
		rules:  make([]compiled.HashedRow, 1, 256),
	}
	m.out.Starts = m.rowStarts[:]
	return m
}

// reset clears the automaton.
func (m *automaton) reset() {
	clear(m.kinds)
	clear(m.known)
	for _, i := range m.taken {
		m.transitions[i] = transition{}
	}
	clear(m.states)
	clear(m.rules)
	m.states, m.rules, m.taken = m.states[:1], m.rules[:1], m.taken[:0]
	m.out.Forget()
	m.regs.clear()
	m.sums.clear()
}

// maxStatesSaved is the largest number of states of an automaton that is worth saving.
const maxStatesSaved = 1 << 12

// arena allocates many small slices from large blocks. Callers do not append to the slices.
type arena[T any] struct {
	all  [][]T
	used int // number of full blocks in all
}

// copy returns a copy of s.
func (p *arena[T]) copy(s []T) []T {
	if len(s) > arenaBlock/8 {
		return slices.Clone(s)
	}
	if p.used < len(p.all) && cap(p.all[p.used])-len(p.all[p.used]) < len(s) {
		p.used++
	}
	if p.used == len(p.all) {
		p.all = append(p.all, make([]T, 0, arenaBlock))
	}
	to := &p.all[p.used]
	n := len(*to)
	*to = append(*to, s...)
	return (*to)[n:len(*to):len(*to)]
}

const arenaBlock = 256

// clear frees all slices for reuse.
func (p *arena[T]) clear() {
	for i := range p.all {
		clear(p.all[i])
		p.all[i] = p.all[i][:0]
	}
	p.used = 0
}
