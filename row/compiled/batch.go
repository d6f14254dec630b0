package compiled

import (
	"slices"

	"dbg/row"
)

// Known is the rules of a row, without a range, with their hash.
type Known struct {
	row.Row
	Hash uint64 // HashRow
}

// Batch is the rows of one entry, or of a part of one, by rising address: each is valid up to where the next begins, the last one up
// to Hi.
type Batch struct {
	Begin []Begin // the first N are rows
	N     int
	Hi    uint64
	Rules []Known // by number; at most 2^16

	shared []*row.Row // copies of Rules that tables have, nil where none does
	own    block
}

// Forget is to be called when the numbers of Rules mean something else.
func (b *Batch) Forget() {
	clear(b.shared)
	b.shared = b.shared[:0]
}

// share returns a copy of the rules of a number, which the tables of all files share.
func (b *Batch) share(n uint32) *row.Row {
	if int(n) >= len(b.shared) {
		b.shared = append(b.shared, make([]*row.Row, len(b.Rules)-len(b.shared))...)
	}
	if b.shared[n] == nil {
		b.shared[n] = b.own.copy(&b.Rules[n].Row)
	}
	return b.shared[n]
}

// Begin is where a row begins, and the number of its rules.
type Begin struct {
	Lo   uint64
	Rule uint32
}

// AddBatch is Add for the rows of a batch. Rules have the same numbers in all batches that a builder is given.
func (b *Builder) AddBatch(in *Batch) {
	begin := in.Begin[:in.N]
	if len(begin) == 0 {
		return
	}
	first := begin[0].Lo
	if first < b.end || len(b.lo) == 0 {
		for i, r := range begin {
			hi := in.Hi
			if i+1 < len(begin) {
				hi = begin[i+1].Lo
			}
			k := &in.Rules[r.Rule]
			b.Add(r.Lo, hi, &k.Row, k.Hash)
		}
		return
	}
	if len(b.ids) < len(in.Rules) {
		b.ids = append(b.ids, make([]uint16, max(256, len(in.Rules)))...)
	}
	if first != b.end {
		b.start(b.end, NoRule)
		b.last = NoRule
	}
	n := len(b.lo)
	lo, rule := slices.Grow(b.lo, len(begin)), slices.Grow(b.rule, len(begin))
	lo, rule = lo[:n+len(begin)], rule[:n+len(begin)]
	ids, last := b.ids, b.last
	for _, r := range begin {
		id := ids[r.Rule]
		if id == NoRule {
			id = b.learn(in, r.Rule)
		}
		if id != last {
			lo[n], rule[n] = uint32(r.Lo-b.base), id
			last = id
			n++
		}
	}
	b.lo, b.rule = lo[:n], rule[:n]
	b.last, b.end = last, in.Hi
}

// learn finds the number that rules of a batch have here.
func (b *Builder) learn(in *Batch, n uint32) uint16 {
	id, ok := b.in.find(in.Rules[n].Hash)
	if !ok {
		id, ok = b.in.add(in.share(n), in.Rules[n].Hash)
	}
	if id++; !ok {
		id = AskEntry
	}
	b.ids[n] = id
	return id
}
