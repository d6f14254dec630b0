package frames

import (
	"runtime"
	"sync"

	"dbg/cfi"
	"dbg/row"
)

// compileLeast is how many entries are worth a goroutine.
const compileLeast = 2048

// compile makes the table of all rows, once. As many workers as there are processors share the entries.
func (s *source) compile() {
	s.once.Do(func() {
		n := s.Entries()
		parts := make([]*row.Builder, max(1, min(runtime.GOMAXPROCS(0), n/compileLeast)))
		var wg sync.WaitGroup
		for i := range parts {
			wg.Go(func() { parts[i] = s.compilePart(i*n/len(parts), (i+1)*n/len(parts), s.size/5/len(parts)) })
		}
		wg.Wait()
		if t := row.Join(s.arch, parts, s.preserved); t != nil {
			s.compiled.Store(t)
		}
	})
}

// compilePart decodes a range of entries; rows is about how many they will be.
func (s *source) compilePart(from, to, rows int) *row.Builder {
	b := row.NewBuilder(rows)
	add := func(lo, hi uint64, r *row.Row, hash uint64) bool {
		if r == nil {
			b.Ask(lo, hi)
		} else {
			b.Add(lo, hi, r, hash)
		}
		return true
	}
	if t, ok := s.table.(interface {
		EachBatch(i, j int, batch func(*row.Batch), fn cfi.RowFunc)
	}); ok {
		t.EachBatch(from, to, b.AddBatch, add)
	} else {
		s.EachRow(from, to, add)
	}
	return b
}
