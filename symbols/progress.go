package symbols

import "sync"

// Progress is how far an index of names is that is being made: once when it begins, then for each hundredth, and when it ends. Each is told
// after the one before.
type Progress struct {
	Path        string // of the file with the debug information
	Done, Total uint64 // bytes of it
	End         bool
}

// progress tells of one index.
type progress struct {
	fn func(Progress)

	mu   sync.Mutex // of now and said: workers add at once
	now  Progress
	said uint64 // hundredths
}

func (m *Module) newProgress(total uint64) *progress {
	p := &progress{fn: m.opt.Progress}
	p.now.Total = total
	p.now.Path = m.files.InfoFile().Path()
	p.say()
	return p
}

func (p *progress) say() {
	if p.fn != nil {
		p.fn(p.now)
	}
}

// add says that so much more has been gone over.
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
