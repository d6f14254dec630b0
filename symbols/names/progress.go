package names

import "sync"

// Progress tells how far an index is that is being built. There is one when the work begins, one
// for each hundredth, and one when it ends, in this order and one at a time.
type Progress struct {
	Path        string // of the file with the debug information
	Done, Total uint64 // bytes of it
	End         bool
}

// progress reports on one index.
type progress struct {
	fn func(Progress)

	mu   sync.Mutex // guards now and said: workers add concurrently
	now  Progress
	said uint64 // hundredths
}

func (l *Lookup) newProgress(total uint64) *progress {
	p := &progress{fn: l.opt.Progress}
	p.now.Total = total
	p.now.Path = l.source.InfoFile().Path()
	p.say()
	return p
}

func (p *progress) say() {
	if p.fn != nil {
		p.fn(p.now)
	}
}

// add counts n more bytes as done.
func (p *progress) add(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Done = min(p.now.Done+n, p.now.Total)
	if part := p.now.Done / max(1, p.now.Total/100); part > p.said {
		p.said = part
		p.say()
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Done, p.now.End = p.now.Total, true
	p.say()
}
