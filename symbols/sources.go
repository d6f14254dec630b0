package symbols

import (
	"errors"
	"fmt"
	"strings"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/spelling"
)

// sources are the files beside a module's own that its symbols are from.
type sources struct {
	debug   *image.File // the separate debug file, nil if there is none
	mini    *image.File // in .gnu_debugdata, nil if there is none
	alt     *image.File // what debug or the file refers to by .gnu_debugaltlink
	altData *dwarf.Data
	former  []*image.File

	looked   bool // the file itself and the directories have been looked at
	asked    bool // the fetcher has been asked
	lookedIn bool // for mini
	pending  bool // something is on its way

	origin, fetched, altOrigin, miniOrigin string
}

// DebugFile returns the separate debug file, nil if there is none here. Nothing is
// fetched for it.
func (m *Module) DebugFile() *image.File {
	m.look()
	return m.debug
}

// HasDebugInfo reports whether there is DWARF for the file. What is not here is asked for.
func (m *Module) HasDebugInfo() bool { return m.dwarf() != nil }

// DebugInfoHere reports whether there is DWARF now. Nothing is fetched for it.
func (m *Module) DebugInfoHere() bool {
	m.look()
	return m.data != nil
}

// Origin says where the debug information is from, or why there is none and what was
// tried; also which parts of it are elsewhere, missing or damaged. Nothing is fetched for it.
func (m *Module) Origin() string {
	m.look()
	if m.data != nil {
		m.data.UnitAt(0) // a section that can't be inflated says so then
	}
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	add(m.origin)
	add(m.fetched)
	if m.data == nil {
		switch {
		case m.opt.Fetcher == nil:
			add("debuginfod is off")
		case !m.asked && m.fetchable():
			add("debuginfod has not been asked yet")
		}
		if m.miniOrigin == "" && !m.lookedIn && m.file.HasSection(miniSection) && !m.symtab().HasSymtab() {
			add("symbols are in " + miniSection)
		}
		add(m.miniOrigin)
		return strings.Join(out, "; ")
	}
	add(m.splits.String())
	add(m.altOrigin)
	if m.accelErr != nil {
		add(m.accelErr.Error())
	}
	for _, f := range append([]*image.File{m.file, m.debug, m.alt}, m.splits.files...) {
		for _, err := range f.Trouble() {
			add(err.Error())
		}
	}
	for _, d := range append([]*dwarf.Data{m.data, m.altData}, m.splits.all...) {
		for _, err := range d.Trouble() {
			add(err.Error())
		}
	}
	return strings.Join(out, "; ")
}

