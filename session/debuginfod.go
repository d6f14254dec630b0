package session

import (
	"sync"

	"dbg/image"
	"dbg/image/debuginfod"
	"dbg/symbols"
)

// Fetching says how a download of debug information stands: when it begins, several times a
// second, and when it ends.
type Fetching struct {
	debuginfod.Progress
	Path string // of the module that it is for; "" if it is for another debug file
}

// DebugInfoArrived says that debug information of a module has come after the module was
// loaded: what was shown of it before may have been less than is known now.
type DebugInfoArrived struct{ Module *Module }

func (Fetching) isEvent()         {}
func (DebugInfoArrived) isEvent() {}

// fetcher gets debug information for the session; it has no client if that is off.
type fetcher struct {
	client *debuginfod.Client
	names  sync.Map // of files, by build id
}

func (s *Session) newFetcher() {
	cfg := s.cfg.Debuginfod
	also := cfg.Progress
	cfg.Progress = func(p debuginfod.Progress) {
		path, _ := s.fetcher.names.Load(p.BuildID)
		name, _ := path.(string)
		s.publish(Fetching{p, name})
		if also != nil {
			also(p)
		}
	}
	s.fetcher.client = debuginfod.New(cfg)
}

// loadSymbols makes the symbols of a file. name is what the file is called.
func (s *Session) loadSymbols(f *image.File, name string, dirs []string) *symbols.Module {
	opt := symbols.Options{DebugDirs: dirs, IndexDir: s.cfg.IndexDir, Progress: s.cfg.Indexing, Cancelled: s.cutShort}
	if s.fetcher.client == nil {
		return symbols.Load(f, opt)
	}
	var m *symbols.Module
	opt.Fetcher = s.fetcher.client
	opt.Arrived = func() { s.decideNext(func() { s.debugInfoArrived(m) }) } // unless the session is closed
	if id := f.BuildID(); id != "" {
		s.fetcher.names.LoadOrStore(id, name)
	}
	m = symbols.Load(f, opt)
	return m
}

// debugInfoArrived takes note of a file that was being fetched and has come, or can't be
// had.
func (s *Session) debugInfoArrived(sym *symbols.Module) {
	if s.files == nil || !sym.Reload() {
		return
	}
	here := sym.HasDebugInfo()
	cfa, kept := s.selectedCFA()
	for _, b := range s.breakpoints.all {
		delete(b.found, sym)
	}
	var changed []*Module
	for _, m := range s.modules.all {
		if m.Symbols == sym {
			m.unwind = s.unwindModule(m, sym)
			changed = append(changed, m)
		}
	}
	s.dropCache()
	if kept {
		s.selectCFA(cfa)
	}
	if !here {
		return
	}
	s.resolveAll()
	for _, m := range changed {
		s.publish(DebugInfoArrived{Module: m})
	}
}

// selectedCFA names the selected frame, if it is not the innermost, so that it can be
// found when there are other inlined calls.
func (s *Session) selectedCFA() (cfa uint64, ok bool) {
	if s.level == 0 || s.needStopped() != nil {
		return 0, false
	}
	f, err := s.frame(s.selected, s.level)
	if err != nil || f.Machine == nil {
		return 0, false
	}
	return uint64(f.Machine.CFA), true
}

// selectCFA selects the function proper with a CFA; the innermost frame if there is none.
func (s *Session) selectCFA(cfa uint64) {
	const most = 10_000
	for n := range most {
		f, err := s.frame(s.selected, n)
		if err != nil {
			break
		}
		if f.Machine != nil && uint64(f.Machine.CFA) == cfa && !f.Inlined {
			s.level = n
			return
		}
	}
	s.level = 0
}
