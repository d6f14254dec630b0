package module

import (
	"runtime"
	"slices"

	"dbg/cfi"
	"dbg/internal/fault"
	"dbg/row"
	"dbg/row/compiled"
)

// minEntriesPerWorker is the minimum number of entries for one goroutine.
const minEntriesPerWorker = 2048

// compile builds the table of all rows, once. One worker for each processor takes part of the
// entries.
func (s *Source) compile() {
	s.once.Do(func() {
		parts, ok := s.compileParts()
		if !ok { // the section's header was wrong, and is not used again
			parts, ok = s.compileParts()
		}
		if !ok {
			return
		}
		if t := compiled.Join(s.arch, parts, s.preserved); t != nil {
			s.compiled.Store(t)
		}
	})
}

// batcher is a table that can return the rows of whole entries.
type batcher interface {
	Batches() int
	EachBatch(c *cfi.Compiler, i, j int, batch func(*compiled.Batch), fn cfi.RowFunc) bool
}

// compileParts decodes all entries. It returns false if the caller must call it again.
func (s *Source) compileParts() (parts []*compiled.Builder, ok bool) {
	n := 0
	if t, is := s.table.(batcher); is {
		n = t.Batches()
	} else {
		n = s.Entries()
	}
	parts = make([]*compiled.Builder, max(1, min(runtime.GOMAXPROCS(0), n/minEntriesPerWorker)))
	good := make([]bool, len(parts))
	var wg fault.Group
	for i := range parts {
		wg.Go(func() { parts[i], good[i] = s.compilePart(i*n/len(parts), (i+1)*n/len(parts), s.size/5/len(parts)) })
	}
	wg.Wait()
	return parts, !slices.Contains(good, false)
}

// compilePart decodes a range of entries; rows is the estimated number of rows. It returns false if
// the result is unusable.
func (s *Source) compilePart(from, to, rows int) (b *compiled.Builder, ok bool) {
	b = s.compiler.NewBuilder(rows)
	add := func(lo, hi uint64, r *row.Row, hash uint64) bool {
		if r == nil {
			b.AskDecoder(lo, hi)
		} else {
			b.Add(lo, hi, r, hash)
		}
		return true
	}
	if t, is := s.table.(batcher); is {
		return b, t.EachBatch(s.compiler, from, to, b.AddBatch, add)
	}
	return b, s.EachRow(from, to, add)
}