// Close closes the files that belong to the module. The image.File that it was
// loaded from is its owner's to close.
func (m *Module) Close() error {
	m.looked, m.asked, m.lookedIn, m.pending, m.data = true, true, true, false, nil
	m.splits.close()
	m.mapped.Close()
	err := m.debug.Close()
	for _, f := range append(m.former, m.alt, m.mini) {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	m.debug, m.alt, m.mini, m.former = nil, nil, nil, nil
	return err
}

// Reload asks again for files that were on their way, and reports whether anything was. If so the
// module is as it was when it was loaded, and what it said before may be no longer so; but what it gave out stays
// valid until Close.
func (m *Module) Reload() bool {
	if !m.pending {
		return false
	}
	fresh := Load(m.file, m.opt)
	fresh.former = append(m.former, m.debug, m.alt, m.mini)
	fresh.former = append(fresh.former, m.splits.files...)
	*m = *fresh
	return true
}

// dwarf returns the debug information, nil if there is none. What is not here is asked
// for.
func (m *Module) dwarf() *dwarf.Data {
	if m.data == nil && !m.asked {
		m.look()
		m.fetch()
	}
	return m.data
}

// look looks for the debug information in the file and in the directories.
func (m *Module) look() {
	if m.looked {
		return
	}
	m.looked = true
	if m.file.HasDebugInfo() {
		m.origin = "the file has debug information"
		m.open(m.file)
		return
	}
	debug, origin, err := m.file.DebugFile(m.opt.DebugDirs)
	m.debug, m.origin = debug, origin
	if err != nil {
		m.origin += ": " + err.Error()
	}
	switch {
	case debug == nil:
	case debug.HasDebugInfo():
		m.open(debug)
	default:
		m.origin += ", which has no debug information"
	}
}

// fetchable reports whether the file can be named to a fetcher.
func (m *Module) fetchable() bool {
	return m.file.Format() == image.ELF && len(m.file.BuildID()) > 2
}

// fetch asks the fetcher for the debug information, once.
func (m *Module) fetch() {
	if m.asked || m.data != nil {
		return
	}
	m.asked = true
	if m.opt.Fetcher == nil || !m.fetchable() {
		return
	}
	f, why := m.fetchID(m.file.BuildID())
	m.fetched = why
	switch {
	case f == nil:
	case !f.HasDebugInfo():
		m.fetched = f.Path() + " has no debug information"
		f.Close()
	default:
		if m.debug != nil {
			m.former = append(m.former, m.debug)
		}
		m.debug, m.origin, m.fetched = f, why, ""
		m.elf = &elfSymbols{} // it may have a better symbol table; who has the old one goes on with that
		m.open(f)
	}
}

// fetchID gets the debug file with a build id; the string says where it is, or why it is
// not here.
func (m *Module) fetchID(id string) (*image.File, string) {
	path, err := m.opt.Fetcher.Fetch(image.FetchDebug, id, m.opt.Arrived)
	if errors.Is(err, image.ErrFetching) {
		m.pending = true
		return nil, "debuginfod: the file with build id " + id + " is " + err.Error()
	}
	if err != nil {
		return nil, err.Error()
	}
	f, err := image.OpenAsBuildID(path, id)
	if err == nil {
		if err = sameKind(m.file, f); err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, "debuginfod: " + err.Error()
	}
	return f, "debuginfod: " + path
}

// open reads the debug information of f, which is the module's file or belongs to it.
func (m *Module) open(f *image.File) {
	m.data = dwarf.New(f, f.BigEndian())
	m.data.Split = func(u *dwarf.Unit) *dwarf.Unit { return m.split(f, u) }
	m.data.Alt = func() *dwarf.Data { return m.openAlt(f) }
}

// openAlt opens the file that dwz has put parts of f into.
func (m *Module) openAlt(f *image.File) *dwarf.Data {
	alt, why, err := f.AltFile(m.opt.DebugDirs)
	if err != nil {
		why += ": " + err.Error()
	}
	if id := f.AltID(); alt == nil && m.opt.Fetcher != nil && len(id) > 2 {
		var how string
		alt, how = m.fetchID(id)
		if alt != nil {
			why = ""
		} else {
			why += "; "
		}
		why += how
	}
	m.altOrigin = why
	if alt == nil {
		return nil
	}
	m.alt, m.altOrigin = alt, "supplementary: "+why
	m.altData = dwarf.New(alt, alt.BigEndian())
	return m.altData
}

// symtab returns the file with the better symbol table: .symtab, of the
// separate debug file if it is not in the file itself, else .dynsym.
func (m *Module) symtab() *image.File {
	if !m.file.HasSymtab() {
		m.look()
		if m.debug != nil && m.debug.HasSymtab() {
			return m.debug
		}
	}
	return m.file
}

// symbolTable returns the symbols of symtab, and with them those of .gnu_debugdata where
// there is no .symtab.
func (m *Module) symbolTable() (*image.SymbolTable, []image.Section) {
	f := m.symtab()
	if f == m.file && !f.HasSymtab() {
		if mini := m.miniDebug(); mini != nil {
			return f.SymbolTableWith(mini), f.Sections()
		}
	}
	return f.SymbolTable(), f.Sections()
}

const miniSection = ".gnu_debugdata"

// OwnLinkageAddr is LinkageAddr in the symbol tables of the file itself: nothing else is opened for it.
func (m *Module) OwnLinkageAddr(name string) (image.Addr, bool) {
	t := m.file.SymbolTable()
	for i := range t.Mentioning(name) {
		if e, ok := t.Entry(i); ok && e.Kind != image.TLS && spelling.WithoutVersion(string(t.Name(i))) == name {
			return e.Addr, true
		}
	}
	return 0, false
}

// miniDebug opens .gnu_debugdata, on the first call.
func (m *Module) miniDebug() *image.File {
	if m.lookedIn {
		return m.mini
	}
	m.lookedIn = true
	mini, err := m.file.MiniDebug()
	switch {
	case err != nil:
		m.miniOrigin = err.Error()
	case mini != nil:
		m.mini = mini
		m.miniOrigin = fmt.Sprintf("symbols of .gnu_debugdata (%d)", len(mini.Symbols()))
	}
	return m.mini
}
