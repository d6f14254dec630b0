package compiled

// Numbers of rules in a Table.
const (
	// NoRule is the number at addresses that no entry covers. Gaps are rows too, so that a
	// look-up never finds the rules of a neighbour.
	NoRule uint16 = 0
	// AskDecoder is the number at addresses for which the table has no answer: the entry is
	// defective or overlaps another one, or there are too many different rules. Ask the decoder.
	AskDecoder uint16 = 0xffff

	maxRules = 0xfff0
)

// Table holds the compiled rows of a module. The addresses are divided into pages of equal size. Each
// page has a sorted list of marks: the places where a row begins, and the number of its rules.
//
// A Table never changes, and several goroutines may use it.
type Table struct {
	base  uint64   // the first address
	size  uint64   // number of addresses that the table covers
	shift uint     // log2 of the size of a page; at most 16
	count int      // number of rows
	pages []uint32 // the index of each page's first mark, then the number of marks
	marks []mark
	plans []Plan // by number; the plan of NoRule is empty
}

// mark is a place where a row or a page begins. The upper half is the offset from the start of the
// page, the lower half is the number of the rules.
type mark uint32

func newMark(off uint32, rule uint16) mark { return mark(off<<16 | uint32(rule)) }

// Lookup returns the number of the rules at pc, an address in the file, and their plan. The plan is
// nil for NoRule and AskDecoder.
func (t *Table) Lookup(pc uint64) (*Plan, uint16) {
	off := pc - t.base
	if off >= t.size {
		return nil, NoRule
	}
	page := off >> t.shift
	i, end := t.pages[page], t.pages[page+1]
	at := newMark(uint32(off&(1<<t.shift-1)), 0xffff)
	marks := t.marks[:end]
	for end-i > 12 { // many rows in one page
		if mid := (i + end) / 2; marks[mid] <= at {
			i = mid
		} else {
			end = mid
		}
	}
	for i++; i < end && marks[i] <= at; i++ {
	}
	n := uint16(marks[i-1])
	if n == NoRule || int(n) >= len(t.plans) {
		return nil, n
	}
	return &t.plans[n], n
}

// Rows returns the number of rows. Gaps between entries count as rows.
func (t *Table) Rows() int { return t.count }

// Rules returns the number of different sets of rules.
func (t *Table) Rules() int { return len(t.plans) - 1 }

// Bytes estimates how much memory the table takes.
func (t *Table) Bytes() int { return 4*len(t.pages) + 4*len(t.marks) + 400*len(t.plans) }

// rowsPerPage is the intended mean number of rows in a page.
const rowsPerPage = 6

// index divides the rows into pages. lo are the offsets at which rows begin, rule their numbers.
func (t *Table) index(lo []uint32, rule []uint16) {
	t.count = len(lo)
	for t.shift = 4; t.shift < 16 && t.size>>t.shift > uint64(len(lo))/rowsPerPage+1; t.shift++ {
	}
	n := int((t.size-1)>>t.shift) + 1
	t.pages = make([]uint32, n+1)
	marks := make([]mark, len(lo)+n)
	page, k, before := uint32(0), 0, NoRule
	shift, mask := t.shift&31, uint32(1)<<t.shift-1
	rule = rule[:len(lo)]
	for i, at := range lo {
		for p := at >> shift; page < p; {
			// The next page begins with the row before, if this row does not begin there.
			page++
			t.pages[page] = uint32(k)
			if page < p || at&mask != 0 {
				marks[k] = newMark(0, before)
				k++
			}
		}
		before = rule[i]
		marks[k] = newMark(at&mask, before)
		k++
	}
	for page++; page < uint32(n); page++ {
		t.pages[page] = uint32(k)
		marks[k] = newMark(0, before)
		k++
	}
	t.marks = marks[:k]
	t.pages[n] = uint32(k)
}
