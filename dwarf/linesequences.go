package dwarf

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"

	"dbg/internal/bytecursor"
)

// Lines are the rows of one sequence of a line table: of contiguous addresses, sorted.
type Lines struct {
	Lo, Hi uint64
	Rows   []Row
}

// lineSpan is where a sequence is: its addresses, and its program as offsets in the section.
type lineSpan struct {
	lo, hi   uint64
	from, to int
}

// keptSequences is how many sequences of a table are kept once their rows are known. A function is one
// of its own where compilers put functions into sections of their own, and a unit is one else.
const keptSequences = 8

// lineCache is what is kept of the sequences that were asked for.
type lineCache struct {
	span  [keptSequences]int
	lines [keptSequences]Lines
	n     int // of them
	next  int // to be replaced
}

// sequences are the spans of all sequences, by address. The whole program is looked at once, for
// its addresses alone.
func (t *LineTable) sequences() []lineSpan {
	if t.surveyed || t.header == nil {
		return t.spans
	}
	t.surveyed = true
	d := t.unit.Data
	s := survey{t: t, h: t.header, r: t.program, spans: d.spans[:0], spent: &d.surveyed}
	s.run()
	d.release(secLine, uint64(t.program.Pos), uint64(len(t.program.Data)))
	d.spans = s.spans // room for the next table's
	t.spans = slices.Clone(s.spans)
	if !slices.IsSortedFunc(t.spans, bySpan) {
		slices.SortStableFunc(t.spans, bySpan)
	}
	return t.spans
}

// EachAt calls fn for those of addrs, which are sorted, that are in a sequence, by their index. It gives what At gives, but nothing is kept but
// rows, which is used for the rows: what fn gets is valid until it returns. What is gone over, in bytes, is added to spent, which is for all
// tables that a question goes to: those of a corrupt file may be one in truth, and when there is too much of it nothing more is found: then it is false. After
// Data.Share several goroutines may call it at once.
func (t *LineTable) EachAt(addrs []uint64, rows *[]Row, spent *atomic.Int64, fn func(i int, l Lines)) bool {
	if t.header == nil || len(addrs) == 0 {
		return true
	}
	spans := t.spans
	if !t.surveyed {
		s := survey{t: t, h: t.header, r: t.program, only: addrs, spent: spent}
		if !s.run() {
			return false
		}
		t.unit.Data.release(secLine, uint64(t.program.Pos), uint64(len(t.program.Data)))
		spans = s.spans
		slices.SortStableFunc(spans, bySpan)
	}
	last, l := -1, Lines{}
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

func bySpan(a, b lineSpan) int { return cmp.Compare(a.lo, b.lo) }

// At returns the sequence that has an address. What it gives is the table's own and valid until the next
// call.
func (t *LineTable) At(addr uint64) (Lines, bool) {
	if i := t.span(addr); i >= 0 {
		return t.lines(i), true
	}
	return Lines{}, false
}

// span is the number of the sequence that has an address, -1 if none has.
func (t *LineTable) span(addr uint64) int {
	return spanWith(t.sequences(), addr)
}

func spanWith(spans []lineSpan, addr uint64) int {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].lo > addr })
	// Sequences seldom overlap; look at a few in case they do.
	for n := 0; i > 0 && n < 16; n++ {
		if i--; addr < spans[i].hi {
			return i
		}
	}
	return -1
}

// Has reports whether a sequence has an address.
func (t *LineTable) Has(addr uint64) bool {
	return t.span(addr) >= 0
}

// Each calls fn for each sequence until it returns false. What fn gets is valid until it returns.
func (t *LineTable) Each(fn func(Lines) bool) {
	var rows []Row
	for _, s := range t.sequences() {
		l := t.decode(s, rows[:0])
		if rows = l.Rows; !fn(l) {
			return
		}
	}
}

// lines are the rows of sequence i.
func (t *LineTable) lines(i int) Lines {
	c := &t.cache
	for k := range c.n {
		if c.span[k] == i {
			return c.lines[k]
		}
	}
	k := c.next
	c.n, c.next = max(c.n, k+1), (k+1)%keptSequences
	c.span[k], c.lines[k] = i, t.decode(t.spans[i], c.lines[k].Rows[:0])
	return c.lines[k]
}

// decode runs the program of one sequence; rows is used for its rows.
func (t *LineTable) decode(s lineSpan, rows []Row) Lines {
	scratch := LineTable{rows: rows}
	r := t.program
	r.Pos, r.Data = s.from, r.Data[:s.to]
	t.unit.runLines(&r, &scratch, t.header)
	return Lines{Lo: s.lo, Hi: s.hi, Rows: scratch.rows}
}

// survey goes over a line program and finds its sequences.
type survey struct {
	t     *LineTable
	spans []lineSpan
	only  []uint64      // of interest are the sequences that have one of these addresses, which are sorted; nil: all are
	spent *atomic.Int64 // bytes
	h     *lineHeader
	r     bytecursor.Cursor
	steps [256]uint64 // how far each special opcode advances the address

	addr   uint64
	opIdx  uint64
	lo, hi uint64 // of the rows so far
	rows   int
	from   int
}

// run is false where too much has been looked at already.
func (s *survey) run() bool {
	h, r := s.h, &s.r
	d := s.t.unit.Data
	// Units have programs of their own. Those of a corrupt file may overlap.
	if s.spent.Add(int64(len(r.Data)-r.Pos)) > 4*int64(len(d.secs[secLine].data))+1<<20 {
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

func (s *survey) reset() {
	s.addr, s.opIdx, s.rows, s.from = 0, 0, 0, s.r.Pos
	s.lo, s.hi = ^uint64(0), 0
}

func (s *survey) advance(ops uint64) {
	if s.h.maxOps <= 1 {
		s.addr += s.h.minInst * ops
		return
	}
	s.addr += s.h.minInst * ((s.opIdx + ops) / s.h.maxOps)
	s.opIdx = (s.opIdx + ops) % s.h.maxOps
}

func (s *survey) row() {
	s.rows++
	s.lo = min(s.lo, s.addr)
}

func (s *survey) extended() {
	r := &s.r
	body := bytecursor.Cursor{Data: r.Block(r.ULEB()), Big: r.Big}
	if body.Left() == 0 {
		return
	}
	switch body.U8() {
	case lneEndSequence:
		// As in endSequence: what the linker has dropped begins at 0 or at the largest addresses.
		if s.rows > 0 && s.rows <= maxLineRows && s.lo != 0 && s.lo < s.t.unit.maxAddr()-1 && s.addr > s.lo && s.wanted() {
			s.spans = append(s.spans, lineSpan{lo: s.lo, hi: s.addr, from: s.from, to: r.Pos})
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
			s.t.files = append(s.t.files, lineFile{name, body.ULEB()})
		}
	}
}

// wanted reports whether the sequence is of interest.
func (s *survey) wanted() bool {
	if s.only == nil {
		return true
	}
	i, found := slices.BinarySearch(s.only, s.lo)
	return found || i < len(s.only) && s.only[i] < s.addr
}
