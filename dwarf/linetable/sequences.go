package linetable

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"

	"dbg/internal/bytecursor"
)

// Sequence holds the rows of one sequence of a table, sorted by address. Its addresses are
// contiguous.
type Sequence struct {
	Lo, Hi uint64
	Rows   []Row
}

// span is the location of a sequence: its addresses, and the offsets of its program in the
// section.
type span struct {
	lo, hi   uint64
	from, to int
}

// maxCachedSequences is the number of decoded sequences in a table's cache. If compilers use a
// section for each function, a function is a sequence; otherwise a unit is one.
const maxCachedSequences = 8

// cache holds the sequences that were decoded last.
type cache struct {
	span  [maxCachedSequences]int
	lines [maxCachedSequences]Sequence
	n     int // number of valid elements
	next  int // index of the next to be replaced
}

// sequences returns the spans of all sequences, by address. The first call scans the whole program,
// but only for its addresses.
func (t *Table) sequences() []span {
	if t.scanned || t.header == nil {
		return t.spans
	}
	t.scanned = true
	in := t.in
	s := scan{t: t, h: t.header, r: t.program, spans: in.spans[:0], spent: &in.scanned}
	s.run()
	in.src.Release(uint64(t.program.Pos), uint64(len(t.program.Data)))
	in.spans = s.spans // buffer for the next table
	t.spans = slices.Clone(s.spans)
	if !slices.IsSortedFunc(t.spans, bySpan) {
		slices.SortStableFunc(t.spans, bySpan)
	}
	return t.spans
}

// EachAt calls fn for each element of addrs that is in a sequence, with its index. addrs is sorted.
// The lines equal those of At, but EachAt caches nothing except in rows, a buffer for the rows. The
// lines are valid until fn returns. EachAt adds the number of bytes that it scans to spent, which
// is shared by all tables of one query: in a corrupt file many tables may be the same. If the sum
// becomes too large, EachAt stops searching and returns false. Several goroutines may call it at once
// if the source of the section allows that.
func (t *Table) EachAt(addrs []uint64, rows *[]Row, spent *atomic.Int64, fn func(i int, l Sequence)) bool {
	if t.header == nil || len(addrs) == 0 {
		return true
	}
	spans := t.spans
	if !t.scanned {
		s := scan{t: t, h: t.header, r: t.program, only: addrs, spent: spent}
		if !s.run() {
			return false
		}
		t.in.src.Release(uint64(t.program.Pos), uint64(len(t.program.Data)))
		spans = s.spans
		slices.SortStableFunc(spans, bySpan)
	}
	last, l := -1, Sequence{}
	for i, a := range addrs {
		k := spanWith(spans, a)
		if k < 0 {
			continue
		}
		if k != last {
			l = t.decode(spans[k], (*rows)[:0])
			last, *rows = k, l.Rows
		}
		fn(i, l)
	}
	return true
}

func bySpan(a, b span) int { return cmp.Compare(a.lo, b.lo) }

// At returns the sequence that contains an address. It belongs to the table and is valid until the
// next call.
func (t *Table) At(addr uint64) (Sequence, bool) {
	if i := t.index(addr); i >= 0 {
		return t.lines(i), true
	}
	return Sequence{}, false
}

// index returns the index of the sequence that contains an address, or -1.
func (t *Table) index(addr uint64) int {
	return spanWith(t.sequences(), addr)
}

func spanWith(spans []span, addr uint64) int {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].lo > addr })
	// Sequences rarely overlap; check a few in case they do.
	for n := 0; i > 0 && n < 16; n++ {
		if i--; addr < spans[i].hi {
			return i
		}
	}
	return -1
}

// Has reports whether a sequence contains an address.
func (t *Table) Has(addr uint64) bool {
	return t.index(addr) >= 0
}

// Each calls fn for each sequence until fn returns false. The lines are valid until fn returns.
func (t *Table) Each(fn func(Sequence) bool) {
	var rows []Row
	for _, s := range t.sequences() {
		l := t.decode(s, rows[:0])
		if rows = l.Rows; !fn(l) {
			return
		}
	}
}

// lines returns the rows of sequence i.
func (t *Table) lines(i int) Sequence {
	c := &t.cache
	for k := range c.n {
		if c.span[k] == i {
			return c.lines[k]
		}
	}
	k := c.next
	c.n, c.next = max(c.n, k+1), (k+1)%maxCachedSequences
	c.span[k], c.lines[k] = i, t.decode(t.spans[i], c.lines[k].Rows[:0])
	return c.lines[k]
}

