package cfi

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// automaton remembers what instructions do. The programs of a file consist of the same few hundred
// states and a few thousand transitions from one to the next. Each transition is executed once, and
// then looked up by the state and the bytes of the instructions. The next file uses them too, if its
// CIEs have the same contents.
//
// It covers the instructions that nearly all programs consist of. At any other, and at a possible
// defect, it gives up, and the program is executed from the start.
//
// What it gains: on one core the files of BenchmarkCompileFiles take 2.8 ms for each MB of .eh_frame
// with one Compiler, 3.9 ms with a Compiler for each, and 5.0 ms if every instruction is executed
// (measured on an AMD EPYC).
type automaton struct {
	kinds       map[cieKind]kind
	known       map[stateKey]uint32
	states      []automatonState     // by number; there is no 0
	rules       []compiled.HashedRow // as states
	regs        pieces[row.RegRule]
	sums        pieces[uint64]
	transitions [1 << transitionBits]transition // open addressing
	taken       []uint16                        // which of them

	stack  [maxRemembered]uint32
	depth  int
	copied int // rules, by DW_CFA_remember_state

	rowStarts [maxRowStarts]compiled.RowStart // of out
	out       compiled.Batch                  // its slices are set when they change: that is costly while garbage is collected

	version uint64 // the last one that a state has; see exec.join
}

// Limits of an automaton: a file may have any number of different states.
const (
	maxStates      = 1<<16 - 1
	maxRowStarts   = 1 << 12 // rows of an entry
	transitionBits = 14
)

// cieKind holds the properties of a CIE that decide what the instructions of its FDEs do. CIEs with
// the same ones share states.
type cieKind struct {
	arch      *arch.Arch
	dataAlign int64
	hash      uint64 // of its row
}

// kind is its number, and the state that it begins with.
type kind struct{ n, first uint32 }

// stateKey names a state. The kind of CIE is part of it, because DW_CFA_restore returns to its rules.
type stateKey struct {
	hash uint64
	kind uint32
}

// automatonState is a state from which more instructions can be executed.
type automatonState struct {
	saved   savedState
	flagSum uint64
}

// transition leads from one state to another. Its key is the number of the first, and the bytes of
// the instructions. Its place in the table is the hash of those bytes plus the number, so that the
// hash can be computed before the state is known.
type transition struct {
	key uint64
	to  uint32
}

// shapes says how many bits common instructions have if each of their LEB128 operands is one byte, below 64, and in the
// bits of shapeMore which bits of the instruction are then clear. DW_CFA_remember_state,
// DW_CFA_restore_state and what moves the location are not among them.
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

// batch makes the batch of an entry's rows; false if it must be executed.
func (m *automaton) batch(x *exec, k *known, e *entry) bool {
	t := x.t
	pos, end := e.instr[0], e.instr[1]
	align := k.cie.CodeAlign
	at := reached{loc: e.lo, cur: uint64(m.first(x, k))}
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

// reached is how far a program has been executed: the rows in automaton.rowStarts, where the next begins, and the state.
type reached struct {
	loc, cur uint64
	n        int
}

// cachedRun executes, from pos on, instructions that have been met in the same states. It stops before
// one that has not, or that is not common. It calls nothing, so that its variables stay in registers.
// Eight bytes of data follow the program.
func (m *automaton) cachedRun(data []byte, pos int, at reached, align uint64) (int, reached) {
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
			w >>= 8 // seven bytes are left, of which six are looked at
		}
		// As in common, which would be a call.
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
	return pos, reached{loc, cur, n}
}

// common is how many bits the next instruction has, or the next two, of the left bytes of the program that begin with w, if they are of
// those in shapes; 0 for others, and uncommon for those whose operands are not.
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

// next finds a transition that is not in its own place, or makes it; 0 if that can't be done.
func (m *automaton) next(x *exec, k *known, key uint64, pos, size int) uint64 {
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

// special executes an instruction that has no shape, of which the bytes after the first are w: the state is then next, 0 if
// this is left to exec; the location has moved by delta.
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

// spread is the golden ratio's, for multiplicative hashing.
const spread = 0x9e3779b97f4a7c15

// learn executes instructions from a state on.
func (m *automaton) learn(x *exec, k *known, start uint32, pos, size int) uint32 {
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

// first is the state that a CIE's instructions leave, 0 if that is none of those that are known here.
func (m *automaton) first(x *exec, k *known) uint32 {
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

// hasExpressions says that rules are bytes of the section.
func (k *savedState) hasExpressions() bool {
	for i := range k.regs {
		if k.regs[i].Expr != nil {
			return true
		}
	}
	return false
}

// state is the one that x is in. What an expression has computed is not part of any.
func (m *automaton) state(x *exec, k *known) uint32 {
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

// reset makes the automaton forget everything.
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

// maxStatesSaved is how large an automaton may be to be worth saving.
const maxStatesSaved = 1 << 12

// pieces is memory for many small slices, which nobody appends to.
type pieces[T any] struct {
	all  [][]T
	used int // of all, those that are full; the next is begun
}

// copy makes a slice of s's elements.
func (p *pieces[T]) copy(s []T) []T {
	if len(s) > pieceSize/8 {
		return slices.Clone(s)
	}
	if p.used < len(p.all) && cap(p.all[p.used])-len(p.all[p.used]) < len(s) {
		p.used++
	}
	if p.used == len(p.all) {
		p.all = append(p.all, make([]T, 0, pieceSize))
	}
	to := &p.all[p.used]
	n := len(*to)
	*to = append(*to, s...)
	return (*to)[n:len(*to):len(*to)]
}

const pieceSize = 256

// clear takes all slices back.
func (p *pieces[T]) clear() {
	for i := range p.all {
		clear(p.all[i])
		p.all[i] = p.all[i][:0]
	}
	p.used = 0
}
