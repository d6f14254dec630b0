package compiled

import (
	"bytes"
	"math/bits"
	"math/rand/v2"

	"dbg/arch"
	"dbg/row"
)

// HashRule is a register's part of a row's hash. The hash of a row is HashCFA's result
// exclusive-or the parts of its registers, in any order, so that a decoder can keep it up to date
// as rules come and go.
func HashRule(reg arch.Reg, r *row.Rule) uint64 {
	if r.Kind == row.Unspecified {
		return 0
	}
	h := mix(uint64(reg)<<32 | uint64(r.Kind)<<16 | uint64(r.Reg))
	h = mix(h ^ uint64(r.N))
	if len(r.Expr) > 0 {
		h = hashBytes(h, r.Expr)
	}
	return h
}

// HashCFA is the part of the CFA's rule. Where it is an expression, N, which then
// means nothing, is left out.
func HashCFA(r *row.Rule) uint64 {
	c := *r
	if c.Kind == row.ValExpr {
		c.N = 0
	}
	if c.Kind == row.Unspecified {
		c = row.Rule{}
	}
	return HashRule(0xcfa, &c)
}

// HashRow is the hash of all that a row says but for its range and its Source.
func HashRow(r *row.Row) uint64 {
	h := HashCFA(&r.CFA) ^ hashFlags(r)
	for i := range r.Regs {
		h ^= HashRule(r.Regs[i].Reg, &r.Regs[i].Rule)
	}
	return h
}

// hashFlags is the part of what is not a rule; it changes seldom.
func hashFlags(r *row.Row) uint64 {
	h := uint64(r.RA) << 8
	if r.Signal {
		h |= 1
	}
	if r.Signed {
		h |= 2
	}
	return mix(h ^ r.ArgsSize<<32)
}

// seed makes the hash another one in each run of the program, so that nobody can write a file in
// which different rows have the same.
var seed = [2]uint64{rand.Uint64(), rand.Uint64() | 1}

func mix(v uint64) uint64 {
	hi, lo := bits.Mul64(v^seed[0], 0xd6e8feb86659fd93)
	hi, lo = bits.Mul64(hi^lo, seed[1])
	return hi ^ lo
}

func hashBytes(h uint64, b []byte) uint64 {
	for len(b) >= 8 {
		h = mix(h ^ (uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56))
		b = b[8:]
	}
	for _, c := range b {
		h = h<<8 | h>>56 ^ uint64(c)
	}
	return mix(h ^ uint64(len(b)))
}

// SameRules reports whether two rows say the same, wherever they are valid and
// whichever entry they are from.
func SameRules(a, b *row.Row) bool {
	if len(a.Regs) != len(b.Regs) || a.RA != b.RA || a.Signal != b.Signal || a.Signed != b.Signed || a.ArgsSize != b.ArgsSize ||
		!sameCFA(&a.CFA, &b.CFA) {
		return false
	}
next:
	for i := range a.Regs {
		ra := &a.Regs[i]
		if rb := &b.Regs[i]; rb.Reg == ra.Reg { // usually they come in the same order
			if !sameRule(&ra.Rule, &rb.Rule) {
				return false
			}
			continue
		}
		for j := range b.Regs {
			if b.Regs[j].Reg == ra.Reg {
				if !sameRule(&ra.Rule, &b.Regs[j].Rule) {
					return false
				}
				continue next
			}
		}
		return false
	}
	return true
}

func sameRule(a, b *row.Rule) bool {
	return a.Kind == b.Kind && a.Reg == b.Reg && a.N == b.N && bytes.Equal(a.Expr, b.Expr)
}

func sameCFA(a, b *row.Rule) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case row.Unspecified:
		return true
	case row.ValExpr:
		return bytes.Equal(a.Expr, b.Expr)
	}
	return sameRule(a, b)
}

