package cfi

import (
	"dbg/arch"
	"dbg/row"
)

// state holds the row that instructions change. The rules are stored directly in the row. The other
// fields make a change of one rule take the same short time for any number of rules, and maintain
// the row's hash.
type state struct {
	row  *row.Row // the caller's
	slot [arch.MaxRegs]uint8
	sums []uint64 // compiled.HashRule of each element of row.Regs
	sum  uint64   // exclusive-or of sums

	// version identifies the contents of row.Regs: it is new after every change, and recall
	// restores it with the contents.
	version, last uint64
}

// savedState is a copy of the rules of a state.
type savedState struct {
	cfa     row.Rule
	cfaSum  uint64
	signed  bool
	regs    []row.RegRule
	sums    []uint64
	sum     uint64
	version uint64
}

// begin resets the row.
func (s *state) begin(r *row.Row) {
	r.Reset()
	s.row = r
	s.slot = [arch.MaxRegs]uint8{}
	s.sums, s.sum = s.sums[:0], 0
	s.changed()
}

func (s *state) changed() {
	s.last++
	s.version = s.last
}

// set gives a register a rule; an Unspecified rule removes it.
func (s *state) set(reg arch.Reg, rule *row.Rule, sum uint64) {
	regs := s.row.Regs
	i := int(s.slot[reg]) - 1
	switch {
	case rule.Kind == row.Unspecified:
		if i < 0 {
			return
		}
		s.sum ^= s.sums[i]
		last := len(regs) - 1
		regs[i], s.sums[i] = regs[last], s.sums[last]
		s.slot[regs[i].Reg] = uint8(i + 1)
		s.slot[reg] = 0
		s.row.Regs, s.sums = regs[:last], s.sums[:last]
	case i < 0:
		s.row.Regs = append(regs, row.RegRule{Reg: reg, Rule: *rule})
		s.sums = append(s.sums, sum)
		s.slot[reg] = uint8(len(s.sums))
		s.sum ^= sum
	default:
		s.sum ^= s.sums[i] ^ sum
		regs[i].Rule, s.sums[i] = *rule, sum
	}
	s.changed()
}

func (s *state) setCFA(rule *row.Rule) { copyRule(&s.row.CFA, rule) }

// copyRule avoids writing a nil pointer over a nil pointer, the usual case, which saves the garbage
// collector work.
func copyRule(to, from *row.Rule) {
	to.Kind, to.Reg, to.N = from.Kind, from.Reg, from.N
	if to.Expr != nil || from.Expr != nil {
		to.Expr = from.Expr
	}
}

// keep copies the state into k, and reuses its slices.
func (s *state) keep(k *savedState) {
	copyRule(&k.cfa, &s.row.CFA)
	k.signed = s.row.Signed
	k.regs = append(k.regs[:0], s.row.Regs...)
	k.sums = append(k.sums[:0], s.sums...)
	k.sum, k.version = s.sum, s.version
}

// recall restores the state from k. Usually only the CFA has changed in between.
func (s *state) recall(k *savedState) {
	r := s.row
	s.setCFA(&k.cfa)
	r.Signed = k.signed
	if s.version == k.version {
		return
	}
	for i := range r.Regs {
		s.slot[r.Regs[i].Reg] = 0
	}
	r.Regs = append(r.Regs[:0], k.regs...)
	s.sums = append(s.sums[:0], k.sums...)
	s.sum, s.version = k.sum, k.version
	for i := range k.regs {
		s.slot[k.regs[i].Reg] = uint8(i + 1)
	}
}

// rule returns the rule of a register in k, with its hash.
func (k *savedState) rule(reg arch.Reg) (*row.Rule, uint64) {
	for i := range k.regs {
		if k.regs[i].Reg == reg {
			return &k.regs[i].Rule, k.sums[i]
		}
	}
	return &unspecified, 0
}

var unspecified row.Rule
