package frames

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"dbg/cfi"
	"dbg/row"
)

// compileChunk is how many entries a worker takes at a time.
const compileChunk = 512

// compile makes the table of all rows, once. Entries go to as many workers as there are processors.
func (s *source) compile() {
	s.once.Do(func() {
		var list []cfi.FDE
		for f, err := range s.cfi.FDEs() {
			if err == nil && f.Lo < f.Hi {
				list = append(list, f)
			}
		}
		slices.SortStableFunc(list, func(a, b cfi.FDE) int { return cmp.Compare(a.Lo, b.Lo) })
		chunks := make([]*row.Builder, (len(list)+compileChunk-1)/compileChunk)
		next := make(chan int, len(chunks))
		for i := range chunks {
			next <- i
		}
		close(next)
		var wg sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), len(chunks)) {
			wg.Go(func() {
				for i := range next {
					chunks[i] = s.compilePart(list[i*compileChunk : min(len(list), (i+1)*compileChunk)])
				}
			})
		}
		wg.Wait()
		if t := row.Join(s.arch, chunks, s.preserved); t != nil {
			s.compiled.Store(t)
		}
	})
}

func (s *source) compilePart(list []cfi.FDE) *row.Builder {
	b := &row.Builder{}
	for i := range list {
		end := list[i].Lo
		for r, err := range s.cfi.Rows(list[i]) {
			if err != nil {
				break
			}
			b.Add(r.Lo, r.Hi, r, row.HashRow(r))
			end = r.Hi
		}
		b.Ask(end, list[i].Hi)
	}
	return b
}
