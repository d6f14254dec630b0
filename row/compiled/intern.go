package compiled

import (
	"bytes"

	"dbg/row"
)

// interner gives each set of rules a number. Equal hashes mean equal rules: see HashRow.
type interner struct {
	rows  []*row.Row // by number
	hash  []uint64
	slots []hashSlot // open addressing

	own arena
}

// hashSlot is one place of the hash table.
type hashSlot struct {
	hash uint64
	n    uint16 // number+1; 0 means free
}

// id returns the number of r's rules, and copies them if they are new. It returns false if there
// are no more numbers.
func (in *interner) id(r *row.Row, hash uint64) (uint16, bool) {
	if n, ok := in.find(hash); ok {
		return n, true
	}
	return in.add(in.own.copy(r), hash)
}

// find returns the number of the rules with a hash.
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

// add assigns a number to new rules. They must never change. It returns false if there are no more
// numbers.
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
	in.slots[i] = hashSlot{hash, n}
}

func (in *interner) grow() {
	in.slots = make([]hashSlot, max(512, 2*len(in.slots)))
	for n, h := range in.hash {
		in.put(h, uint16(n+1))
	}
}

// arena allocates copies of rows, many at a time.
type arena struct {
	rows []row.Row // not used yet
	regs []row.RegRule
	used int
}

// copy returns a copy of the rules of r, without range and Source. It shares no memory with the
// section, which may be unmapped earlier.
func (b *arena) copy(r *row.Row) *row.Row {
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