// interner gives equal rows one number. Rows with the same hash are taken to be the same: that two of
// a file's ten thousand different rules have one hash of 64 secret bits does not happen.
type interner struct {
	rows  []*row.Row // by number
	hash  []uint64
	slots []slot // open addressing

	own block
}

type slot struct {
	hash uint64
	n    uint16 // number+1, 0 is free
}

// id is the number of r's rules, of which a copy is made if they are new; false when the numbers have run out.
func (in *interner) id(r *row.Row, hash uint64) (uint16, bool) {
	if n, ok := in.find(hash); ok {
		return n, true
	}
	return in.add(in.own.copy(r), hash)
}

func (in *interner) find(hash uint64) (uint16, bool) {
	if mask := uint64(len(in.slots) - 1); len(in.slots) > 0 {
		for i := hash & mask; in.slots[i].n != 0; i = (i + 1) & mask {
			if in.slots[i].hash == hash {
				return in.slots[i].n - 1, true
			}
		}
	}
	return 0, false
}

// add gives rules that are new, and never change, a number.
func (in *interner) add(r *row.Row, hash uint64) (uint16, bool) {
	if len(in.rows) >= maxRules {
		return 0, false
	}
	if len(in.rows)*2 >= len(in.slots) {
		in.grow()
	}
	in.rows, in.hash = append(in.rows, r), append(in.hash, hash)
	in.put(hash, uint16(len(in.rows)))
	return uint16(len(in.rows) - 1), true
}

func (in *interner) put(hash uint64, n uint16) {
	mask := uint64(len(in.slots) - 1)
	i := hash & mask
	for in.slots[i].n != 0 {
		i = (i + 1) & mask
	}
	in.slots[i] = slot{hash, n}
}

func (in *interner) grow() {
	in.slots = make([]slot, max(512, 2*len(in.slots)))
	for n, h := range in.hash {
		in.put(h, uint16(n+1))
	}
}

// block is memory for rules.
type block struct {
	rows []row.Row // not used yet
	regs []row.RegRule
	used int
}

// copy is a copy of rules that shares no bytes with the section, which may be unmapped before
// it is given up.
func (b *block) copy(r *row.Row) *row.Row {
	if len(b.rows) == 0 {
		b.rows = make([]row.Row, min(max(16, b.used), 256))
	}
	if len(b.regs) < len(r.Regs) {
		b.regs = make([]row.RegRule, max(len(r.Regs), min(max(64, 4*b.used), 1024)))
	}
	b.used++
	c, regs := &b.rows[0], b.regs[:len(r.Regs):len(r.Regs)]
	b.rows, b.regs = b.rows[1:], b.regs[len(regs):]
	copy(regs, r.Regs)
	*c = *r
	c.Regs, c.Lo, c.Hi, c.Source = regs, 0, 0, 0
	if c.CFA.Kind == row.ValExpr {
		c.CFA.N = 0
	}
	c.CFA.Expr = bytes.Clone(c.CFA.Expr)
	for i := range c.Regs {
		if c.Regs[i].Expr != nil {
			c.Regs[i].Expr = bytes.Clone(c.Regs[i].Expr)
		}
	}
	return c
}

// Pool makes plans of rows that come one by one, and gives equal rows the same plan. The
// zero value is empty. It belongs to one goroutine.
type Pool struct {
	in    interner
	plans []*Plan
}

// maxPool is how many plans a pool keeps.
const maxPool = 8192

// Plan returns the plan of a row; preserved are the registers that keep
// their value where the row says nothing of them, the same in all calls.
func (p *Pool) Plan(a *arch.Arch, r *row.Row, preserved arch.RegSet) *Plan {
	if len(p.plans) >= maxPool {
		*p = Pool{}
	}
	n, _ := p.in.id(r, HashRow(r))
	if int(n) == len(p.plans) {
		p.plans = append(p.plans, NewPlan(a, p.in.rows[n], preserved))
	}
	return p.plans[n]
}
