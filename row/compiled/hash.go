package compiled

import (
	"bytes"
	"math/bits"
	"math/rand/v2"

	"dbg/arch"
	"dbg/row"
)

// HashRow returns the hash of a row without its range and its Source. It is the exclusive or of
// HashCFA, of HashRule for each register, and of the other fields. The order of the registers does
// not matter, so a decoder can update the hash when a rule changes.
//
// Rows with the same hash are assumed to have the same rules. A file has at most some ten thousand
// different rules, the hash has 64 bits, and it depends on a secret: see seed.
func HashRow(r *row.Row) uint64 {
	h := HashCFA(&r.CFA) ^ hashFlags(r)
	for i := range r.Regs {
		h ^= HashRule(r.Regs[i].Reg, &r.Regs[i].Rule)
	}
	return h
}

// HashRule returns the contribution of one register to the hash of a row. It is 0 for an
// Unspecified rule.
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

// HashCFA returns the contribution of the CFA's rule to the hash of a row. If the rule is an
// expression, N has no meaning and is not included.
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

// hashFlags returns the contribution of the fields that are not rules. They change rarely.
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

// seed makes the hashes differ from run to run of the program, so that nobody can craft a file in
// which different rows have the same hash.
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

// SameRules reports whether two rows have the same rules and flags. Their ranges and their Source
// may differ.
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
