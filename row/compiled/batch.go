package compiled

import (
	"slices"

	"dbg/row"
)

// HashedRow holds the rules of a row, and their hash. The range of the row has no meaning.
type HashedRow struct {
	row.Row
	Hash uint64 // HashRow
}

// Batch holds the rows of one entry, or of a part of one, by ascending address. Each row is valid
// up to the start of the next one, the last row up to Hi. For a decoder that numbers its rules,
// AddBatch costs less than Add for each row.
type Batch struct {
	Starts []RowStart // the first N are valid
	N      int
	Hi     uint64
	Rules  []HashedRow // by number; at most 2^16

	shared []*row.Row // copies of Rules for tables; nil if no table has one
	own    arena
}

// RowStart is the address at which a row begins, and the number of its rules in Batch.Rules.
type RowStart struct {
	Lo   uint64
	Rule uint32
}

// Forget drops the copies of Rules. Call it before the numbers of Rules get another meaning.
func (b *Batch) Forget() {
	clear(b.shared)
	b.shared = b.shared[:0]
}

// share returns a copy of the rules n. All tables that are made from the batch share the copy.
func (b *Batch) share(n uint32) *row.Row {
	if int(n) >= len(b.shared) {
		b.shared = append(b.shared, make([]*row.Row, len(b.Rules)-len(b.shared))...)
	}
	if b.shared[n] == nil {
		b.shared[n] = b.own.copy(&b.Rules[n].Row)
	}
	return b.shared[n]
}

// AddBatch adds the rows of a batch, as Add does. A number of Rules must mean the same in all
// batches that a builder is given.
func (b *Builder) AddBatch(in *Batch) {
	starts := in.Starts[:in.N]
	if len(starts) == 0 {
		return
	}
	first := starts[0].Lo
	if first < b.end || len(b.lo) == 0 {
		for i, r := range starts {
			hi := in.Hi
			if i+1 < len(starts) {
				hi = starts[i+1].Lo
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
	lo, rule := slices.Grow(b.lo, len(starts)), slices.Grow(b.rule, len(starts))
	lo, rule = lo[:n+len(starts)], rule[:n+len(starts)]
	ids, last := b.ids, b.last
	for _, r := range starts {
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

// learn returns the builder's number for the rules n of a batch, and remembers it.
func (b *Builder) learn(in *Batch, n uint32) uint16 {
	id, ok := b.in.find(in.Rules[n].Hash)
	if !ok {
		id, ok = b.in.add(in.share(n), in.Rules[n].Hash)
	}
	if id++; !ok {
		id = AskDecoder
	}
	b.ids[n] = id
	return id
}
