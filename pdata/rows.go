package pdata

import (
	"sort"
	"sync"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// Preserved returns the registers that a function of Windows must preserve: where a row has no rule
// for one of them, the function has not changed it ("x64 calling convention", "ARM64 ABI
// conventions").
func Preserved(a *arch.Arch) arch.RegSet {
	if a != arch.AMD64 {
		return a.CalleeSavedSet
	}
	s := a.CalleeSavedSet
	s.Add(arch.RSI)
	s.Add(arch.RDI)
	for x := arch.XMM0 + 6; x <= arch.XMM0+15; x++ {
		s.Add(x)
	}
	return s
}

// functionRows holds the rows of one entry.
type functionRows struct {
	lo, hi uint64
	rows   []row.Row // by address; without gaps from lo to hi unless there is an error
	err    error     // of the addresses without a row
}

// cachedFunctions is the number of recently used entries whose rows are cached.
const cachedFunctions = 16

// functionCache holds the rows of some entries. mu guards it.
type functionCache struct {
	mu   sync.Mutex
	list [cachedFunctions]*functionRows
	next int // index in list of the next to replace
}

func (c *functionCache) find(pc uint64) *functionRows {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.list {
		if f != nil && f.lo <= pc && pc < f.hi {
			return f
		}
	}
	return nil
}

func (c *functionCache) add(f *functionRows) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list[c.next] = f
	c.next = (c.next + 1) % cachedFunctions
}

// RowAt fills r with the row at pc. ErrNotCovered means that no entry covers pc. Any other error means that the entry can't be trusted.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	f := t.cache.find(pc)
	if f == nil {
		var e Entry
		if err := t.Find(pc, &e); err != nil {
			return err
		}
		f = t.rows(&e)
		t.cache.add(f)
	}
	i := sort.Search(len(f.rows), func(i int) bool { return f.rows[i].Hi > pc })
	if i == len(f.rows) || pc < f.rows[i].Lo {
		if f.err != nil {
			return f.err
		}
		return ErrNotCovered
	}
	r.CopyFrom(&f.rows[i])
	return nil
}

// Rows returns the rows of an entry by address, from its start to its end. With an error, the rows
// that can be trusted are returned.
func (t *Table) Rows(e *Entry) ([]row.Row, error) {
	f := t.rows(e)
	return f.rows, f.err
}

// rows makes the rows of an entry.
func (t *Table) rows(e *Entry) *functionRows {
	b := builder{t: t, entry: e}
	f := &functionRows{lo: e.Lo, hi: e.Hi}
	var err error
	if t.config.Arch == arch.ARM64 {
		err = b.arm64()
	} else {
		err = b.amd64()
	}
	if err != nil {
		f.err = &Error{e.Offset, err.Error()}
		return f
	}
	if f.rows = b.out; b.defect != nil {
		f.err = &Error{e.Offset, b.defect.Error()}
	}
	return f
}

// entryCFA returns the distance from the stack pointer at a function's first instruction to the CFA.
func entryCFA(a *arch.Arch) int64 {
	if a.LR == arch.NoReg {
		return int64(a.PtrSize)
	}
	return 0
}

// EachRow calls fn for the rows of the entries from i up to but not including j, by ascending address.
// The row is valid until fn returns; hash is compiled.HashRow of it. A nil row means that RowAt returns
// the defect. If fn returns false, EachRow stops and returns false.
func (t *Table) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	t.once.Do(t.load)
	var e Entry
	for k := max(i, 0); k < min(j, len(t.cells)); k++ {
		t.fill(k, &e)
		if e.Hi > e.Lo && !t.rows(&e).each(fn) {
			return false
		}
	}
	return true
}

// each calls fn for the rows of an entry, and with a nil row for the addresses that have an error.
func (f *functionRows) each(fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	at := f.lo
	for i := range f.rows {
		r := &f.rows[i]
		if at < r.Lo && !fn(at, r.Lo, nil, 0) || !fn(r.Lo, r.Hi, r, compiled.HashRow(r)) {
			return false
		}
		at = r.Hi
	}
	return at >= f.hi || fn(at, f.hi, nil, 0)
}

// builder makes the rows of one entry.
type builder struct {
	t     *Table
	entry *Entry
	out   []row.Row
	state state

	defect error // of a part of the entry, which has no rows
	steps  int   // operations that were undone, to bound the time
}

// maxSteps is the number of operations that are undone for one entry at most: a record has up to
// 1,020 codes, and a function up to 2^18 instructions. Real functions need some hundred.
const maxSteps = 1 << 20

// add appends a row for a range, or extends the last one if it is the same. An empty range is left
// out.
func (b *builder) add(lo, hi uint64, r *row.Row) {
	if lo >= hi {
		return
	}
	if n := len(b.out); n > 0 && b.out[n-1].Hi == lo && sameRow(&b.out[n-1], r) {
		b.out[n-1].Hi = hi
		return
	}
	var c row.Row
	c.CopyFrom(r)
	c.Lo, c.Hi, c.Source = lo, hi, uint64(b.entry.Offset)
	b.out = append(b.out, c)
}

// sameRow reports whether two rows have the same rules.
func sameRow(a, b *row.Row) bool {
	if len(a.Regs) != len(b.Regs) || !sameRule(&a.CFA, &b.CFA) || a.RA != b.RA || a.Signal != b.Signal || a.Signed != b.Signed {
		return false
	}
	for i := range a.Regs {
		r := b.Rule(a.Regs[i].Reg)
		if !sameRule(&a.Regs[i].Rule, &r) {
			return false
		}
	}
	return true
}

func sameRule(a, b *row.Rule) bool {
	return a.Kind == b.Kind && a.Reg == b.Reg && a.N == b.N && string(a.Expr) == string(b.Expr)
}