// decode executes the program of one sequence, and uses the buffer rows.
func (t *Table) decode(s span, rows []Row) Sequence {
	scratch := Table{unit: t.unit, rows: rows}
	r := t.program
	r.Pos, r.Data = s.from, r.Data[:s.to]
	run(&r, &scratch, t.header)
	return Sequence{Lo: s.lo, Hi: s.hi, Rows: scratch.rows}
}

// scan scans a line program and finds its sequences.
type scan struct {
	t     *Table
	spans []span
	only  []uint64      // sorted; only sequences with one of these addresses are wanted; nil means all
	spent *atomic.Int64 // total of scanned bytes
	h     *header
	r     bytecursor.Cursor
	steps [256]uint64 // how far each special opcode advances the address

	addr   uint64
	opIdx  uint64
	lo, hi uint64 // address range of the rows so far
	rows   int
	from   int
}

// run returns false if too many bytes have been scanned already.
func (s *scan) run() bool {
	h, r := s.h, &s.r
	// Units have their own programs. In a corrupt file programs may overlap.
	if s.spent.Add(int64(len(r.Data)-r.Pos)) > 4*int64(len(s.t.in.src.Lines(0)))+1<<20 {
		return false
	}
	plain := h.maxOps <= 1
	if h.lineRange != 0 {
		for op := h.opcodeBase; op < 256; op++ {
			s.steps[op] = h.minInst * uint64((op-h.opcodeBase)/h.lineRange)
		}
	}
	s.reset()
	for r.Pos < len(r.Data) && r.Err() == nil {
		op := int(r.Data[r.Pos])
		r.Pos++
		if op >= h.opcodeBase {
			switch {
			case h.lineRange == 0:
				continue
			case plain:
				s.addr += s.steps[op]
			default:
				s.advance(uint64((op - h.opcodeBase) / h.lineRange))
			}
			s.row()
			continue
		}
		switch op {
		case 0:
			s.extended()
		case lnsCopy:
			s.row()
		case lnsAdvancePC:
			s.advance(r.ULEB())
		case lnsAdvanceLine, lnsSetFile, lnsSetColumn, lnsSetISA:
			from := r.Pos
			for r.Pos < len(r.Data) && r.Data[r.Pos] >= 0x80 {
				r.Pos++
			}
			if r.Pos++; r.Pos-from > bytecursor.SureLEB || r.Pos > len(r.Data) {
				if r.Pos = from; op == lnsAdvanceLine {
					r.SLEB()
				} else {
					r.ULEB()
				}
			}
		case lnsNegateStmt, lnsSetBasicBlock, lnsSetEpilogueBegin, lnsSetPrologueEnd:
		case lnsConstAddPC:
			if h.lineRange != 0 {
				s.advance(uint64((255 - h.opcodeBase) / h.lineRange))
			}
		case lnsFixedAdvancePC:
			s.addr += uint64(r.U16())
			s.opIdx = 0
		default:
			for range h.lengths[op-1] {
				r.ULEB()
			}
		}
	}
	return true
}

func (s *scan) reset() {
	s.addr, s.opIdx, s.rows, s.from = 0, 0, 0, s.r.Pos
	s.lo, s.hi = ^uint64(0), 0
}

func (s *scan) advance(ops uint64) {
	if s.h.maxOps <= 1 {
		s.addr += s.h.minInst * ops
		return
	}
	s.addr += s.h.minInst * ((s.opIdx + ops) / s.h.maxOps)
	s.opIdx = (s.opIdx + ops) % s.h.maxOps
}

func (s *scan) row() {
	s.rows++
	s.lo = min(s.lo, s.addr)
}

func (s *scan) extended() {
	r := &s.r
	body := bytecursor.Cursor{Data: r.Block(r.ULEB()), Big: r.Big}
	if body.Left() == 0 {
		return
	}
	switch body.U8() {
	case lneEndSequence:
		// As in machine.endSequence: discarded code begins at 0 or at the largest addresses.
		if s.rows > 0 && s.rows <= maxRows && s.lo != 0 && s.lo < s.t.unit.maxAddr()-1 && s.addr > s.lo && s.wanted() {
			s.spans = append(s.spans, span{lo: s.lo, hi: s.addr, from: s.from, to: r.Pos})
		}
		s.reset()
	case lneSetAddress:
		if n := body.Left(); n == 1 || n == 2 || n == 4 || n == 8 {
			s.addr = body.Uint(n)
		}
		s.opIdx = 0
	case lneDefineFile:
		name := body.CString()
		if s.only == nil {
			s.t.files = append(s.t.files, file{name, body.ULEB()})
		}
	}
}

// wanted reports whether the sequence contains a wanted address.
func (s *scan) wanted() bool {
	if s.only == nil {
		return true
	}
	i, found := slices.BinarySearch(s.only, s.lo)
	return found || i < len(s.only) && s.only[i] < s.addr
}
