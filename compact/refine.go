package compact

import (
	"errors"
	"sort"
	"sync"

	"dbg/code/flow"
	"dbg/row"
)

// Refiner makes exact rows from a table. It combines the compiler's description of a function's
// body with the effects of the instructions into the row at each instruction, in prologue, body
// and epilogue.
//
// Several goroutines may use it.
type Refiner struct {
	// Unrefined disables the refinement, as the format is defined: the body's row applies to
	// every address of an entry. Set it before the first use.
	Unrefined bool

	// Escape returns the row of __eh_frame at an address, for functions that the table leaves to
	// it. Compilers for macOS describe no epilogues there (X86FrameLowering of LLVM), so these
	// rows are refined like those of the table. Rows that the code does not confirm are left to
	// __eh_frame. Escape may be nil. Set it before the first use.
	Escape func(pc uint64, r *row.Row) error

	t      *Table
	starts []uint64

	once      sync.Once
	functions []function
	workers   sync.Pool

	mu     sync.Mutex // guards cached
	cached [cachedFunctions]*refined
	next   int // index in cached of the next function to replace
}

// cachedFunctions is the number of recently used functions whose rows are cached.
const cachedFunctions = 16

// function is a function: an entry, or a part of one.
type function struct {
	entry  Entry
	lo, hi uint64
	err    bool // the entry can't be trusted
}

// NewRefiner makes a refiner. starts are the addresses of functions' first instructions, in
// rising order, as in LC_FUNCTION_STARTS. They separate neighbouring functions that share an
// entry. Without them, functions are separated by their prologues.
func NewRefiner(t *Table, starts []uint64) *Refiner {
	x := &Refiner{t: t, starts: starts}
	x.workers.New = func() any { return &worker{x: x} }
	return x
}

// Table returns the table that is refined.
func (r *Refiner) Table() *Table { return r.t }

// Name returns the name of the section.
func (x *Refiner) Name() string { return "__unwind_info" }

// Bounds returns the bounds of the function at an address, as far as the table and the starts
// separate functions.
func (x *Refiner) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	var e Entry
	if x.t.Find(pc, &e) != nil {
		return 0, 0, false
	}
	lo, hi = x.bounds(&e, pc)
	return lo, hi, true
}

// bounds returns the part of an entry that is the function at pc.
func (x *Refiner) bounds(e *Entry, pc uint64) (lo, hi uint64) {
	i := sort.Search(len(x.starts), func(i int) bool { return x.starts[i] > pc })
	lo, hi = e.Lo, e.Hi
	if i > 0 {
		lo = max(lo, x.starts[i-1])
	}
	if i < len(x.starts) {
		hi = min(hi, x.starts[i])
	}
	return lo, hi
}

// RowAt fills r with the row at pc. ErrNotCovered means that nothing is known there: no entry
// covers pc, it belongs to __eh_frame, it is padding, or it is code without an entry that can't
// be followed.
func (x *Refiner) RowAt(pc uint64, r *row.Row) error {
	var e Entry
	if err := x.t.Find(pc, &e); err != nil {
		return err
	}
	if x.Unrefined {
		return quiet(x.t.Row(&e, r))
	}
	f, err := x.function(&e, pc)
	if err != nil {
		return err
	}
	i := sort.Search(len(f.spans), func(i int) bool { return f.spans[i].hi > pc })
	if i == len(f.spans) || pc < f.spans[i].lo {
		return ErrNotCovered
	}
	s := &f.spans[i]
	r.CopyFrom(&f.rows[s.row])
	r.Lo, r.Hi, r.Source = s.lo, s.hi, uint64(e.Offset)
	return nil
}

// quiet replaces an error that only means that other sources know better.
func quiet(err error) error {
	var dwarf *ErrDWARF
	if err == ErrNone || errors.As(err, &dwarf) {
		return ErrNotCovered
	}
	return err
}

// function returns the function at pc with its rows.
func (x *Refiner) function(e *Entry, pc uint64) (*refined, error) {
	x.mu.Lock()
	for _, f := range x.cached {
		if f != nil && f.lo <= pc && pc < f.hi {
			x.mu.Unlock()
			return f, nil
		}
	}
	x.mu.Unlock()
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	lo, hi := x.bounds(e, pc)
	if err := w.refine(e, lo, hi); err != nil {
		return nil, err
	}
	f := w.out.clone()
	x.mu.Lock()
	x.cached[x.next] = f
	x.next = (x.next + 1) % cachedFunctions
	x.mu.Unlock()
	return f, nil
}

// Entries returns the number of functions, or of entries if Unrefined.
func (x *Refiner) Entries() int {
	if x.Unrefined {
		return x.t.Entries()
	}
	x.once.Do(x.index)
	return len(x.functions)
}

