package symbols

import (
	"strings"

	"dbg/dwarf"
	"dbg/image"
	"dbg/image/gopclntab"
	"dbg/symbols/debugfiles"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/names"
	"dbg/symbols/symtab"
	"dbg/symbols/types"
	"dbg/symbols/unitindex"
)

// Options tell how debug information is found.
type Options struct {
	DebugDirs []string // folders of separate debug files; nil: image.DefaultDebugDirs
	// Fetcher gets files that are not on this machine; nil: none are fetched. Arrived is called,
	// from another goroutine, when a file that was being fetched has come or cannot be had: Reload
	// takes note of it.
	Fetcher image.Fetcher
	Arrived func()
	// IndexDir is the folder of saved indexes of names, see SaveIndex; "" if none are used.
	IndexDir string
	// Progress is told, from any goroutine, how far an index is while a question waits for it; may
	// be nil.
	Progress func(names.Progress)
	// Cancelled reports, from any goroutine, whether the current question is no longer wanted; may
	// be nil. Work over all debug information then ends early, and its answer is worthless: see
	// Forget.
	Cancelled func() bool
}

// Module is the symbols of one file.
type Module struct {
	file  *image.File
	opt   Options
	files *debugfiles.Files

	index   unitindex.Index
	unitsAt map[image.Addr]*unit // first answers of unitAt
	units   map[*dwarf.Unit]*unit
	scopes  *entry.Scopes
	spans   []funcSpan // room to scan a unit in

	table        *symtab.Table // see symbols; nil until it is needed
	tableFetched bool          // table was made after a debug file was fetched

	goFuncs *gopclntab.Table // see goTable
	goTried bool

	names   *names.Lookup
	known   knownNames
	retired []*names.Lookup // from before a Reload: strings that they gave out are still in use
	types   *types.Reader
}

// Load makes the module of a file. Nothing is read yet.
func Load(f *image.File, opt Options) *Module {
	m := &Module{}
	m.begin(debugfiles.New(f, debugfiles.Options{Dirs: opt.DebugDirs, Fetcher: opt.Fetcher, Arrived: opt.Arrived}), opt)
	return m
}

// begin makes m a module of which nothing has been asked yet.
func (m *Module) begin(files *debugfiles.Files, opt Options) {
	retired := m.retired
	if m.names != nil {
		retired = append(retired, m.names)
	}
	*m = Module{file: files.File(), opt: opt, files: files, units: map[*dwarf.Unit]*unit{}, scopes: &entry.Scopes{}, retired: retired}
	m.names = names.New(files, names.Options{Dir: opt.IndexDir, Progress: opt.Progress, Cancelled: opt.Cancelled, Built: m.saveBuilt})
	m.types = types.NewReader(m.file, m.scopes, finder{m})
}

// Close closes the files that belong to the module. The image.File that it was loaded from is the
// caller's to close.
func (m *Module) Close() error {
	for _, l := range append(m.retired, m.names) {
		l.Close()
	}
	return m.files.Close()
}

// Reload asks again for files that were being fetched, and reports whether any were. If so, the
// module is as it was when it was loaded, and earlier answers may no longer be right; but strings,
// types and functions that it gave out stay valid until Close.
func (m *Module) Reload() bool {
	if !m.files.Reload() {
		return false
	}
	m.begin(m.files, m.opt)
	return true
}

// dwarf returns the debug information, nil if there is none. A file that is not on this machine is
// asked for.
func (m *Module) dwarf() *dwarf.Data { return m.files.Data() }

// DebugFile returns the separate debug file, nil if there is none on this machine. It fetches
// nothing.
func (m *Module) DebugFile() *image.File { return m.files.DebugFile() }

// HasDebugInfo reports whether there is DWARF for the file. A file that is not on this machine is
// asked for.
func (m *Module) HasDebugInfo() bool { return m.dwarf() != nil }

// DebugInfoHere reports whether there is DWARF now. It fetches nothing.
func (m *Module) DebugInfoHere() bool { return m.files.Here() }

// Origin tells where the debug information is from, or why there is none and what was tried; also
// which parts of it are elsewhere, missing or damaged. It fetches nothing.
func (m *Module) Origin() string { return m.files.Origin(m.names.Err()) }

// File returns the file that the module was made of.
func (m *Module) File() *image.File { return m.file }

// unit returns what this package knows of a unit; of a skeleton unit, what it
// knows of the full one.
func (m *Module) unit(du *dwarf.Unit) *unit {
	du = du.Full()
	u := m.units[du]
	if u == nil {
		producer := du.Root().Producer
		u = &unit{m: m, dw: du, lang: lang.Of(du)}
		u.gcc = strings.HasPrefix(producer, "GNU ") && !strings.HasPrefix(producer, "GNU AS")
		m.units[du] = u
	}
	return u
}

// cancelled reports whether the current question was cancelled.
func (m *Module) cancelled() bool { return m.opt.Cancelled != nil && m.opt.Cancelled() }
