package session

import (
	"sync"

	"dbg/image"
	"dbg/image/debuginfod"
	"dbg/symbols"
)

// Fetching reports the progress of a download of debug information: at its start, several times a
// second, and at its end.
type Fetching struct {
	debuginfod.Progress
	Path string // the module's path; "" if the download is for another debug file
}

// DebugInfoArrived reports that debug information for a module has arrived after the module was
// loaded. Earlier answers about the module may have been incomplete.
type DebugInfoArrived struct{ Module *Module }

func (Fetching) isEvent()         {}
func (DebugInfoArrived) isEvent() {}

// fetcher gets debug information for the session. Its client is nil if that is disabled.
type fetcher struct {
	client *debuginfod.Client
	names  sync.Map // names of files, by build id
}

func (s *Session) newFetcher() {
	s.fetcher = &fetcher{}
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

// loadSymbols loads the symbols of a file. name is the file's name for progress reports.
func (s *Session) loadSymbols(f *image.File, name string, dirs []string) *symbols.Module {
	opt := symbols.Options{DebugDirs: dirs, IndexDir: s.cfg.IndexDir, Progress: s.cfg.Indexing, Cancelled: s.group.cutShort}
	if s.fetcher.client == nil {
		return symbols.Load(f, opt)
	}
	var m *symbols.Module
	opt.Fetcher = s.fetcher.client
	opt.Arrived = func() { s.decideNext(func() { s.debugInfoArrived(m) }) } // not after Close
	if id := f.BuildID(); id != "" {
		s.fetcher.names.LoadOrStore(id, name)
	}
	m = symbols.Load(f, opt)
	return m
}

// debugInfoArrived handles the end of a download, successful or not.
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

// selectedCFA returns the CFA of the selected frame, if that is not the innermost frame. With it,
// the frame can be found again when the inlined calls have changed.
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

// selectCFA selects the function with a CFA, not one of its inlined calls, or the innermost frame
// if there is none.
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