// index lists the functions of all entries.
func (x *Refiner) index() {
	x.functions = make([]function, 0, x.t.Entries()+len(x.starts))
	k := 0
	x.t.Each(0, x.t.Entries(), func(e *Entry, err error) bool {
		f := function{*e, e.Lo, e.Hi, err != nil}
		for k < len(x.starts) && x.starts[k] <= f.lo {
			k++
		}
		if f.err || e.Opcode.Kind(x.t.arch) == DWARF && x.Escape == nil {
			x.functions = append(x.functions, f)
			return true
		}
		for ; k < len(x.starts) && x.starts[k] < e.Hi; k++ {
			if x.starts[k] > f.lo {
				f.hi = x.starts[k]
				x.functions = append(x.functions, f)
				f.lo, f.hi = f.hi, e.Hi
			}
		}
		x.functions = append(x.functions, f)
		return true
	})
}

// EachRow calls fn for the rows of the functions from i up to but not including j, by rising
// address. The row is valid until fn returns; hash is compiled.HashRow of it. A nil row means that
// RowAt returns the defect. If fn returns false, EachRow stops and returns false.
func (x *Refiner) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	if x.Unrefined {
		return x.eachBody(i, j, fn)
	}
	x.once.Do(x.index)
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	for k := max(i, 0); k < min(j, len(x.functions)); k++ {
		f := &x.functions[k]
		if f.err {
			if !fn(f.lo, f.hi, nil, 0) {
				return false
			}
			continue
		}
		switch err := w.refine(&f.entry, f.lo, f.hi); {
		case err == ErrNotCovered:
			continue
		case err != nil:
			if !fn(f.lo, f.hi, nil, 0) {
				return false
			}
			continue
		}
		for _, s := range w.out.spans {
			r := &w.out.rows[s.row]
			r.Lo, r.Hi, r.Source = s.lo, s.hi, uint64(f.entry.Offset)
			if !fn(s.lo, s.hi, r, w.out.hash[s.row]) {
				return false
			}
		}
	}
	return true
}

// eachBody is EachRow for the rows of bodies.
func (x *Refiner) eachBody(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	rows := x.t.Rows()
	return x.t.Each(i, j, func(e *Entry, err error) bool {
		if err != nil {
			return fn(e.Lo, e.Hi, nil, 0)
		}
		r, err := rows.Row(e)
		switch {
		case err == nil:
			return fn(e.Lo, e.Hi, &r.Row, r.Hash)
		case quiet(err) == ErrNotCovered:
			return true
		}
		return fn(e.Lo, e.Hi, nil, 0)
	})
}

// How tells how the rows of a function were found.
type How uint8

const (
	NotRefined How = iota // there is no row, or none was made
	Confirmed             // the instructions agree with the table
	BodyOnly              // they could not be read, or disagree: the body's row applies everywhere
	CodeOnly              // the table has no row; the rows are from the instructions, from the start to each return
)

func (h How) String() string {
	return [...]string{"not refined", "confirmed by the code", "the body's row only", "by the code only"}[h]
}

// How reports how the rows of the function at pc were found.
func (x *Refiner) How(pc uint64) How {
	var e Entry
	if x.t.Find(pc, &e) != nil || x.Unrefined {
		return NotRefined
	}
	f, err := x.function(&e, pc)
	if err != nil {
		return NotRefined
	}
	return f.how
}

// refined holds the rows of a function.
type refined struct {
	lo, hi uint64
	how    How
	spans  []span
	rows   []row.Row
	hash   []uint64 // of rows
	insns  int
}

// span is a range of addresses with one row.
type span struct {
	lo, hi uint64
	row    int32
}

func (f *refined) clone() *refined {
	c := &refined{lo: f.lo, hi: f.hi, how: f.how, insns: f.insns}
	c.spans = append(c.spans, f.spans...)
	c.hash = append(c.hash, f.hash...)
	c.rows = make([]row.Row, len(f.rows))
	for i := range f.rows {
		c.rows[i].CopyFrom(&f.rows[i])
	}
	return c
}

// maxText is the number of bytes of a function that are read; the rest has the body's row.
const maxText = flow.MaxText

// Function returns function i in the order of EachRow: its range, and the entry to which it
// belongs. An untrusted entry has an error.
func (x *Refiner) Function(i int) (lo, hi uint64, e Entry, err error) {
	x.once.Do(x.index)
	f := &x.functions[i]
	if f.err {
		var found Entry
		if err = x.t.Find(f.lo, &found); err == nil {
			err = ErrNotCovered
		}
	}
	return f.lo, f.hi, f.entry, err
}
